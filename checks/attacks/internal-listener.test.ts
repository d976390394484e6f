/** Attacks on the internal listener: other local processes, agents, and web pages that reach it through a browser. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { endpoints } from '@roost/contracts'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { WebSocket } from 'ws'
import { freePort } from '../../cli/src/machine/free-port.ts'
import { canaries, type Loose } from '../acceptance/platform.ts'
import { docker } from '../acceptance/steps.ts'
import { type Attacker, openScene, type Scene } from './people.ts'

const agent = 'att-internal'
const metricsToken = 'metrics-token-for-prometheus-0123456789'
const internal = endpoints.filter(({ access }) => access.who === 'internal')
let scene: Scene
let attackers: Attacker[]
before(async () => {
  scene = await openScene(agent, { env: { ROOST_METRICS_TOKEN: metricsToken } })
  const { owner, sharer, caller, self } = scene
  attackers = [
    { name: 'no credential', token: '' },
    { name: 'a guessed credential', token: 'svc_internal_'.padEnd(77, '0') },
    owner,
    sharer,
    caller,
    self,
  ]
})
after(() => scene?.[Symbol.asyncDispose]())

type Answer = { status: number; text: string }
type Given = { method?: string; headers?: Record<string, string>; body?: string; port?: number }

/** A request of a local process; `fetch` could not set `Host`. */
function local(path: string, { method = 'GET', headers = {}, body, port }: Given = {}): Promise<Answer> {
  return new Promise((done, refuse) => {
    const sent = request(
      { host: '127.0.0.1', port: port ?? scene.platform.internalPort, path, method, headers },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => done({ status: response.statusCode ?? 0, text }))
      },
    )
    sent.on('error', refuse).end(body)
  })
}

const json = { 'content-type': 'application/json' }
const bearer = (token: string): Record<string, string> => (token ? { authorization: `Bearer ${token}` } : {})
const secretBearer = async () => bearer(await scene.platform.internalSecret())

/** A body that each endpoint would act on. */
function bodyOf({ id }: Endpoint): Loose {
  const task = { agent_name: agent, message: '[[reply:attacked]]', triggered_by: 'schedule' }
  switch (id) {
    case 'executeTask':
      return { ...task, async_mode: true }
    case 'executeTasks':
      return { tasks: [{ ...task, schedule_id: 'none', due_at: '2026-01-01T00:00:00.000Z' }] }
    case 'validateExecution':
      return { execution_id: 'none' }
    case 'recordAuditEntry':
      return { event_type: 'system', event_action: 'forged_by_an_attacker' }
    default:
      return {}
  }
}

function requestOf(endpoint: Endpoint): { path: string; given: Given } {
  const path = endpoint.path.replace('{n}', agent).replace(/\{\w+\}/, 'anything')
  const { method } = endpoint
  if (method === 'GET' || method === 'DELETE') return { path, given: { method } }
  return { path, given: { method, headers: json, body: JSON.stringify(bodyOf(endpoint)) } }
}

/** Agents may use this endpoint for what the permissions allow them. */
const isForAgents = (endpoint: Endpoint) => endpoint.id === 'executeTask'

test('a local process without the secret gets nothing from any endpoint', async () => {
  const successes: string[] = []
  for (const endpoint of internal)
    for (const attacker of attackers) {
      if (isForAgents(endpoint) && ['calling agent', 'the agent itself'].includes(attacker.name)) continue
      const { path, given } = requestOf(endpoint)
      const { status, text } = await local(path, {
        ...given,
        headers: { ...given.headers, ...bearer(attacker.token) },
      })
      if (status !== 401 && status !== 403)
        successes.push(`${attacker.name}: ${endpoint.method} ${path}: ${status} ${text.slice(0, 80)}`)
    }
  assert.deepEqual(successes, [])
  const audit = await scene.platform.request('GET', '/api/audit-log?event_action=forged_by_an_attacker')
  assert.equal(audit.json.total, 0, 'no forged audit entry')
  const runs = await scene.platform.request('GET', `/api/agents/${agent}/executions`)
  assert.deepEqual(runs.json, [], 'no run was started')
})

test('an agent key passes for itself only, not as the scheduler', async () => {
  const ask = (token: string, body: object) =>
    local('/api/internal/execute-task', {
      method: 'POST',
      headers: { ...json, ...bearer(token) },
      body: JSON.stringify({
        async_mode: true,
        message: '[[reply:mine]]',
        triggered_by: 'schedule',
        ...body,
      }),
    })
  const { self, caller } = scene
  const foreign = await ask(self.token, { agent_name: `${agent}-caller` })
  assert.equal(foreign.status, 403, foreign.text)
  for (const [token, trigger] of [
    [self.token, 'self_task'],
    [caller.token, 'agent'],
  ] as const) {
    const { status, text } = await ask(token, { agent_name: agent })
    assert.equal(status, 200, text)
    const path = `/api/agents/${agent}/executions/${JSON.parse(text).execution_id}`
    assert.equal((await scene.platform.request('GET', path)).json.triggered_by, trigger)
  }
})

describe('from inside an agent', () => {
  let base = ''
  const inside = (script: string) =>
    docker('exec', '-u', 'developer', '-w', '/home/developer', `agent-${agent}`, 'sh', '-c', script)
  before(async () => {
    const link = await inside('tr "\\0" "\\n" < /proc/1/environ | grep LINK; printenv ROOST_LINK_URL')
    base = `http://${/\/\/([^/\s]+)\/link/.exec(link)?.[1] ?? assert.fail(link)}`
  })

  test('curl reaches no endpoint of the platform, with and without its key', async () => {
    const requests = internal
      .filter((endpoint) => !isForAgents(endpoint))
      .flatMap((endpoint) => {
        const { path, given } = requestOf(endpoint)
        const data = given.body === undefined ? '' : `-H 'content-type: application/json' -d '${given.body}'`
        return ['', '-H "authorization: Bearer $ROOST_AGENT_KEY"'].map(
          (key) => `-X ${given.method} ${key} ${data} ${base}${path}`,
        )
      })
    const spoofed = ['127.0.0.1', 'localhost'].map((host) => `-H "host: ${host}" ${base}/api/internal/health`)
    const forwarded = `-H "x-forwarded-for: 127.0.0.1" -H "forwarded: for=127.0.0.1" ${base}/metrics`
    const own = [
      `-X POST -H "content-type: application/json" -d "{}" ${base}/broker/anthropic/v1/messages`,
      `${base}/git/acme/app.git/info/refs?service=git-upload-pack`,
      `-X POST -H "content-type: application/json" -d '{"agent_name":"${agent}","message":"x"}' ${base}/api/internal/execute-task`,
    ]
    const all = [...requests, ...spoofed, forwarded, ...own]
    const curl = `curl -s -o /dev/null -m 10 --noproxy '*' -w '%{http_code}\\n'`
    const codes = (await inside(all.map((each) => `${curl} ${each}`).join('; '))).split('\n')
    assert.equal(codes.length, all.length)
    const successes = all.filter((_, index) => !/^(401|403|404)$/.test(codes[index] ?? ''))
    assert.deepEqual(successes, [])
    const tunnel = await inside(
      `curl -s -o /dev/null -m 10 -w '%{http_connect}' -p -x ${base} http://127.0.0.1:${scene.platform.internalPort}/metrics; true`,
    )
    assert.match(tunnel, /^(407|403)/)
  })
})

describe('a web page in the browser of the operator', () => {
  /** Even if a page knew the secret. */
  const as = async (headers: Record<string, string>) => ({ ...(await secretBearer()), ...headers })

  test('is refused under a name of its own (DNS rebinding)', async () => {
    const { internalPort } = scene.platform
    const names = [
      'evil.example',
      `evil.example:${internalPort}`,
      '127.0.0.1.evil.example',
      '10.9.8.7',
      'x@127.0.0.1',
    ]
    for (const host of names)
      for (const path of [
        '/api/internal/health',
        '/metrics',
        '/broker/anthropic/v1/models',
        '/git/a/b/info/refs',
        '/mcp',
      ])
        assert.equal((await local(path, { headers: await as({ host }) })).status, 403, `${host} ${path}`)
    assert.equal(await upgraded({ host: 'evil.example' }), 403)
  })

  test('is refused with an Origin', async () => {
    const { url, internalPort } = scene.platform
    for (const origin of ['http://evil.example', 'null', url, `http://127.0.0.1:${internalPort}`]) {
      for (const path of ['/api/internal/health', '/metrics', '/broker/anthropic/v1/models', '/mcp'])
        assert.equal((await local(path, { headers: await as({ origin }) })).status, 403, `${origin} ${path}`)
      assert.equal(await upgraded({ origin }), 403)
    }
  })

  test('is refused with a form or text as body', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      null,
    ]) {
      const body = JSON.stringify(bodyOf({ id: 'recordAuditEntry' } as Endpoint))
      const { status, text } = await local('/api/internal/audit', {
        method: 'POST',
        headers: await as(type === null ? {} : { 'content-type': type }),
        body,
      })
      assert.equal(status, 415, `${type}: ${text}`)
    }
  })

  /** Status of the reply to an upgrade with the agent's own key; 101 when the link opens. */
  function upgraded(headers: Record<string, string>): Promise<number> {
    const { internalPort } = scene.platform
    const socket = new WebSocket(`ws://127.0.0.1:${internalPort}/link`, {
      headers: { ...bearer(scene.self.token), ...headers },
    })
    return new Promise((done) => {
      socket.on('error', () => {})
      socket.on('unexpected-response', (sent, response) => {
        done(response.statusCode ?? 0)
        sent.destroy()
      })
      socket.on('open', () => {
        socket.terminate()
        done(101)
      })
    })
  }
})

test('the secret opens the endpoints, and the metrics token opens the metrics alone', async () => {
  const all = await secretBearer()
  assert.equal((await local('/api/internal/health', { headers: all })).status, 200)
  assert.equal((await local('/api/internal/schedules/changes', { headers: all })).status, 200)
  const reader = bearer(metricsToken)
  assert.match((await local('/metrics', { headers: reader })).text, /^# HELP/m)
  for (const endpoint of internal.filter(({ path }) => path !== '/metrics')) {
    const { path, given } = requestOf(endpoint)
    const { status } = await local(path, { ...given, headers: { ...given.headers, ...reader } })
    assert.equal(status, 401, path)
  }
})

describe('the processes of `roost up`', () => {
  let dataDir = ''
  let up: ChildProcess
  let output = ''
  let port = 0
  let internalPort = 0
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'roost-attack-up-'))
    port = await freePort()
    internalPort = await freePort()
    up = spawn(process.execPath, [resolve(import.meta.dirname, '../../cli/src/main.ts'), 'up', '--yes'], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        ROOST_CONTAINERS_URL: 'fake:',
        ROOST_DATA_DIR: dataDir,
        ROOST_PORT: String(port),
        ROOST_INTERNAL_PORT: String(internalPort),
        ROOST_MCP_PORT: String(await freePort()),
        ROOST_METRICS_TOKEN: metricsToken,
        GITHUB_PAT: 'ghp_canary-of-the-git-host-0123456789',
        ANTHROPIC_API_KEY: canaries.anthropic,
        GEMINI_API_KEY: canaries.google,
        OPENAI_API_KEY: canaries.openai,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    await new Promise<void>((done, refuse) => {
      for (const stream of [up.stdout, up.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => {
          output += text
          if (/Ctrl-C stops/.test(output)) done()
        })
      up.once('exit', (code) => refuse(new Error(`up ended with ${code}: ${output.slice(-2000)}`)))
    })
  })
  after(async () => {
    const ended = new Promise((done) => up.once('exit', done))
    if (up.exitCode === null && up.kill('SIGTERM')) await ended
    await rm(dataDir, { recursive: true, force: true })
  })

  /** Command line and environment of a child process of `roost up`. */
  async function processOf(file: string): Promise<{ line: string; environment: string }> {
    for (const pid of (await readdir('/proc')).filter((each) => /^\d+$/.test(each))) {
      const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
      const line = await read('cmdline')
      const parent = /^PPid:\s+(\d+)/m.exec(await read('status'))?.[1]
      if (Number(parent) === up.pid && line.includes(file))
        return { line, environment: await read('environ') }
    }
    throw new Error(`${file} does not run`)
  }

  test('the scheduler and the MCP server hold no key of a provider, and no secret is on a command line', async () => {
    const planted = [...Object.values(canaries), 'ghp_canary', metricsToken]
    const encryptionKey = (await readFile(join(dataDir, 'encryption.key'), 'utf8')).trim()
    const held = (text: string) => [...planted, encryptionKey].filter((each) => text.includes(each))
    const api = await processOf('server/src/start/api.ts')
    assert.deepEqual(
      held(api.environment),
      planted,
      'the environment of the API shows what the test looks for',
    )
    for (const file of ['server/src/start/scheduler.ts', 'mcp/src/start.ts']) {
      const { line, environment } = await processOf(file)
      assert.deepEqual(held(environment), [], file)
      assert.doesNotMatch(line, /svc_internal_/, file)
    }
  })

  test('doctor asks the platform with the secret', async () => {
    const doctor = spawn(
      process.execPath,
      [
        resolve(import.meta.dirname, '../../cli/src/main.ts'),
        'doctor',
        '--invariants',
        '--data-dir',
        dataDir,
      ],
      {
        env: { PATH: process.env.PATH, ROOST_INTERNAL_PORT: String(internalPort), ROOST_PORT: String(port) },
      },
    )
    let text = ''
    doctor.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    assert.equal(await new Promise((done) => doctor.once('close', done)), 0, text)
  })
})
