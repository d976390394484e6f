/** Roost as `docker-compose` runs it from the files of a release, with agents against the scripted model server. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { startModelServer } from '@roost/test-support/model/index'
import { buildRecord } from '../../server/src/operations/version/index.ts'
import { ensurePlatformImage } from '../../server/src/ports/agent-images/docker/platform-image.ts'
import { connect } from '../../server/src/ports/containers/docker/connect.ts'
import {
  adminPassword,
  canaries,
  eventually,
  freePorts,
  type Loose,
  type Platform,
  signIn,
} from '../acceptance/platform.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

async function docker(...args: string[]): Promise<string> {
  return (await run('docker', args)).stdout.trim()
}

export type Stack = Pick<Platform, 'url' | 'token' | 'request' | 'model'> & {
  folder: string
  /** Prefix of the names of agents' containers. */
  prefix: string
  /** Runs `docker-compose` in the folder and returns its output. */
  compose(...args: string[]): Promise<string>
  /** The container of a service. */
  containerOf(service: string): Promise<string>
  /** Resolves when every service, or each of these, is healthy. */
  untilHealthy(...services: string[]): Promise<void>
  close(): Promise<void>
}

export type StackOptions = {
  /** File of the repository root. */
  file: string
  /** More lines of `.env`, from the free ports. */
  settings?: (ports: number[]) => Record<string, string>
}

export async function startStack({ file, settings = () => ({}) }: StackOptions): Promise<Stack> {
  const image = await buildImage()
  const folder = await mkdtemp(join(tmpdir(), 'roost-compose-'))
  await copyFile(join(root, file), join(folder, 'compose.yaml'))
  const model = await startModelServer({})
  const ports = await freePorts(8)
  const [port = 0, internalPort = 0, mcpPort = 0, ...others] = ports
  const id = randomBytes(4).toString('hex')
  const firstSsh = 23_000 + 40 * randomInt(200)
  const prefix = `qa-${id}-`
  // A prefix marks what the test run removes if it is killed.
  const mark = process.env.ROOST_TEST_INSTALL_PREFIX
  const env: Record<string, string> = {
    COMPOSE_PROJECT_NAME: `roost-test-${id}`,
    ROOST_PLATFORM_IMAGE: image,
    ROOST_PORT: String(port),
    ROOST_INTERNAL_PORT: String(internalPort),
    ROOST_MCP_PORT: String(mcpPort),
    ROOST_CONTAINER_PREFIX: prefix,
    ROOST_SSH_PORT_RANGE: `${firstSsh}-${firstSsh + 39}`,
    ...(mark ? { ROOST_INSTALL_ID: `${mark}${id}` } : {}),
    ANTHROPIC_API_KEY: canaries.anthropic,
    ANTHROPIC_BASE_URL: model.url,
    ...settings(others),
  }
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(folder, '.env'), lines.join(''))

  const compose = async (...args: string[]) => {
    const { stdout } = await run('docker-compose', ['--no-ansi', ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
      maxBuffer: 64_000_000,
    })
    return stdout.trim()
  }
  const inspect = async (...ids: string[]) =>
    JSON.parse((await run('docker', ['inspect', ...ids])).stdout) as Loose[]
  const url = `http://127.0.0.1:${port}`
  const stack: Stack = {
    url,
    folder,
    prefix,
    model,
    token: '',
    compose,
    containerOf: (service) => compose('ps', '-q', service),
    async untilHealthy(...services) {
      const ids = (await compose('ps', '-q', ...services)).split('\n')
      await eventually(
        async () => (await inspect(...ids)).map(({ Name, State }) => [Name, State.Health.Status]),
        (states) => states.every(([, status]) => status === 'healthy'),
      )
    },
    async request(method, path, body, { token = stack.token, headers = {}, signal } = {}) {
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, json: parse(text) }
    },
    async close() {
      try {
        if (stack.token) await removeAgents(stack)
        const filter = await compose('ps', '-q', 'engine-filter')
        const id = filter && (await docker('exec', filter, 'cat', '/run/roost/install-id'))
        await compose('down', '-v', '--remove-orphans', '-t', '30')
        const networks = id && (await docker('network', 'ls', '-q', '--filter', `label=roost.install=${id}`))
        for (const network of networks.split('\n').filter(Boolean)) await docker('network', 'rm', network)
      } finally {
        await model.close()
        await run('docker', ['rmi', image])
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
  try {
    await compose('up', '-d')
    await stack.untilHealthy()
    const password = { password: adminPassword }
    assert.equal((await stack.request('POST', '/api/setup/admin-password', password)).status, 200)
    stack.token = await signIn(stack)
    return stack
  } catch (error) {
    console.error(await compose('logs', '--tail', '40').catch(String))
    await stack.close()
    throw error
  }
}

/** Builds the image of this source and gives it a name of its own, which no other process changes. */
async function buildImage(): Promise<string> {
  const docker = connect('docker:')
  const record = await buildRecord(root)
  const { image } = await ensurePlatformImage({
    docker,
    root,
    record,
    onProgress: () => {},
    env: process.env,
  })
  const own = `roost-test-compose:${randomBytes(4).toString('hex')}`
  await run('docker', ['tag', image, own])
  return own
}

async function removeAgents(stack: Pick<Stack, 'request'>): Promise<void> {
  const { json } = await stack.request('GET', '/api/agents')
  const names: string[] = json.flatMap((agent: Loose) => (agent.is_system ? [] : [agent.name]))
  for (const name of names) await stack.request('DELETE', `/api/agents/${name}`)
}

function parse(text: string): Loose {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
