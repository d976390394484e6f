/** An agent is exported from one installation and imported into another, over the API and the command line. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import { createAgent, docker } from './steps.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const agent = 'qa-mover'
const canary = 'canary-of-the-moving-agent'
const passphrase = 'correct horse battery staple'
let from: Platform
let to: Platform
let folder: string

/** Makes files whose names, types and modes an archive can lose. */
const oddFiles = `
set -e
mkdir -p 'odd dir/deep' empty .claude .roost credentials project/.git/hooks
printf 'hello' > 'odd dir/ünï "q".txt'
printf 'line' > "$(printf 'new\\nline')"
printf 'bytes' > "$(printf 'not-utf8-\\377\\376')"
printf 'long' > "$(printf 'n%.0s' $(seq 200))"
printf '#!/bin/sh\\n' > run.sh; chmod 755 run.sh; chmod 600 'odd dir/ünï "q".txt'
ln 'odd dir/ünï "q".txt' hard; ln -s run.sh soft; ln -s /usr/bin/env absolute; ln -s nowhere dangling; ln -s .. 'odd dir/up'
head -c 3000000 /dev/urandom > random.bin; : > zero
chmod 555 empty
mkfifo pipe
printf '{"hooks":{}}' > .claude/settings.json; printf 'skill' > .claude/notes.md
printf 'true\\n' > .roost/setup.sh
printf '#!/bin/sh\\n' > project/.git/hooks/post-commit; printf 'ref: refs/heads/main\\n' > project/.git/HEAD
printf '[remote "origin"]\\n url = https://user:${canary}@git.example/x\\n' > project/.git/config
printf 'TOKEN=${canary}\\n' > .env; printf 'KEY=${canary}\\n' > project/.env; printf '${canary}' > credentials/service
printf '${canary}' > tls.pem; ln tls.pem other-name-of-pem; ln .env env-by-another-name
`
/** One line for each entry, without what belongs to the installation. */
const listing = (without: string) => `
find . -mindepth 1 \\( -path ./.roost -o -path ./.tmp -o -path ./.ssh -o -path ./shared-in -o -path ./.mcp.json -o -name .gitignore \\
  -o -name .roost-initialized ${without} \\) -prune -o \\( -type d -printf '%y %m %p\\0' -o \\( -type f -o -type l \\) -printf '%y %m %n %p %l\\0' \\) | sort -z | tr '\\0\\n' '\\n?'
find . -path ./.roost -prune -o -path ./.tmp -prune -o -name .mcp.json -prune -o -name .gitignore -prune ${without.replaceAll(/-o (-\w+) (\S+)/g, '-o $1 $2 -prune')} \\
  -o -type f ! -name .roost-initialized -print0 | sort -z | xargs -0 sha256sum
`
const inAgent = (platform: Platform, name: string, script: string) =>
  docker('exec', '-u', 'developer', '-w', '/home/developer', platform.containerOf(name), 'sh', '-c', script)
const credentialPaths =
  '-o -name .env -o -path ./credentials -o -name tls.pem -o -name env-by-another-name -o -name other-name-of-pem -o -path ./project/.git/config'
const obeyedPaths = '-o -path ./.claude -o -path ./project/.git/hooks'

async function exported(query = '', headers: Record<string, string> = {}): Promise<Buffer> {
  const response = await fetch(`${from.url}/api/agents/${agent}/export${query}`, {
    headers: { authorization: `Bearer ${from.token}`, ...headers },
  })
  assert.equal(response.status, 200)
  return Buffer.from(await response.arrayBuffer())
}
async function imported(query: string, body: Buffer, headers: Record<string, string> = {}) {
  const response = await fetch(`${to.url}/api/agents/import${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${to.token}`, 'content-type': 'application/octet-stream', ...headers },
    body: new Uint8Array(body),
  })
  return { status: response.status, json: (await response.json()) as Loose }
}
const get = async (platform: Platform, path: string) =>
  (await platform.request('GET', `/api/agents/${path}`)).json

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-transfer-'))
  ;[from, to] = await Promise.all([startPlatform(), startPlatform()])
  const settings = { label: 'Mover', tags: ['moving'], resources: { cpu: '1', memory: '1g' } }
  await createAgent(from, agent, { ...settings, custom_instructions: 'Be brief.' })
  for (const [path, body] of [
    ['timeout', { execution_timeout_seconds: 900 }],
    ['read-only', { enabled: true, config: { blocked_patterns: ['*.lock'] } }],
    ['egress', { mode: 'learn' }],
    ['disk', { quota_bytes: 5_000_000_000 }],
  ] as const)
    assert.equal((await from.request('PUT', `/api/agents/${agent}/${path}`, body)).status, 200, path)
  const schedule = { name: 'Daily', cron_expression: '5 4 * * *', message: 'Report.', timeout_seconds: 600 }
  assert.equal((await from.request('POST', `/api/agents/${agent}/schedules`, schedule)).status, 201)
  const allowed = { host: 'api.example.com', port: 443 }
  assert.equal((await from.request('POST', `/api/agents/${agent}/egress/allow`, allowed)).status, 200)
  assert.equal(await inAgent(from, agent, oddFiles), '')
})
after(async () => {
  await rm(folder, { recursive: true, force: true })
  await Promise.all([from?.[Symbol.asyncDispose](), to?.[Symbol.asyncDispose]()])
})

describe('without credentials', () => {
  let archive: Buffer

  test('the archive is a tar without any credential, under any name', async () => {
    archive = await exported()
    assert.equal(archive.includes(canary), false)
    assert.match(archive.toString('latin1', 0, 100), /^manifest\.json\0/)
  })

  test('the import equals the original, and files that runs obey are named instead', async () => {
    const reply = await imported('?name=qa-moved', archive)
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    assert.deepEqual(reply.json.untrusted_files.toSorted(), [
      '.claude/notes.md',
      '.claude/settings.json',
      '.roost/setup.sh',
      'project/.git/hooks/post-commit',
    ])
    const without = listing(`${credentialPaths} ${obeyedPaths}`)
    assert.equal(await inAgent(to, 'qa-moved', without), await inAgent(from, agent, without))
    assert.equal(await inAgent(to, 'qa-moved', 'ls -A .claude .roost/setup.sh 2>/dev/null'), '')
  })

  test('settings are those of the original, and the schedule is disabled', async () => {
    const fields = ({
      label,
      tags,
      resources,
      custom_instructions,
      execution_timeout_seconds,
      type,
      runtime,
    }: Loose) => ({
      ...{ label, tags, resources, custom_instructions, execution_timeout_seconds, type, runtime },
    })
    assert.deepEqual(fields(await get(to, 'qa-moved')), fields(await get(from, agent)))
    assert.deepEqual(
      (await get(to, 'qa-moved/read-only')).config,
      (await get(from, `${agent}/read-only`)).config,
    )
    const { mode, allowed } = await get(to, 'qa-moved/egress')
    assert.deepEqual([mode, allowed[0].host, allowed[0].port], ['learn', 'api.example.com', 443])
    assert.equal((await get(to, 'qa-moved/disk')).own_quota_bytes, 5_000_000_000)
    const [schedule] = await get(to, 'qa-moved/schedules')
    const { name, cron_expression, message, timeout_seconds, enabled } = schedule
    assert.deepEqual(
      [name, cron_expression, message, timeout_seconds, enabled],
      ['Daily', '5 4 * * *', 'Report.', 600, false],
    )
  })

  test('422 for a cut or changed archive, and nothing remains', async () => {
    const changed = Buffer.from(archive)
    const at = changed.indexOf('hello')
    changed[at] = 0x48
    for (const [body, reason] of [
      [archive.subarray(0, archive.length / 2), /incomplete/],
      [changed, /checksum/],
    ] as const) {
      const reply = await imported('?name=qa-broken', Buffer.from(body))
      assert.deepEqual([reply.status, reply.json.error], [422, 'invalid_archive'])
      assert.match(reply.json.detail, reason)
      assert.equal((await to.request('GET', '/api/agents/qa-broken')).status, 404)
      assert.match(await docker('inspect', to.containerOf('qa-broken')), /No such object/i)
    }
  })

  test('a client that disconnects leaves nothing', async () => {
    const leave = new AbortController()
    const half = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(archive.subarray(0, archive.length / 2))),
    })
    const sending = fetch(`${to.url}/api/agents/import?name=qa-left`, {
      method: 'POST',
      headers: { authorization: `Bearer ${to.token}` },
      body: half,
      signal: leave.signal,
      duplex: 'half',
    } as RequestInit).catch(() => null)
    await eventually(
      () => inAgent(to, 'qa-left', 'ls random.bin'),
      (text) => text === 'random.bin',
    )
    assert.equal((await to.request('GET', '/api/agents/qa-left')).status, 404)
    leave.abort()
    await sending
    await eventually(
      () => docker('inspect', to.containerOf('qa-left')),
      (text) => /No such object/i.test(text),
    )
    assert.equal((await to.request('GET', '/api/agents/qa-left')).status, 404)
  })
})

describe('with credentials', () => {
  test('422 without a passphrase', async () => {
    const reply = await from.request('GET', `/api/agents/${agent}/export?credentials=true`)
    assert.deepEqual([reply.status, reply.json.error], [422, 'validation_error'])
    assert.match(reply.text, /X-Archive-Passphrase/)
  })

  test('the command line moves the agent whole, through a file without plain text', async () => {
    const file = join(folder, 'mover.age')
    const cli = (platform: Platform, ...args: string[]) =>
      run(join(root, 'roost'), ['agents', ...args], {
        env: {
          ...process.env,
          ROOST_URL: platform.url,
          ROOST_KEY: platform.token,
          ROOST_EXPORT_PASSPHRASE: passphrase,
        },
      })
    assert.match((await cli(from, 'export', agent, '--to', file, '--with-credentials')).stdout, /encrypted/)
    const bytes = await readFile(file)
    assert.match(bytes.toString('latin1', 0, 30), /^age-encryption\.org\/v1/)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    for (const text of [canary, 'manifest.json', 'Report.']) assert.equal(bytes.includes(text), false, text)
    const { stdout } = await cli(to, 'import', file, '--as', 'qa-whole', '--trust', '--enable-schedules')
    assert.match(stdout, /qa-whole is running\. Imported \d+ files/)
    const whole = listing('')
    assert.equal(await inAgent(to, 'qa-whole', whole), await inAgent(from, agent, whole))
    assert.equal(await inAgent(to, 'qa-whole', 'cat .roost/setup.sh'), 'true')
    assert.equal((await get(to, 'qa-whole/schedules'))[0].enabled, true)
    const refused = await imported('?name=qa-wrong', bytes, {
      'x-archive-passphrase': Buffer.from('another passphrase').toString('base64'),
    })
    assert.deepEqual([refused.status, refused.json.error], [422, 'archive_passphrase_wrong'])
  })
})

test('409 for a stopped agent, with the remedy', async () => {
  await from.request('POST', `/api/agents/${agent}/stop`)
  const reply = await from.request('GET', `/api/agents/${agent}/export`)
  assert.deepEqual([reply.status, reply.json.error], [409, 'agent_stopped'])
  assert.match(reply.json.detail, /start it/)
})
