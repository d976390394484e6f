/** Roost as `docker-compose` runs it from the files of a release, with agents against the scripted model server. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { appendFile, chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { startModelServer } from '@roost/test-support/model/index'
import { buildRecord } from '../../server/src/operations/version/index.ts'
import { ensureBackupServiceImage } from '../../server/src/ports/agent-images/docker/backup-service-image.ts'
import { findPlatformImage } from '../../server/src/ports/agent-images/docker/platform-image.ts'
import { openAgentImages } from '../../server/src/ports/agent-images/open.ts'
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
const backupPassphrase = 'correct horse battery'
const root = resolve(import.meta.dirname, '../..')

async function docker(...args: string[]): Promise<string> {
  return (await run('docker', args)).stdout.trim()
}

export type Stack = Pick<Platform, 'url' | 'token' | 'request' | 'model'> & {
  folder: string
  /** Prefix of the names of agents' containers. */
  prefix: string
  /** Runs `docker-compose` in the folder and returns its output; rejects with both outputs. */
  compose(...args: string[]): Promise<string>
  /** Runs the service `backup` and returns its output. */
  backup(...args: string[]): Promise<string>
  /** Adds a line to `.env`. */
  set(name: string, value: string): Promise<void>
  /** Removes the services with their data, and all that the installation created on the engine. */
  loseMachine(): Promise<void>
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
  const images = await buildImages()
  const folder = await mkdtemp(join(tmpdir(), 'roost-compose-'))
  await copyFile(join(root, file), join(folder, 'compose.yaml'))
  const backups = join(folder, 'backups')
  await mkdir(backups)
  // For the image's user, which has no name here.
  await chmod(backups, 0o777)
  const model = await startModelServer({})
  const ports = await freePorts(8)
  const [port = 0, internalPort = 0, mcpPort = 0, ...others] = ports
  const id = randomBytes(4).toString('hex')
  const project = `roost-test-${id}`
  const firstSsh = 23_000 + 40 * randomInt(200)
  const prefix = `qa-${id}-`
  // A prefix marks what the test run removes if it is killed.
  const mark = process.env.ROOST_TEST_INSTALL_PREFIX
  const env: Record<string, string> = {
    COMPOSE_PROJECT_NAME: project,
    ROOST_PLATFORM_IMAGE: images.platform,
    ROOST_BACKUP_IMAGE: images.backup,
    ROOST_BACKUP_FOLDER: backups,
    ROOST_BACKUP_PASSPHRASE: backupPassphrase,
    ROOST_PORT: String(port),
    // The replicas cannot derive it from their own ports.
    ...(file === 'compose.scale.yaml' ? { ROOST_BASE_URL: `http://localhost:${port}` } : {}),
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
    }).catch((error: Loose) => {
      throw new Error(`docker-compose ${args.join(' ')}: ${error.stdout}${error.stderr}`)
    })
    return stdout.trim()
  }
  /** Much faster than `docker-compose ps`. */
  const containersOf = async (...services: string[]) => {
    const format = '{{.ID}} {{.Label "com.docker.compose.service"}}'
    const filter = `label=com.docker.compose.project=${project}`
    const lines = (await docker('ps', '-a', '--no-trunc', '--filter', filter, '--format', format)).split('\n')
    return lines
      .map((line) => line.split(' '))
      .filter(([, service = '']) => services.length === 0 || services.includes(service))
      .map(([id = '']) => id)
  }
  let install = ''
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
    containerOf: async (service) => (await containersOf(service))[0] ?? assert.fail(`no ${service}`),
    backup: (...args) => compose('run', '--rm', '-T', 'backup', ...args),
    set: (name, value) => appendFile(join(folder, '.env'), `${name}=${value}\n`),
    async untilHealthy(...services) {
      const ids = await containersOf(...services)
      await eventually(
        async () => (await inspect(...ids)).map(({ Name, State }) => [Name, State.Health.Status]),
        (states) => states.every(([, status]) => status === 'healthy'),
        // Replicas start one after the other, the first one with all migrations.
        300_000,
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
    async loseMachine() {
      await compose('down', '-v', '--remove-orphans', '-t', '30')
      if (install === '') return
      const marked = ['--filter', `label=roost.install=${install}`]
      const remove = async (list: string[], command: string[]) => {
        const found = (await docker(...list, ...marked)).split('\n').filter(Boolean)
        if (found.length > 0) await docker(...command, ...found)
      }
      await remove(['ps', '-aq'], ['rm', '-f', '-v'])
      await remove(['volume', 'ls', '-q'], ['volume', 'rm'])
      await remove(['network', 'ls', '-q'], ['network', 'rm'])
    },
    async close() {
      try {
        await stack.loseMachine()
      } finally {
        await model.close()
        await run('docker', ['rmi', images.platform, images.backup])
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
  try {
    await compose('up', '-d')
    await stack.untilHealthy()
    install = await docker('exec', await stack.containerOf('engine-filter'), 'cat', '/run/roost/install-id')
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

/** Builds the images of this source and gives them names of their own, which no other process changes. */
export async function buildImages(): Promise<{ platform: string; backup: string }> {
  const docker = connect('docker:')
  const record = await buildRecord(root)
  const options = { docker, root, record, onProgress: () => {}, env: process.env }
  const backup = await ensureBackupServiceImage(options)
  // Behind the engine filter the API cannot build it.
  const agents = await openAgentImages('docker:', {
    connect,
    agentImage: null,
    dataDir: '',
    env: process.env,
  })
  await agents.ensure('claude-code', () => {})
  const platform = await findPlatformImage(options)
  const tag = randomBytes(4).toString('hex')
  const named = { platform: `roost-test-compose:${tag}`, backup: `roost-test-compose-backup:${tag}` }
  await run('docker', ['tag', platform.image, named.platform])
  await run('docker', ['tag', backup.image, named.backup])
  return named
}

function parse(text: string): Loose {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
