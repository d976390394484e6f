import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort } from './machine/free-port.ts'
import { removeInstallation } from './testing/leftovers.ts'
import { installsVariable } from './testing/session.ts'

const main = join(import.meta.dirname, 'main.ts')
const hasEngine = process.env.ROOST_TEST_CONTAINERS_URL !== undefined
// What a killed run leaves on the engine is found by the prefix.
const install = (process.env[installsVariable] ?? '') + randomBytes(8).toString('hex')
let dataDir = ''
let env: NodeJS.ProcessEnv = {}
let port = 0

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'roost-up-'))
  port = await freePort()
  await writeFile(join(dataDir, 'install-id'), install)
  await writeFile(join(dataDir, 'encryption.key'), randomBytes(32).toString('hex'), { mode: 0o600 })
  env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    ROOST_CONTAINERS_URL: process.env.ROOST_TEST_CONTAINERS_URL,
    ROOST_DATA_DIR: dataDir,
    ROOST_PORT: String(port),
    ROOST_INTERNAL_PORT: String(await freePort()),
    ROOST_SSH_PORT_RANGE: '22300-22320',
  }
})
after(() => rm(dataDir, { recursive: true, force: true }))

test('78 for an invalid variable, which the error names, and nothing is started', async () => {
  const up = start({ ...env, ROOST_CONTAINERS_URL: 'fake:', ROOST_LOG_LEVEL: 'loud' })
  assert.equal(await up.ended, 78)
  assert.match(up.output(), /ROOST_LOG_LEVEL/)
})

test('1 for a port that another process holds, which the error names, without endless retries', async (t) => {
  const holder = createServer().listen(port, '127.0.0.1')
  await once(holder, 'listening')
  t.after(() => holder.close())
  const up = start({ ...env, ROOST_CONTAINERS_URL: 'fake:' })
  assert.equal(await up.ended, 1)
  assert.match(up.output(), new RegExp(`${port}`))
})

describe('on a machine with an engine', {
  skip: hasEngine ? false : 'ROOST_TEST_CONTAINERS_URL is not set',
}, () => {
  let up: ReturnType<typeof start>
  let lines: string[] = []
  before(async () => {
    up = start(env, '--demo')
    await up.until(/Ctrl-C stops/)
    lines = up
      .output()
      .split('\n')
      .filter((line) => /^(curl|TOKEN=)/.test(line))
  })
  after(async () => {
    await up.stop()
    await removeInstallation(install)
  })

  test('its five commands set the password, create an agent and stream its answer', async () => {
    assert.equal(lines.length, 5)
    const { stdout } = await promisify(execFile)('bash', ['-c', lines.join('\n')], { timeout: 120_000 })
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(answers[0].setup_completed, false)
    assert.equal(answers[1].success, true)
    assert.equal(answers[2].name, 'first', stdout)
    assert.equal(answers[3].type, 'system')
    assert.deepEqual([answers.at(-1).type, answers.at(-1).status], ['done', 'success'])
  })

  test('0 for a second start, which reports the address of the first', async () => {
    const second = start(env)
    assert.equal(await second.ended, 0)
    assert.match(second.output(), new RegExp(`already running at .*:${port}`))
  })

  test('doctor reports it healthy', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [main, 'doctor'], { env })
    assert.match(stdout, /ok +platform +healthy/)
    assert.match(stdout, /ok +scheduler +running/)
    assert.match(stdout, /held by the running Roost/)
  })

  test('a stop exits with 0 and leaves the agent running; the next start finds it and prints no setup commands', async () => {
    up.process.kill('SIGINT')
    assert.equal(await up.ended, 0)
    assert.match(up.output(), /Agents keep running/)
    up = start(env, '--demo')
    await up.until(/Ctrl-C stops/)
    assert.doesNotMatch(up.output(), /admin-password/)
    const password = /"password":"([^"]+)"/.exec(lines[1] ?? '')?.[1] ?? ''
    const signIn = await fetch(`http://127.0.0.1:${port}/api/token`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'admin', password }),
    })
    const { access_token: token } = (await signIn.json()) as { access_token: string }
    const headers = { authorization: `Bearer ${token}` }
    const agents = await fetch(`http://127.0.0.1:${port}/api/agents`, { headers })
    const list = (await agents.json()) as { name: string; status: string }[]
    assert.equal(list.find(({ name }) => name === 'first')?.status, 'running')
    const removal = await fetch(`http://127.0.0.1:${port}/api/agents/first`, { method: 'DELETE', headers })
    assert.equal(removal.status, 200)
    await demoReady(headers)
    const reset = await fetch(`http://127.0.0.1:${port}/api/demo`, { method: 'DELETE', headers })
    const { removed_agents: removed } = (await reset.json()) as { removed_agents: string[] }
    assert.deepEqual(removed.toSorted(), ['demo-developer', 'demo-digest', 'demo-support'])
  })

  test('regain-admin sets a new password while the platform runs', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [main, 'regain-admin'], { env })
    const password = /Password: +(\S+)/.exec(stdout)?.[1] ?? ''
    const reply = await fetch(`http://127.0.0.1:${port}/api/token`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'admin', password }),
    })
    assert.equal(reply.status, 200, stdout)
  })

  test('SIGKILL ends its child processes too, and the next start works', async () => {
    const children = (await promisify(execFile)('pgrep', ['-P', String(up.process.pid)])).stdout
      .trim()
      .split('\n')
    assert.ok(children.length >= 3)
    up.process.kill('SIGKILL')
    await up.ended
    up = start(env, '--demo')
    await up.until(/Ctrl-C stops/)
    for (const pid of children) await processEnd(pid)
  })
})

/** Resolves when the demo agents exist; fails after two minutes. */
async function demoReady(headers: Record<string, string>): Promise<void> {
  for (const deadline = Date.now() + 120_000; ; ) {
    const reply = await fetch(`http://127.0.0.1:${port}/api/demo`, { headers })
    const { state } = (await reply.json()) as { state: string }
    if (state === 'ready') return
    if (Date.now() > deadline) assert.fail(`the demo is ${state}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Resolves when the process has ended, even as a zombie; fails after a minute. */
async function processEnd(pid: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; ; ) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    if (stat === '' || stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')) return
    if (Date.now() > deadline) assert.fail(`process ${pid} outlives its parent: ${stat}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function start(variables: NodeJS.ProcessEnv, ...options: string[]) {
  const child: ChildProcess = spawn(process.execPath, [main, 'up', '--yes', ...options], {
    env: variables,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => {
      text += part
      for (const listener of listeners) listener()
    })
  }
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return {
    process: child,
    ended,
    output: () => text,
    /** Resolves when the output matches; fails when the process ends first. */
    until: (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const check = () => {
          if (pattern.test(text)) resolve()
        }
        listeners.add(check)
        check()
        void ended.then((code) => reject(new Error(`it exited with ${code}:\n${text}`)))
      }),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
