/**
 * The platform as a user runs it: real processes, a real container engine, the scripted model server. Tests use only
 * its API.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type ModelServer, startModelServer } from '@roost/test-support/model/index'
import { leanEnvironment, leanHeap } from '../../cli/src/platform/lean-process.ts'
import {
  internalSecretOf,
  type LimitedProcess,
  processEnvironment,
} from '../../cli/src/platform/process-environment.ts'
import { removeBases, removeNetworks } from './agents-networks.ts'

const root = resolve(import.meta.dirname, '../..')
/** Configured as the provider keys. Only the model server may see them. */
export const canaries = {
  anthropic: 'sk-ant-canary-9f1b6c2e',
  google: 'AIza-canary-4d7e8a10',
  openai: 'sk-canary-openai-77c0ab',
}
export const adminPassword = 'correct horse battery'

export type Platform = {
  url: string
  internalPort: number
  dataDir: string
  /** The environment of its processes. */
  env: Readonly<Record<string, string>>
  containerOf(agent: string): string
  /** The credential of the platform's own processes on the internal listener. */
  internalSecret(): Promise<string>
  model: ModelServer
  token: string
  /** Output and error streams of the API process so far. */
  output(): string
  /** Process id of the current API process. */
  apiPid(): number
  request(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Reply>
  stream(path: string, body: unknown, options?: RequestOptions): AsyncIterable<StreamObject>
  killApi(): Promise<void>
  /** Ends the API in an orderly way. */
  stopApi(): Promise<void>
  startApi(): Promise<void>
  /**
   * Starts another platform process from a file of the repository; it ends with the platform. `overrides` changes its
   * environment.
   */
  startBeside(file: string, overrides?: Record<string, string>): Promise<BesideProcess>
  /** The same platform, with requests and streams at another address of it. */
  at(url: string): Platform
  [Symbol.asyncDispose](): Promise<void>
}
export type BesideProcess = {
  pid: number
  /** The address it reports; empty when it does not listen. */
  url: string
  output(): string
  /** Resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>
}
export type RequestOptions = { token?: string | null; headers?: Record<string, string>; signal?: AbortSignal }
export type Reply = { status: number; headers: Headers; text: string; json: Loose }
// Tests read what a user reads, without the server's types.
// biome-ignore lint/suspicious/noExplicitAny: tests read responses field by field
export type Loose = any
export type StreamObject = Loose

export type PlatformOptions = {
  env?: Record<string, string>
  password?: boolean
  /** The model server answers as that of `roost up --demo`. */
  isDemo?: boolean
  /** The user that the platform runs as; only root can choose. */
  user?: { uid: number; gid: number }
}

export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options)
    } catch (error) {
      // Another program may have taken a port since it was chosen.
      if (attempt === 3 || !/in use by another program/.test(String(error))) throw error
    }
  }
}

async function startOnce(options: PlatformOptions): Promise<Platform> {
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-acceptance-'))
  if (process.env.ROOST_TEST_INSTALL_PREFIX)
    await nameInstallation(dataDir, process.env.ROOST_TEST_INSTALL_PREFIX)
  if (options.user) {
    const names = ['.', ...(await readdir(dataDir))]
    for (const name of names) await chown(join(dataDir, name), options.user.uid, options.user.gid)
  }
  const model = await startModelServer(options.isDemo ? { demo: true } : {})
  const [port = 0, internalPort = 0, mcpPort = 0] = await freePorts(3)
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    // Other users cannot enter root's home.
    HOME: options.user ? dataDir : (process.env.HOME ?? ''),
    ROOST_DATA_DIR: dataDir,
    ROOST_PORT: String(port),
    ROOST_INTERNAL_PORT: String(internalPort),
    ROOST_MCP_PORT: String(mcpPort),
    ROOST_CONTAINERS_URL: process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:',
    ROOST_CONTAINER_RUNTIME: process.env.ROOST_TEST_CONTAINER_RUNTIME ?? '',
    ROOST_SSH_PORT_RANGE: sshPorts(),
    ROOST_LOG_LEVEL: 'debug',
    ANTHROPIC_API_KEY: canaries.anthropic,
    GEMINI_API_KEY: canaries.google,
    OPENAI_API_KEY: canaries.openai,
    ANTHROPIC_BASE_URL: model.url,
    GOOGLE_GEMINI_BASE_URL: model.url,
    OPENAI_BASE_URL: `${model.url}/v1`,
    // Lets a benchmark find the processes that it started.
    ...JSON.parse(process.env.ROOST_TEST_PLATFORM_ENV ?? '{}'),
    ...(process.env.ROOST_BENCH_SESSION ? { ROOST_BENCH_SESSION: process.env.ROOST_BENCH_SESSION } : {}),
    ...(options.isDemo ? { ROOST_DEMO: 'true' } : {}),
    ...options.env,
  }
  let child: ChildProcess | null = null
  let output = ''
  const url = `http://127.0.0.1:${port}`

  const start = (file: string, onOutput: (text: string) => void, processEnv: NodeJS.ProcessEnv = env) => {
    const started = fork(join(root, file), [], {
      // The same environment as with `roost up`.
      env: { ...leanEnvironment(root), ...processEnv },
      cwd: root,
      execArgv: leanHeap,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      ...options.user,
    })
    started.stdout?.on('data', onOutput)
    started.stderr?.on('data', onOutput)
    return started
  }
  const startApi = async () => {
    child = start('server/src/start/api.ts', (text) => (output += text))
    await ready(child, () => output)
  }
  const endApi = async (signal: NodeJS.Signals) => {
    const running = child
    child = null
    if (running) await end(running, signal)
  }
  const beside: ChildProcess[] = []

  const removeAgents = async () => {
    if (!child) await startApi()
    const { json: agents } = await platform.request('GET', '/api/agents')
    const names: string[] = agents.flatMap((agent: Loose) => (agent.is_system ? [] : [agent.name]))
    await Promise.all(names.map((name) => platform.request('DELETE', `/api/agents/${name}`)))
  }

  const platform: Platform = {
    url,
    internalPort,
    dataDir,
    env,
    internalSecret: () => internalSecretOf(env),
    containerOf: (agent) => (env.ROOST_CONTAINER_PREFIX ?? 'agent-') + agent,
    model,
    token: '',
    output: () => output,
    apiPid: () => child?.pid ?? 0,
    ...requestsAt(url, () => platform.token),
    killApi: () => endApi('SIGKILL'),
    stopApi: () => endApi('SIGTERM'),
    startApi,
    at: (other) => ({
      ...platform,
      ...requestsAt(other, () => platform.token),
      url: other,
      get token() {
        return platform.token
      },
    }),
    async startBeside(file, overrides) {
      let text = ''
      const started = start(
        file,
        (more) => (text += more),
        await besideEnvironment(file, { ...env, ...overrides }),
      )
      beside.push(started)
      const url = await ready(started, () => text)
      return { pid: started.pid ?? 0, url, output: () => text, end: (signal) => end(started, signal) }
    },
    async [Symbol.asyncDispose]() {
      try {
        // The state of the fake engine ends with its process.
        if (env.ROOST_CONTAINERS_URL !== 'fake:') await removeAgents()
      } finally {
        await Promise.all(beside.map((each) => end(each, 'SIGTERM')))
        await endApi('SIGTERM')
        await model.close()
        await removeNetworks(dataDir)
        await removeBases(dataDir)
        await rm(dataDir, { recursive: true, force: true })
      }
    },
  }
  try {
    await startApi()
    if (options.password !== false) {
      await platform.request('POST', '/api/setup/admin-password', { password: adminPassword })
      platform.token = await signIn(platform)
    }
  } catch (error) {
    // Open handles would keep the test process alive.
    await endApi('SIGKILL')
    await model.close()
    await rm(dataDir, { recursive: true, force: true })
    throw error
  }
  return platform
}

/** Requests as a client of the platform sends them. */
function requestsAt(url: string, tokenNow: () => string): Pick<Platform, 'request' | 'stream'> {
  return {
    async request(method, path, body, { token = tokenNow(), headers = {}, signal } = {}) {
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
        signal: signal ?? null,
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, json: parse(text) }
    },
    async *stream(path, body, { token = tokenNow(), headers = {}, signal } = {}) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: signal ?? null,
      })
      if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`)
      const decoder = new TextDecoder()
      let rest = ''
      for await (const chunk of response.body) {
        const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (line.trim()) yield JSON.parse(line)
      }
    },
  }
}

/** The same variables as with `roost up`, which passes the scheduler and the MCP server only what they read. */
function besideEnvironment(file: string, env: Record<string, string>): Promise<NodeJS.ProcessEnv> {
  const limited: Record<string, LimitedProcess> = {
    'server/src/start/scheduler.ts': 'scheduler',
    'mcp/src/start.ts': 'mcp',
  }
  const name = limited[file]
  return name ? processEnvironment(name, env) : Promise.resolve(env)
}

/** Containers and volumes carry the installation id, so its prefix identifies them. */
async function nameInstallation(dataDir: string, prefix: string): Promise<void> {
  const random = () => randomBytes(32).toString('hex')
  await writeFile(join(dataDir, 'install-id'), prefix + random().slice(0, 16))
  // A data folder with an id but without its key is refused.
  await writeFile(join(dataDir, 'encryption.key'), random(), { mode: 0o600 })
}

/** Forty random ports, to avoid those of another test platform: an agent keeps its port. */
function sshPorts(): string {
  const first = 23_000 + 40 * randomInt(200)
  return `${first}-${first + 39}`
}

/** Resolves when a process reports that it is ready, with its address. */
function ready(started: ChildProcess, output: () => string): Promise<string> {
  return new Promise((done, refuse) => {
    started.on('message', (message: { type?: string; reason?: string; url?: string }) => {
      if (message.type === 'ready') done(message.url ?? '')
      if (message.type === 'fatal') refuse(new Error(message.reason))
    })
    started.once('exit', (code) =>
      refuse(new Error(`a process ended with ${code} before it was ready:\n${output().slice(-4000)}`)),
    )
  })
}

async function end(running: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null) return
  const ended = new Promise((done) => running.once('exit', done))
  running.kill(signal)
  // A process that does not end would also keep the test process alive.
  const timer = setTimeout(() => {
    console.error(`process ${running.pid} did not end within a minute of ${signal}`)
    running.kill('SIGKILL')
  }, 60_000)
  await ended
  clearTimeout(timer)
}

export async function signIn(platform: Pick<Platform, 'url'>): Promise<string> {
  const response = await fetch(`${platform.url}/api/token`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'admin', password: adminPassword }),
  })
  const body = (await response.json()) as { access_token: string }
  return body.access_token
}

/** The text of a response, from its stream objects. */
export function answerText(objects: StreamObject[]): string {
  return objects
    .filter((object) => object.type === 'assistant')
    .flatMap((object) => object.message.content)
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('')
}

export async function collect(stream: AsyncIterable<StreamObject>): Promise<StreamObject[]> {
  const objects: StreamObject[] = []
  for await (const object of stream) objects.push(object)
  return objects
}

/**
 * Polls until `accept` returns true. The limit is generous: on a loaded machine, runs that wait for each other take
 * more than a minute.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  accept: (value: T) => boolean,
  timeoutMs = 120_000,
  pauseMs = 100,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const value = await ask()
    if (accept(value)) return value
    if (Date.now() > deadline)
      throw new Error(`not reached in ${timeoutMs} ms: ${JSON.stringify(value).slice(0, 2000)}`)
    await new Promise((done) => setTimeout(done, pauseMs))
  }
}

/** Rejects after two minutes, so that something that never comes is named. */
export function inTime<T>(coming: Promise<T>, what: string): Promise<T> {
  const late = once(AbortSignal.timeout(120_000), 'abort').then(() => {
    throw new Error(`${what}: not within two minutes`)
  })
  return Promise.race([coming, late])
}

/** Unused ports outside the ephemeral range: a free port within it may be assigned to a connection at any moment. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>()
  while (found.size < count) {
    const port = randomInt(10_000, 22_000)
    if (await isFree(port)) found.add(port)
  }
  return [...found]
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((done) => {
    server.once('error', () => done(false))
    server.listen(port, () => server.close(() => done(true)))
  })
}

function parse(text: string): Loose {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
