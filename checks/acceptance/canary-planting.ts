/** Plants secrets of every kind as users would, and then exercises the platform, errors included. */
import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { GitServer } from '@roost/test-support/git/index'
import type { MailServer } from '@roost/test-support/mail/index'
import { generateSync } from 'otplib'
import { openLive } from './live.ts'
import { adminPassword, eventually, type Loose, type Platform } from './platform.ts'
import { agentKeyOf, answerOf, createAgent } from './steps.ts'

export const mailPassword = `canary-smtp-${randomUUID()}`
/** In the agent's `.env`, so also in the environment of its runs. */
export const credential = 'credential of the agent'
/** In the environment of runs of the owner and of a visitor. */
export const runKeys = ["key of the owner's run", "key of a visitor's run"]

export type Planting = {
  /** Name of each secret → its text. */
  planted: ReadonlyMap<string, string>
  /** Every response that does not create a secret, and every live event. */
  answers: readonly Answer[]
}
type Answer = { to: string; text: string }

type PlantingInput = {
  mail: MailServer
  /** The platform's git host. */
  git: GitServer
  /** Name of the agent to create. */
  agent: string
  providerKeys: Record<string, string>
}

export async function plantEverywhere(
  platform: Platform,
  { mail, git, agent, providerKeys }: PlantingInput,
): Promise<Planting> {
  const planted = new Map<string, string>()
  const answers: Answer[] = []
  const open = { token: null }
  const email = 'canary@example.com'

  async function ask(method: string, path: string, body?: unknown, options = {}): Promise<Loose> {
    const reply = await platform.request(method, path, body, options)
    answers.push({ to: `${method} ${path}`, text: reply.text })
    return reply
  }

  /** Creates secrets that the response shows once, and records them under these names. */
  async function mint(path: string, body: unknown, fields: Record<string, string>, options = {}) {
    const reply = await platform.request('POST', path, body, options)
    assert.ok(reply.status < 300, `${path}: ${reply.text}`)
    for (const [field, name] of Object.entries(fields)) {
      const value = reply.json[field]
      const texts: string[] = Array.isArray(value) ? value : [value]
      for (const [index, text] of texts.entries()) {
        // Line ends differ, so the last one of the longest lines is searched. The first one of a key is that of any key.
        const [longest = ''] = text
          .split('\n')
          .reverse()
          .sort((one, other) => other.length - one.length)
        planted.set(texts.length > 1 ? `${name} ${index}` : name, longest)
      }
    }
    return reply.json
  }

  for (const [name, text] of Object.entries(providerKeys)) planted.set(name, text)
  planted.set('password of the admin', adminPassword)
  planted.set('password of the mail server', mailPassword)
  planted.set('session of the admin', platform.token)

  async function plantKeys(): Promise<string> {
    const template = 'name: helper\ndisplay_name: Helper\ndescription: Made for this check\n'
    await git.commit('acme/helper', { 'template.yaml': template })
    await git.git('acme/helper', 'config', 'http.receivepack', 'true')
    const person = 'ghp_canaryGitToken0123456789abcdefABCDEF'
    planted.set('git token of a person', person)
    // First, because only a token that can write makes the agent's repository writable from the start.
    assert.equal((await ask('PUT', '/api/users/me/github-pat', { pat: person })).status, 200)
    await createAgent(platform, agent, { template: 'github:acme/helper' })
    planted.set('key of the agent', await agentKeyOf(agent))
    const { key } = await mint('/api/mcp/keys', { name: 'user' }, { key: 'user key' })
    await mint('/api/mcp/keys', { name: 'ops', scope: 'ops' }, { key: 'ops key' })
    await mint(`/api/agents/${agent}/connector/key`, undefined, { key: 'connector key' })
    await mint(`/api/agents/${agent}/ssh-access`, {}, { private_key: 'private SSH key' })
    const { ticket } = await mint('/api/ws/ticket', undefined, { ticket: 'socket ticket' })
    for (const path of [`/ws?ticket=${ticket}`, `/ws/events?token=${key}`]) {
      const live = openLive(platform, path)
      const { push } = live.messages
      live.messages.push = (...messages) => {
        answers.push(...messages.map((message) => ({ to: 'a socket', text: JSON.stringify(message) })))
        return push.apply(live.messages, messages)
      }
      await live.next('connected')
    }
    return key
  }

  /** Stores secrets in the platform. */
  async function storeSecrets(): Promise<void> {
    const store = async (name: string, text: string, path: string, body: object, method = 'PUT') => {
      planted.set(name, text)
      return ask(method, path, body)
    }
    const stored = 'sk-ant-canary-stored-8842aa'
    await store('stored provider key', stored, '/api/settings/api-keys/voice', { api_key: stored })
    const own = 'ghp_canaryAgentToken0123456789abcdefABCD'
    const put = await store('git token of the agent', own, `/api/agents/${agent}/github-pat`, { pat: own })
    assert.equal(put.status, 200, put.text)
    const value = 'canary-credential-77ab10'
    const files = { '.env': `CRM_TOKEN=${value}\n` }
    const path = `/api/agents/${agent}/credentials`
    assert.equal((await store(credential, value, `${path}/inject`, { files }, 'POST')).status, 200)
    assert.equal((await ask('POST', `${path}/export`)).status, 200)
    await ask('POST', `${path}/inject`, { files: { '.bashrc': value } })
    await ask('POST', `${path}/inject`, { files: { '.mcp.json': `{"${value}":` } })
  }

  /** Secrets of the scheduled backups, and a backup that fails and says why. */
  async function plantBackups(): Promise<void> {
    const [passphrase, key, line] = [
      'canary backup passphrase 5521',
      'canary-s3-secret-key-90ab17',
      'canarySshKeyOfBackups0123456789abcdefABCDEF0',
    ]
    planted.set('passphrase of the backups', passphrase)
    planted.set('S3 key of the backups', key)
    planted.set('SSH key of the backups', line)
    const put = await ask('PUT', '/api/settings/backup', {
      repository: `sftp:canary@127.0.0.1:1/${agent}`,
      passphrase,
      s3: { access_key_id: 'AKIDCANARY', secret_access_key: key },
      sftp: {
        private_key: `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----`,
        known_hosts: '127.0.0.1 ssh-ed25519 AAAA',
      },
    })
    assert.equal(put.status, 200, put.text)
    await ask('PUT', '/api/settings/backup', { passphrase, repository: passphrase })
    await ask('PUT', '/api/settings/backup', { sftp: { private_key: line, known_hosts: key } })
    const started = await ask('POST', '/api/settings/backup/run')
    assert.equal(started.status, 202, started.text)
    const ended = await eventually(
      () => ask('GET', '/api/settings/backup'),
      ({ json }) => json.last_backup !== null && !json.running,
    )
    assert.match(ended.json.last_backup.reason, /sftp:canary@127\.0\.0\.1:1/)
  }

  /** Pushes the work of its runs to the git host, with the agent's own token. */
  async function sync(): Promise<void> {
    const synced = await eventually(
      () => ask('POST', `/api/agents/${agent}/git/sync`, { message: 'work' }),
      ({ status }) => status === 200,
    )
    assert.equal(synced.status, 200)
    const sent = git.requests.map(({ authorization }) => authorization ?? '').join('\n')
    const ofAgent = Buffer.from(`x-access-token:${planted.get('git token of the agent')}`).toString('base64')
    assert.ok(sent.includes(ofAgent), 'the host got the token')
    planted.set('git token as it is sent', ofAgent)
  }

  /**
   * Keys of runs, and files in a home and in the platform's folder. Turns print them reversed, because the platform
   * hides keys; others then search for them.
   */
  async function plantRuns(): Promise<void> {
    const reversed = async (names: string[], reply: Loose) => {
      assert.equal(reply.status, 200, reply.text)
      const texts = [...reply.json.response.matchAll(/<(\S{20,})>/g)].map(([, text]) => text)
      assert.equal(texts.length, names.length, reply.text)
      for (const [index, name] of names.entries()) planted.set(name, [...texts[index]].reverse().join(''))
    }
    const makeSecret = (path: string) =>
      `od -An -N16 -tx1 /dev/urandom | tr -d ' \\n' > ${path}; echo "<$(rev ${path})>"`
    const script = (path: string) =>
      `[[tool:Bash:echo "<$(printenv ROOST_MCP_KEY | rev)>"; ${makeSecret(path)}]]`
    const [ownKey = '', visitorsKey = ''] = runKeys
    const asOwner = (message: string) =>
      platform.request(
        'POST',
        `/api/agents/${agent}/chat`,
        { message },
        { headers: { accept: 'application/json' } },
      )
    await reversed([ownKey, "file in the platform's folder"], await asOwner(script('~/.roost/note')))
    const { json: link } = await platform.request('POST', `/api/agents/${agent}/public-links`, {})
    planted.set('token of a public link', link.token)
    const asVisitor = (message: string) =>
      platform.request('POST', `/api/public/chat/${link.token}`, { message }, open)
    await reversed([visitorsKey, 'file in the home of a visitor'], await asVisitor(script('~/note')))
    const search = `[[tool:Bash:cat /var/lib/roost/homes/*/note; for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $f; done | grep svc_mcp_; echo searched]]`
    for (const [to, send] of Object.entries({
      'a turn of the owner': asOwner,
      'another visitor': asVisitor,
    })) {
      const { text } = await send(search)
      assert.match(text, /searched/)
      answers.push({ to, text })
    }
    for (const path of ['.roost/note', '.roost', '/home/developer', '/var/lib/roost/homes', '.tmp']) {
      const query = `path=${encodeURIComponent(path)}`
      await ask('GET', `/api/agents/${agent}/files?${query}&depth=10&show_hidden=true`)
      for (const way of ['preview', 'download']) {
        const url = `${platform.url}/api/agents/${agent}/files/${way}?${query}`
        const reply = await fetch(url, { headers: { authorization: `Bearer ${platform.token}` } })
        const bytes = Buffer.from(await reply.arrayBuffer())
        const isArchive = bytes[0] === 0x1f && bytes[1] === 0x8b
        if (path === '/home/developer' && way === 'download') assert.ok(isArchive, reply.statusText)
        // The workspace's own credentials are in the owner's archive.
        const text = (isArchive ? gunzipSync(bytes) : bytes).toString('latin1')
        answers.push({ to: `${way} ${path}`, text: text.replaceAll(planted.get(credential) ?? '', '') })
      }
    }
  }

  /** A run that prints its secrets, and a client that reads its stream. */
  async function printSecrets(): Promise<void> {
    const message = '[[tool:Bash:echo "it is $CRM_TOKEN"; env; cat ~/.env]]'
    let pieces = ''
    for await (const event of platform.stream(`/api/agents/${agent}/chat`, { message })) {
      answers.push({ to: 'a chat', text: JSON.stringify(event) })
      if (event.type === 'partial') pieces += event.text
    }
    assert.match(pieces, /it is \[secret\]/)
    answers.push({ to: 'a chat, piece by piece', text: pieces })
  }

  /** A schedule that is fired by its webhook, with valid and invalid signatures. */
  async function plantWebhook(): Promise<void> {
    const body = { name: 'hooked', cron_expression: '* * * * *', message: '[[reply:fired]]' }
    const { json } = await ask('POST', `/api/agents/${agent}/schedules`, body)
    const hook = `/api/agents/${agent}/schedules/${json.id}/webhook`
    const created = await platform.request('POST', hook)
    const path = new URL(created.json.webhook_url).pathname
    planted.set('token of a webhook', path.split('/').at(-1) ?? '')
    const { signing_secret: secret } = await mint(`${hook}/secret`, undefined, {
      signing_secret: 'signing secret of a webhook',
    })
    const event = JSON.stringify({ context: 'all is well' })
    const signature = `sha256=${createHmac('sha256', secret).update(event).digest('hex')}`
    const signed = (text: string) => ({ ...open, headers: { 'x-svc-signature': text } })
    assert.equal((await ask('POST', path, event, signed(signature))).status, 202)
    assert.equal((await ask('POST', path, event, signed(secret))).status, 401)
    await ask('POST', path, event, open)
    await ask('POST', `${path}x`, event, open)
    await ask('GET', path)
  }

  /** Signs in with a second factor: email code, TOTP secret, recovery codes, challenge. */
  async function signInByMail(): Promise<void> {
    await ask('POST', '/api/settings/email-whitelist', { email, default_role: 'creator' })
    const sentCode = async (path: string): Promise<string> => {
      await ask('POST', path, { email }, open)
      const code = /\b\d{6}\b/.exec((await mail.next(email)).text)?.[0] ?? assert.fail('no code in the mail')
      planted.set(`code by mail ${planted.size}`, code)
      return code
    }
    const verify = async (fields: Record<string, string>) => {
      const code = await sentCode('/api/auth/email/request')
      return mint('/api/auth/email/verify', { email, code }, fields, open)
    }
    const { access_token: token } = await verify({ access_token: 'session of a person' })
    const enrolment = '/api/enterprise/2fa/enroll'
    const { secret } = await mint(`${enrolment}/start`, undefined, { secret: 'TOTP secret' }, { token })
    const code = generateSync({ secret })
    await mint(`${enrolment}/confirm`, { code }, { recovery_codes: 'recovery code' }, { token })
    await verify({ challenge_token: 'challenge of a sign-in' })
    await ask('POST', `/api/agents/${agent}/share`, { email })
    const portal = '/api/enterprise/client-portal'
    const fresh = { email, code: await sentCode(`${portal}/auth/request`) }
    await mint(`${portal}/auth/verify`, fresh, { token: 'session in the Workspace' }, open)
    await sentCode('/api/auth/email/request')
  }

  /** Causes errors of every kind with a secret in each input. */
  async function causeErrors(): Promise<void> {
    for (const token of planted.values()) {
      const isHeader = /^[\x21-\x7e]+$/.test(token)
      if (isHeader) await ask('GET', '/api/settings', undefined, { token: `${token}x` })
      await ask('PUT', '/api/settings/api_key', { value: token })
      await ask('POST', '/api/mcp/keys', { name: 7, scope: token })
      await ask('POST', '/api/mcp/keys', `{"name": "${token}`)
      await ask('POST', '/api/enterprise/2fa/login/verify', { challenge_token: token, code: token }, open)
      await ask('GET', `/api/settings?token=${encodeURIComponent(token)}`)
    }
  }

  async function readEverything(): Promise<void> {
    const settings = ['', '/backup', '/api-keys', '/ops/config', '/retention'].map(
      (path) => `/api/settings${path}`,
    )
    const platformWide = ['/api/mcp/keys?all=true', '/api/users', '/api/executions', '/api/tags']
    const ofAgent = ['', '/info', '/logs', '/executions', '/mcp-key', '/connector', '/stats', '/activity']
    const more = ['/credentials/status', '/credential-requirements', '/schedules', '/access', '/files']
    const paths = [...ofAgent, ...more].map((path) => `/api/agents/${agent}${path}`)
    for (const path of [...settings, ...platformWide, '/api/audit-log?limit=1000', ...paths]) {
      assert.equal((await ask('GET', path)).status, 200, path)
    }
    for (const { id } of (await ask('GET', `/api/agents/${agent}/executions`)).json) {
      await ask('GET', `/api/agents/${agent}/executions/${id}`)
      await ask('GET', `/api/agents/${agent}/executions/${id}/log`)
    }
    await ask('POST', `/api/agents/${agent}/mcp-key/verify`)
    await ask('GET', '/api/audit-log/export?format=csv&start_time=2020-01-01&end_time=2100-01-01')
  }

  async function useTools(key: string): Promise<void> {
    const client = new Client({ name: 'canary', version: '1.0.0' })
    const requestInit = { headers: { authorization: `Bearer ${key}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${platform.url}/mcp`), { requestInit }))
    const result = await client.callTool({ name: 'list_agents', arguments: {} })
    answers.push({ to: 'list_agents', text: JSON.stringify(result) })
    await client.close()
  }

  const key = await plantKeys()
  await signInByMail()
  await storeSecrets()
  await plantBackups()
  assert.equal(await answerOf(platform, agent, 'say it [[reply:sung]]'), 'sung')
  await plantRuns()
  await printSecrets()
  await sync()
  await plantWebhook()
  await useTools(key)
  await causeErrors()
  await ask('GET', '/api/settings', undefined, { token: key })
  await readEverything()
  return { planted, answers }
}
