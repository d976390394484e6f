/** Secrets planted everywhere a secret may be, and looked for everywhere one must not be. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { generateSync } from 'otplib'
import { adminPassword, canaries, type Loose, type Platform, startPlatform } from './platform.ts'
import { agentKeyOf, answerOf, createAgent, docker } from './steps.ts'

let platform: Platform
let mail: MailServer
/** What each secret is called → its text. */
const planted = new Map<string, string>()
/** Every answer of the platform that was no answer to the minting of a secret. */
const answers: string[] = []

const agent = 'canary-holder'
const mailPassword = 'canary-smtp-51fe9c'
const storedKey = 'sk-ant-canary-stored-8842aa'
const gitToken = 'ghp_canaryGitToken0123456789abcdefABCDEF'
const email = 'canary@example.com'

before(async () => {
  mail = await startMailServer({ account: { user: 'roost@example.com', password: mailPassword } })
  platform = await startPlatform({ env: { ROOST_MAIL_URL: mail.url } })
  for (const [name, text] of Object.entries(canaries)) planted.set(`provider key of ${name}`, text)
  planted.set('password of the admin', adminPassword)
  planted.set('password of the mail server', mailPassword)
  planted.set('stored provider key', storedKey)
  planted.set('git token', gitToken)
  await runEverything()
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await mail?.close()
})

async function ask(method: string, path: string, body?: unknown, options = {}): Promise<Loose> {
  const reply = await platform.request(method, path, body, options)
  answers.push(`${method} ${path}: ${reply.text}`)
  return reply
}
/** Its answer shows secrets, once; they are planted by these names. */
async function mint(
  path: string,
  body: unknown,
  fields: Record<string, string>,
  options = {},
): Promise<Loose> {
  const reply = await platform.request('POST', path, body, options)
  assert.ok(reply.status < 300, `${path}: ${reply.text}`)
  for (const [field, name] of Object.entries(fields)) {
    const value = reply.json[field]
    const texts: string[] = Array.isArray(value) ? value : [value]
    for (const [index, text] of texts.entries()) {
      // Of a text of many lines, whose ends are written in many ways, the longest stands for all.
      const [longest = ''] = text.split('\n').sort((one, other) => other.length - one.length)
      planted.set(texts.length > 1 ? `${name} ${index}` : name, longest)
    }
  }
  return reply.json
}

async function runEverything(): Promise<void> {
  planted.set('session of the admin', platform.token)
  await createAgent(platform, agent)
  planted.set('key of the agent', await agentKeyOf(agent))
  const { key } = await mint('/api/mcp/keys', { name: 'user' }, { key: 'user key' })
  await mint('/api/mcp/keys', { name: 'ops', scope: 'ops' }, { key: 'ops key' })
  await mint(`/api/agents/${agent}/connector/key`, undefined, { key: 'connector key' })
  await mint('/api/ws/ticket', undefined, { ticket: 'socket ticket' })
  await mint(`/api/agents/${agent}/ssh-access`, {}, { private_key: 'private SSH key' })
  await signInByMail()
  await ask('PUT', '/api/settings/api-keys/voice', { api_key: storedKey })
  await ask('PUT', '/api/users/me/github-pat', { pat: gitToken })

  assert.equal(await answerOf(platform, agent, 'say it [[reply:sung]]'), 'sung')
  // Errors of every kind, with a secret in each place that a caller can fill.
  for (const token of planted.values()) {
    const isHeader = /^[\x21-\x7e]+$/.test(token)
    if (isHeader) await ask('GET', '/api/settings', undefined, { token: `${token}x` })
    await ask('PUT', '/api/settings/api_key', { value: token })
    await ask('POST', '/api/mcp/keys', { name: 7, scope: token })
    await ask(
      'POST',
      '/api/enterprise/2fa/login/verify',
      { challenge_token: token, code: token },
      { token: null },
    )
  }
  await ask('GET', '/api/settings', undefined, { token: key })
  const reads = [
    '/api/settings',
    '/api/settings/api-keys',
    '/api/settings/ops/config',
    '/api/mcp/keys?all=true',
  ]
  const more = ['/api/users', '/api/audit-log?limit=1000', '/api/executions', '/api/settings/retention']
  const ofAgent = ['', '/info', '/logs', '/executions', '/mcp-key', '/connector', '/stats', '/activity']
  const paths = [...reads, ...more, ...ofAgent.map((path) => `/api/agents/${agent}${path}`)]
  for (const path of paths) assert.equal((await ask('GET', path)).status, 200, path)
  await ask('POST', `/api/agents/${agent}/mcp-key/verify`)
  await ask('GET', '/api/audit-log/export?format=csv&start_time=2020-01-01&end_time=2100-01-01')
}

/** Somebody with a second factor: a code by mail, a secret in an app, codes on paper, a challenge. */
async function signInByMail(): Promise<void> {
  const open = { token: null }
  await ask('POST', '/api/settings/email-whitelist', { email, default_role: 'creator' })
  const sentCode = async (): Promise<string> => {
    await ask('POST', '/api/auth/email/request', { email }, open)
    return /\b\d{6}\b/.exec((await mail.next(email)).text)?.[0] ?? assert.fail('no code in the mail')
  }
  const verify = (code: string, fields: Record<string, string>) =>
    mint('/api/auth/email/verify', { email, code }, fields, open)
  const { access_token: token } = await verify(await sentCode(), { access_token: 'session of a person' })
  const enrolment = '/api/enterprise/2fa/enroll'
  const { secret } = await mint(`${enrolment}/start`, undefined, { secret: 'TOTP secret' }, { token })
  const code = generateSync({ secret })
  await mint(`${enrolment}/confirm`, { code }, { recovery_codes: 'recovery code' }, { token })
  await verify(await sentCode(), { challenge_token: 'challenge of a sign-in' })
}

/** Which of the planted secrets stand in a text. */
function found(text: string, except: readonly string[] = []): string[] {
  return [...planted]
    .filter(([name]) => !except.includes(name))
    .filter(([, secret]) => text.includes(secret) || text.includes(encodeURIComponent(secret)))
    .map(([name]) => name)
}

test('enough was planted for the search to mean something', () => {
  assert.ok(planted.size >= 25, `${planted.size}: ${[...planted.keys()]}`)
  assert.deepEqual(found(`x ${mailPassword} y`), ['password of the mail server'])
})

test('in no answer but the one that mints it, errors and the audit log included', () => {
  assert.deepEqual(
    answers.flatMap((answer) => found(answer).map((name) => `${name} in ${answer.slice(0, 200)}`)),
    [],
  )
})

test('in no log of the platform, at its most talkative', () => {
  assert.ok(platform.output().length > 1_000)
  assert.deepEqual(found(platform.output()), [])
})

test('in no file of the data folder: the database and its journal byte by byte', async () => {
  const names = (await readdir(platform.dataDir, { recursive: true, withFileTypes: true })).filter((each) =>
    each.isFile(),
  )
  let databases = 0
  for (const { parentPath, name } of names) {
    const bytes = (await readFile(join(parentPath, name))).toString('latin1')
    if (bytes.startsWith('SQLite format 3')) databases += 1
    assert.deepEqual(found(bytes), [], name)
  }
  assert.equal(databases, 1)
})

test('on no command line of the machine', async () => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  assert.ok(lines.some((line) => line.includes('server/src/start/api.ts')))
  for (const line of lines) assert.deepEqual(found(line), [], line.slice(0, 200))
})

test('in no description of the agent’s container but its own key', async () => {
  const described = await docker('inspect', `agent-${agent}`)
  assert.ok(described.includes('ROOST_AGENT_KEY'))
  assert.deepEqual(found(described), ['key of the agent'])
})

test('in no process of the container but its own key', async () => {
  const script = 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"'
  const seen = await docker('exec', '-u', 'root', `agent-${agent}`, 'sh', '-c', script)
  assert.deepEqual(found(seen, ['key of the agent']), [])
})
