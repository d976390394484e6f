/** Agents on a machine without a container engine: the platform runs them in sandboxes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  answerText,
  canaries,
  collect,
  eventually,
  type Loose,
  type Platform,
  signIn,
  startPlatform,
} from './platform.ts'
import { answerOf, beginTurn, createAgent, isOver, untilExecution } from './steps.ts'

const isRoot = process.getuid?.() === 0
/** An unprivileged user that owns nothing on this machine. */
const unprivilegedUser = { uid: 61_234, gid: 61_234 }

/** The environment that npm needs to reach its registry from here. */
const forNpm = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    value && /^(npm_config_|(https?|no)_proxy$|node_extra_ca_certs$)/i.test(name) ? [[name, value]] : [],
  ),
)

/** The bracketed first letter keeps a search from finding itself. */
const canaryPattern = Object.values(canaries)
  .map((key) => `[${key[0]}]${key.slice(1)}`)
  .join('|')

function startSandboxed(options: Parameters<typeof startPlatform>[0] = {}): Promise<Platform> {
  return startPlatform({ ...options, env: { ...forNpm, ...options.env, ROOST_CONTAINERS_URL: 'sandbox:' } })
}

/** The output of a shell command that a turn runs inside the sandbox. */
async function runInSandbox(platform: Platform, agent: string, command: string): Promise<string> {
  const message = `[[tool:Bash:${command}]] [[reply:done]]`
  const objects = await collect(platform.stream(`/api/agents/${agent}/chat`, { message }))
  assert.equal(answerText(objects), 'done', JSON.stringify(objects.at(-1)))
  return objects
    .filter((object) => object.type === 'user')
    .flatMap((object) => object.message.content)
    .map((block: Loose) =>
      typeof block.content === 'string'
        ? block.content
        : block.content.map((part: Loose) => part.text).join(''),
    )
    .join('\n')
}

/** `open` or `closed` for each address, tried from inside the sandbox. */
async function connectivity(platform: Platform, agent: string, targets: string[]): Promise<string[]> {
  const tries = targets.map(
    (target) => `(exec 3<>/dev/tcp/${target}) 2>/dev/null && echo open || echo closed`,
  )
  // Claude Code prefers zsh where the machine has it, and only bash has /dev/tcp.
  return (await runInSandbox(platform, agent, `bash -c '${tries.join('; ')}'`)).trim().split('\n')
}

async function sandboxFolder(platform: Platform): Promise<string> {
  const [install = ''] = await readdir(join(platform.dataDir, 'sandbox'))
  return join(platform.dataDir, 'sandbox', install)
}

/** Ids of processes with the folder in their command line: supervisors and their children. */
async function processesOf(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return ids.filter((_, index) => lines[index]?.includes(folder))
}

async function assertNothingIsLeft(platform: Platform): Promise<void> {
  const folder = await sandboxFolder(platform)
  for (const kind of ['containers', 'volumes', 'names'])
    assert.deepEqual(await readdir(join(folder, kind)), [], kind)
  // A supervisor ends itself a moment after its container.
  await eventually(
    () => processesOf(folder),
    (ids) => ids.length === 0,
  )
}

describe('the platform in sandboxes', () => {
  const partner = 'partner.test'
  const outside = createHttpServer((_request, response) => response.end('heard\n'))
  let platform: Platform
  let outsidePort: number
  before(async () => {
    outside.listen(0, '127.0.0.1')
    await once(outside, 'listening')
    outsidePort = (outside.address() as { port: number }).port
    const inner = `${partner}:${outsidePort}=127.0.0.1`
    platform = await startSandboxed({ env: { ROOST_EGRESS_INNER: inner } })
  })
  after(async () => {
    await platform?.[Symbol.asyncDispose]()
    outside.closeAllConnections()
    outside.close()
  })

  test('an agent is created, and its details list the isolation that a sandbox lacks', async () => {
    await createAgent(platform, 'box-claude')
    const { json } = await platform.request('GET', '/api/agents/box-claude')
    assert.equal(json.status, 'running')
    assert.equal(json.isolation.level, 'sandbox')
    const weaker = json.isolation.weaker.join('\n')
    assert.match(weaker, /seccomp/)
    assert.match(weaker, /no SSH access/)
    const access = await platform.request('POST', '/api/agents/box-claude/ssh-access', {})
    assert.ok(access.status >= 400, 'SSH access is refused')
  })

  test('its response streams, it remembers, and its files contain what its tools write', async () => {
    const path = '/api/agents/box-claude'
    const objects = await collect(
      platform.stream(`${path}/chat`, {
        message: 'the word is mangrove [[reply:one two three]] [[drip:20]]',
      }),
    )
    assert.equal(answerText(objects), 'one two three')
    assert.equal(objects.at(-1).status, 'success')
    assert.ok(objects.at(-1).metadata.input_tokens > 0, 'tokens are counted')
    assert.equal(await answerOf(platform, 'box-claude', '[[recall:mangrove]]'), 'recall=yes')
    await runInSandbox(platform, 'box-claude', 'echo from-the-agent > note.txt')
    const file = await platform.request('GET', `${path}/files/download?path=note.txt`)
    assert.equal(file.text, 'from-the-agent\n')
    const written = await platform.request('PUT', `${path}/files?path=brief.md`, { content: 'by a person' })
    assert.equal(written.status, 200, written.text)
    assert.match(await runInSandbox(platform, 'box-claude', 'cat brief.md'), /by a person/)
  })

  test('its log and resource use can be read', async () => {
    const logs = await platform.request('GET', '/api/agents/box-claude/logs?tail=100')
    assert.match(logs.json.logs, /link up/)
    const stats = await eventually(
      () => platform.request('GET', '/api/agents/box-claude/stats'),
      ({ json }) => json.memory_used_bytes > 0,
    )
    assert.equal(stats.json.memory_limit_bytes, 4 * 1024 ** 3)
  })

  for (const [runtime, create] of [
    ['gemini-cli', { runtime: 'gemini-cli' }],
    ['codex', { template: 'codex-assistant' }],
  ] as const) {
    test(`${runtime} responds and uses its tools as well`, async () => {
      const name = `box-${runtime}`
      await createAgent(platform, name, create)
      const message = '[[tool:Bash:echo made by a tool > note.txt]] [[reply:written]]'
      assert.equal(await answerOf(platform, name, message), 'written')
      const file = await platform.request('GET', `/api/agents/${name}/files/download?path=note.txt`)
      assert.equal(file.text, 'made by a tool\n')
    })
  }

  test('an agent reaches only the platform: no other agent, no host port, no address', async () => {
    const host = createServer().listen(0, '0.0.0.0')
    await new Promise((done) => host.once('listening', done))
    const { port } = host.address() as { port: number }
    const addresses = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal)
      .map(({ address }) => address)
    const closed = [
      `127.0.0.1/${port}`,
      `127.0.0.1/${new URL(platform.url).port}`,
      `127.0.0.1/${new URL(platform.model.url).port}`,
      ...addresses.flatMap((address) => [`${address}/${port}`, `${address}/${platform.internalPort}`]),
      '192.0.2.1/80',
    ]
    const results = await connectivity(platform, 'box-claude', [
      `127.0.0.1/${platform.internalPort}`,
      ...closed,
    ])
    host.close()
    assert.deepEqual(results, ['open', ...closed.map(() => 'closed')])
    const namespaces = 'readlink /proc/self/ns/net /proc/self/ns/pid /proc/self/ns/ipc'
    const [first, second] = [
      (await runInSandbox(platform, 'box-claude', namespaces)).trim().split('\n'),
      (await runInSandbox(platform, 'box-codex', namespaces)).trim().split('\n'),
    ]
    assert.equal(first.length, 3)
    for (const [index, namespace] of first.entries()) assert.notEqual(namespace, second[index])
  })

  test('the routes of the platform are hidden from it, and web pages are refused there', async () => {
    const curl = `curl -s -o /dev/null -m 10 --noproxy "*" -w "%{http_code} "`
    const base = `http://127.0.0.1:${platform.internalPort}`
    const hidden = ['/api/internal/health', '/api/internal/schedules/changes', '/metrics']
    const credentials = ['', '-H "authorization: Bearer $ROOST_AGENT_KEY"']
    const foreign = ['host: evil.example', 'origin: http://evil.example']
    const tries = [
      ...hidden.flatMap((path) => credentials.map((credential) => `${curl} ${credential} ${base}${path}`)),
      ...foreign.map((header) => `${curl} -H "${header}" ${base}/broker/anthropic/v1/models`),
    ]
    const codes = (await runInSandbox(platform, 'box-claude', tries.join('; '))).trim().split(/\s+/)
    assert.deepEqual(codes, [...Array(6).fill('404'), '403', '403'])
  })

  test('its egress goes through the platform: nothing in mode off, everything in learn, the list in enforce', async () => {
    const egress = (method: string, path = '', body?: object) =>
      platform.request(method, `/api/agents/box-claude/egress${path}`, body)
    const ask = (flags = '') =>
      runInSandbox(platform, 'box-claude', `curl -sS ${flags} -m 20 http://${partner}:${outsidePort}/ 2>&1`)
    const bypass = '--noproxy "*" --connect-to ::127.0.0.1:'
    assert.doesNotMatch(await ask(), /heard/)
    await egress('PUT', '', { mode: 'learn' })
    assert.match(await ask(), /heard/)
    assert.doesNotMatch(await ask(bypass), /heard/)

    const put = await egress('PUT', '', { mode: 'enforce' })
    assert.deepEqual([put.status, put.json.network.is_closed, put.json.restart_needed], [200, true, false])
    assert.match(await ask(), /is not allowed/)
    assert.doesNotMatch(await ask(bypass), /heard/)
    assert.match(await runInSandbox(platform, 'box-claude', 'getent hosts example.com || echo none'), /none/)
    assert.equal((await egress('POST', '/allow', { host: partner, port: outsidePort })).status, 200)
    assert.match(await ask(), /heard/)
    const entries = (await egress('GET', '/log')).json.map((entry: Loose) => `${entry.host} ${entry.reason}`)
    assert.deepEqual(entries.sort(), [`${partner} learnt`, `${partner} listed`, `${partner} not_listed`])
    for (const step of ['stop', 'start'])
      assert.equal((await platform.request('POST', `/api/agents/box-claude/${step}`)).status, 200)
    assert.match(await ask(), /heard/)
    await egress('PUT', '', { mode: 'off' })
    assert.doesNotMatch(await ask(), /heard/)
  })

  test('an agent sees no provider key, no files of other agents, and nothing of the platform', async () => {
    const found = await runInSandbox(
      platform,
      'box-claude',
      `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | grep -aEc '${canaryPattern}'; ls ${platform.dataDir} /root /work /etc/shadow 2>/dev/null | wc -l`,
    )
    assert.deepEqual(found.trim().split('\n'), ['0', '0'])
    const keys = new Set(platform.model.requests.map((request) => request.key))
    for (const key of Object.values(canaries)) assert.ok(keys.has(key), 'the broker puts it on the wire')
    const logs = await platform.request('GET', '/api/agents/box-claude/logs?tail=5000')
    for (const key of Object.values(canaries)) assert.ok(!(logs.text + platform.output()).includes(key))
  })

  test('read-only mode protects sources and allows writing content', async () => {
    const path = '/api/agents/box-claude'
    const read = async (file: string) =>
      (await platform.request('GET', `${path}/files/download?path=${file}`)).text
    await platform.request('PUT', `${path}/files?path=main.py`, { content: 'orig\n' })
    const enabled = await platform.request('PUT', `${path}/read-only`, { enabled: true })
    assert.deepEqual([enabled.json.enabled, enabled.json.applied], [true, 'now'])
    const write = JSON.stringify({ file_path: '/home/developer/main.py', content: 'by a tool' })
    await answerOf(platform, 'box-claude', `[[tool:Write:${write}]] [[reply:done]]`)
    // Shell commands are refused by the operating system, which needs a second user, so the platform must be root.
    if (isRoot)
      await runInSandbox(platform, 'box-claude', 'echo hacked > main.py; rm -f main.py; mv main.py other.py')
    assert.equal(await read('main.py'), 'orig\n')
    await runInSandbox(platform, 'box-claude', 'echo made > content/made.txt')
    assert.equal(await read('content/made.txt'), 'made\n')
    await platform.request('PUT', `${path}/read-only`, { enabled: false })
    await runInSandbox(platform, 'box-claude', 'echo free > main.py')
    assert.equal(await read('main.py'), 'free\n')
  })

  test('it keeps files and memory over stop and start', async () => {
    const path = '/api/agents/box-claude'
    // A home closed to all others must not prevent the restart.
    await runInSandbox(platform, 'box-claude', 'chmod 700 /home/developer')
    assert.equal((await platform.request('POST', `${path}/stop`)).status, 200)
    assert.equal((await platform.request('GET', path)).json.status, 'stopped')
    const refused = await platform.request('POST', `${path}/chat`, { message: 'hi' })
    assert.deepEqual([refused.status, refused.json.error], [503, 'agent_not_running'])
    assert.equal((await platform.request('POST', `${path}/start`)).status, 200)
    assert.equal(await answerOf(platform, 'box-claude', '[[recall:mangrove]]'), 'recall=yes')
    const file = await platform.request('GET', `${path}/files/download?path=note.txt`)
    assert.equal(file.text, 'from-the-agent\n')
  })

  test('after its next start it reads the published folder of another agent and can write only inside it', async () => {
    const ask = async (method: string, path: string, body?: object) => {
      const reply = await platform.request(method, `/api/agents/${path}`, body)
      assert.equal(reply.status, 200, reply.text)
    }
    await ask('PUT', 'box-codex/files?path=shared-out/note.txt', { content: 'from codex' })
    await ask('PUT', 'box-codex/folders', { expose_enabled: true })
    await ask('PUT', 'box-claude/folders', { consume_enabled: true })
    await ask('POST', 'box-claude/permissions/box-codex')
    for (const power of ['stop', 'start']) await ask('POST', `box-claude/${power}`)
    const script = 'cd shared-in/box-codex; cat note.txt; echo from claude > answer.txt; touch ../mine'
    const output = await runInSandbox(platform, 'box-claude', script)
    assert.match(output, /from codex/)
    assert.equal(output.match(/Read-only file system/g)?.length, 1, output)
    assert.match(await runInSandbox(platform, 'box-codex', 'cat shared-out/answer.txt'), /from claude/)
  })

  test('a turn survives a kill of the platform, with its whole transcript', async () => {
    const path = '/api/agents/box-claude'
    const turn = await beginTurn(
      platform,
      'box-claude',
      '[[tool:Bash:for i in 1 2 3 4; do echo step-$i; sleep 1; done]] [[reply:survived the kill]]',
    )
    const ended = turn.ended.catch(() => null)
    await eventually(
      () => platform.request('GET', `${path}/executions/${turn.id}/log`),
      ({ text }) => text.includes('tool_use'),
    )
    await platform.killApi()
    await ended
    await platform.startApi()
    platform.token = await signIn(platform)
    const execution = await untilExecution(platform, 'box-claude', turn.id, isOver)
    assert.deepEqual([execution.status, execution.response], ['success', 'survived the kill'])
    const { log } = (await platform.request('GET', `${path}/executions/${turn.id}/log`)).json
    assert.deepEqual(
      log.map((line: Loose) => line._n),
      log.map((_: Loose, index: number) => index + 1),
    )
    assert.match(JSON.stringify(log), /step-4/)
  })

  test('deleting the agents leaves no process, folder or volume', async () => {
    assert.notDeepEqual(await processesOf(await sandboxFolder(platform)), [], 'there is something to leave')
    for (const name of ['box-claude', 'box-gemini-cli', 'box-codex']) {
      const reply = await platform.request('DELETE', `/api/agents/${name}`)
      assert.equal(reply.status, 200, reply.text)
      assert.equal((await platform.request('GET', `/api/agents/${name}`)).status, 404)
    }
    await assertNothingIsLeft(platform)
  })
})

test('an ordinary user can host agents too, and sees which isolation is missing', {
  skip: isRoot ? false : 'the checks above ran as an ordinary user',
}, async () => {
  await using platform = await startSandboxed({ user: unprivilegedUser })
  const path = '/api/agents/box-user'
  await createAgent(platform, 'box-user')
  const { isolation } = (await platform.request('GET', path)).json
  assert.match(isolation.weaker.join('\n'), /ordinary user/)
  assert.match(isolation.weaker.join('\n'), /CPU time is not limited/)
  assert.match(await runInSandbox(platform, 'box-user', 'id -un; echo kept > note.txt'), /developer/)
  assert.equal((await platform.request('POST', `${path}/stop`)).status, 200)
  assert.equal((await platform.request('POST', `${path}/start`)).status, 200)
  assert.match(await runInSandbox(platform, 'box-user', 'cat note.txt'), /kept/)
  assert.equal((await platform.request('DELETE', path)).status, 200)
  await assertNothingIsLeft(platform)
})
