/**
 * A real agent container between two people, without the server: the test is the platform at the other end of
 * the link, and the CLI talks to the model stand-in.
 */
import { randomUUID } from 'node:crypto'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { resolve } from 'node:path'
import type { Principal, Run } from '@roost/contracts/link/runs'
import { startModelServer } from '@roost/test-support/model/index'
import type Docker from 'dockerode'
import { startTestBroker } from '../../agent/src/test/broker.ts'
import { startTestMcp } from '../../agent/src/test/mcp.ts'
import { aRun, startTestPlatform, type TestPlatform } from '../../agent/src/test/platform.ts'
import { createDockerAgentImages } from '../../server/src/ports/agent-images/docker/docker.ts'
import type { agentRuntimes } from '../../server/src/ports/agent-images/port.ts'
import { connect } from '../../server/src/ports/containers/docker/connect.ts'
import { createOptions } from '../../server/src/ports/containers/docker/spec.ts'

export type Scene = {
  platform: TestPlatform
  container: Docker.Container
  /** Runs a shell command as a tool of this principal's turn. Returns the final text of the CLI. */
  turn(principal: Principal, script: string, overrides?: Partial<Run>): Promise<string>
  result(principal: Principal, message: string, overrides?: Partial<Run>): ReturnType<TestPlatform['result']>
  /** Bodies of the requests to the model server, oldest first. */
  modelRequests: readonly string[]
  /** Model and broker of a run. */
  runDefaults(token: string): Pick<Run, 'model' | 'broker' | 'timeout_seconds'>
  /** Runs a shell command beside the turns, as `user`, with the capabilities of a container. */
  inside(script: string, user?: string): Promise<string>
  [Symbol.asyncDispose](): Promise<void>
}

export const owner: Principal = { id: 'user:owner', access: 'owner', credentials: true }
export const writer: Principal = { id: 'user:writer', access: 'write', credentials: true }
export const visitor: Principal = { id: 'visitor:one', access: 'read', credentials: false }
export const otherVisitor: Principal = { id: 'visitor:two', access: 'read', credentials: false }
export const hidden: Principal = { id: 'visitor:three', access: 'none', credentials: false }

const root = resolve(import.meta.dirname, '../..')
const docker = connect(process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:')
const models: Record<string, string | null> = {
  'claude-code': null,
  'gemini-cli': 'gemini-2.5-pro',
  codex: null,
}

export async function openTwoPeople(runtime: (typeof agentRuntimes)[number]): Promise<Scene> {
  await using opened = new AsyncDisposableStack()
  const images = await createDockerAgentImages({ docker, root, env: process.env })
  await images.ensure(runtime, () => {})
  const model = opened.use(await startModelServer())
  const broker = opened.use(await startTestBroker(model.url))
  const platform = await startTestPlatform()
  opened.defer(() => platform.close())
  const host = await gatewayOf()
  const [linkPort, brokerPort] = [
    opened.use(await relay(host, platform.url)),
    opened.use(await relay(host, broker.url)),
  ]
  const mcp = opened.use(await startTestMcp())
  const mcpPort = opened.use(await relay(host, mcp.url))
  const names = ['workspace', 'private'].map(
    (kind) => `roost-attack-${process.pid}-${randomUUID().slice(0, 8)}-${kind}`,
  )
  const [workspace = '', secret = ''] = names
  const container = await docker.createContainer(
    createOptions(
      {
        name: 'unused',
        image: images.tagFor(runtime).image,
        labels: {},
        env: {
          AGENT_NAME: 'shared',
          AGENT_RUNTIME: runtime,
          ROOST_AGENT_KEY: platform.key,
          ROOST_LINK_URL: `ws://${host}:${linkPort.port}/link`,
          ROOST_MCP_URL: `http://${host}:${mcpPort.port}/mcp`,
          TMPDIR: '/home/developer/.tmp',
        },
        cpus: 2,
        memoryBytes: 2 * 1024 ** 3,
        maxProcesses: 512,
        tmpBytes: 64 * 1024 ** 2,
        fullCapabilities: false,
        mounts: [
          { type: 'volume', volume: workspace, target: '/home/developer' },
          { type: 'volume', volume: secret, target: '/var/lib/roost' },
        ],
        ssh: null,
      },
      'attacks',
      'bridge',
      { cpus: 2, ulimits: [], canSeparate: true, canLayer: true },
    ),
  )
  opened.defer(async () => {
    await container.remove({ force: true, v: true })
    for (const name of names) await docker.getVolume(name).remove()
  })
  await container.start()
  await platform.until(() => platform.hellos[0], 'the agent')
  const close = opened.move()

  const runDefaults: Scene['runDefaults'] = (token) => ({
    model: models[runtime] ?? null,
    broker: { url: `http://${host}:${brokerPort.port}${new URL(broker.url).pathname}`, token },
    timeout_seconds: 90,
  })
  const result: Scene['result'] = (principal, message, overrides = {}) => {
    const run = aRun({
      message,
      principal,
      ...runDefaults('rbk_token-of-the-run'),
      ...overrides,
    })
    platform.enqueue(run)
    return platform.result(run.execution_id)
  }
  return {
    platform,
    container,
    result,
    modelRequests: broker.bodies,
    runDefaults,
    async turn(principal, script, overrides) {
      const ended = await result(principal, `[[tool:Bash:${script}]]`, overrides)
      return ended.response?.replace(/^tool-result: /, '') ?? `no answer: ${ended.error}`
    },
    inside: (script, user = 'root') => inside(container, script, user),
    [Symbol.asyncDispose]: () => close[Symbol.asyncDispose](),
  }
}

/** The address at which containers reach this machine. */
async function gatewayOf(): Promise<string> {
  const { IPAM } = await docker.getNetwork('bridge').inspect()
  return IPAM?.Config?.[0]?.Gateway ?? '172.17.0.1'
}

async function relay(host: string, url: string) {
  const { port } = new URL(url)
  const server = createServer((near) => {
    const far = createConnection({ host: '127.0.0.1', port: Number(port) })
    near.pipe(far).pipe(near)
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  await new Promise<void>((done) => server.listen(0, host, done))
  const own = server.address() as AddressInfo
  return { port: own.port, [Symbol.asyncDispose]: async () => void server.close() }
}

async function inside(container: Docker.Container, script: string, user: string): Promise<string> {
  const exec = await container.exec({
    Cmd: ['sh', '-c', script],
    User: user,
    AttachStdout: true,
    AttachStderr: true,
    Tty: true,
  })
  let text = ''
  for await (const chunk of await exec.start({ Tty: true })) text += chunk
  return text.replaceAll('\r\n', '\n').trim()
}
