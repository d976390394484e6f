import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A private container engine, whose daemon may be killed without affecting the machine's own engine. */
export type Engine = {
  /** Value of `ROOST_CONTAINERS_URL`. */
  url: string
  /** Arguments for the `docker` client. */
  clientArguments: string[]
  restart(signal: 'SIGKILL' | 'SIGTERM', awayMs: number): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The shell stays alive: the first process of a namespace must reap the others. */
const prepare =
  'ip link set lo up && mkdir -p /run/docker && mount -t tmpfs tmpfs /run/docker && "$@"; exit $?'

/**
 * Starts a process in separate network, mount and process namespaces. A second daemon on the network of the first would
 * remove its bridge and firewall rules. All processes of the daemon end with the namespace. Requires root.
 */
export const apart = [
  ...['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
  ...['sh', '-c', prepare, 'sh'],
]

/** Builds the images beforehand, because the namespace has no outside network. */
export async function buildImages(): Promise<void> {
  await execute(process.execPath, [join(import.meta.dirname, '../../server/src/start/images.ts')])
}

/**
 * Starts the engine; requires root, `dockerd` and a process started with `apart`. Copies the images of agents from the
 * machine's own engine.
 */
export async function openEngine(): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), 'engine-'))
  const socket = `unix://${folder}/docker.sock`
  const clientArguments = ['-H', socket]
  const client = (...args: string[]) => execute('docker', [...clientArguments, ...args])
  const log = await open(join(folder, 'dockerd.log'), 'a')
  let daemon: ChildProcess | null = null

  async function start(): Promise<void> {
    await rm(join(folder, 'docker.pid'), { force: true })
    const places = ['data-root', 'exec-root'].flatMap((name) => [`--${name}`, join(folder, name)])
    const args = ['-H', socket, '--pidfile', join(folder, 'docker.pid'), ...places]
    daemon = spawn('dockerd', args, { stdio: ['ignore', log.fd, log.fd] })
    for (let attempt = 0; attempt < 240; attempt += 1) {
      if (
        await client('version').then(
          () => true,
          () => false,
        )
      )
        return
      await pause(250)
    }
    throw new Error(`The engine's daemon does not respond; see ${folder}/dockerd.log.`)
  }
  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const running = daemon
    daemon = null
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const ended = new Promise((done) => running.once('exit', done))
    running.kill(signal)
    await ended
  }

  async function close(): Promise<void> {
    await end('SIGTERM')
    await log.close()
  }

  try {
    await start()
    await copyImages(clientArguments)
  } catch (error) {
    await close()
    throw error
  }

  return {
    url: `docker://${folder}/docker.sock`,
    clientArguments,
    async restart(signal, awayMs) {
      await end(signal)
      await pause(awayMs)
      await start()
    },
    [Symbol.asyncDispose]: close,
  }
}

/** Copies the images of agents and their base images; building them again would take minutes. */
async function copyImages(clientArguments: string[]): Promise<void> {
  const { stdout } = await execute('docker', ['images', '--format', '{{.Repository}}:{{.Tag}}'])
  const images = stdout.split('\n').filter((name) => /^roost-agent/.test(name))
  const script = 'docker save "$@" | docker -H "$ENGINE" load'
  await execute('sh', ['-c', script, 'sh', ...images], {
    env: { ...process.env, ENGINE: clientArguments[1] },
    maxBuffer: 64 * 1024 * 1024,
  })
}
