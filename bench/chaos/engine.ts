import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A container engine of our own, beside the machine's: its daemon may be killed without harm to anybody. */
export type Engine = {
  /** As `ROOST_CONTAINERS_URL` names it. */
  url: string
  /** For the engine's client. */
  clientArguments: string[]
  restart(signal: 'SIGKILL' | 'SIGTERM', awayMs: number): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Set in the process that has a network of its own. */
const apartVariable = 'ROOST_CHAOS_APART'

/**
 * A second daemon on the network of the first would take its bridge and its firewall rules away. So this
 * program is started once more with a network and mounts of its own, in which everything lives: daemon,
 * agents, platform. Null: it is that process already; otherwise the exit code of the other one. Needs root.
 */
export async function runApart(): Promise<number | null> {
  if (process.env[apartVariable]) return null
  // Nothing can be fetched from in there.
  await execute(process.execPath, [join(import.meta.dirname, '../../server/src/start/images.ts')])
  const script = 'ip link set lo up && mkdir -p /run/docker && mount -t tmpfs tmpfs /run/docker && exec "$@"'
  const command = [process.execPath, ...process.argv.slice(1)]
  const child = spawn('unshare', ['--net', '--mount', 'sh', '-c', script, 'sh', ...command], {
    stdio: 'inherit',
    env: { ...process.env, [apartVariable]: '1' },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/** Needs root and `dockerd`, and `runApart` before. The images of agents are copied from the machine's own engine. */
export async function openEngine(): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-chaos-engine-'))
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
    throw new Error(`The engine's daemon does not answer; see ${folder}/dockerd.log.`)
  }
  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const running = daemon
    daemon = null
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const ended = new Promise((done) => running.once('exit', done))
    running.kill(signal)
    await ended
  }

  await start()
  await copyImages(clientArguments)

  return {
    url: `docker://${folder}/docker.sock`,
    clientArguments,
    async restart(signal, awayMs) {
      await end(signal)
      await pause(awayMs)
      await start()
    },
    async [Symbol.asyncDispose]() {
      const { stdout } = await client('ps', '-aq')
      const left = stdout.split('\n').filter(Boolean)
      if (left.length > 0) await client('rm', '-f', ...left)
      await end('SIGTERM')
      await log.close()
      await unmountBelow(folder)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A daemon that was killed leaves its mounts behind. */
async function unmountBelow(folder: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
  const inside = mounts.filter((path) => path.startsWith(`${folder}/`))
  // The innermost first.
  for (const path of inside.reverse()) await execute('umount', ['-l', path]).catch(() => {})
}

/** Every image of agents and what they are built from: building them again would take minutes. */
async function copyImages(clientArguments: string[]): Promise<void> {
  const { stdout } = await execute('docker', ['images', '--format', '{{.Repository}}:{{.Tag}}'])
  const images = stdout.split('\n').filter((name) => /^roost-agent/.test(name))
  const script = 'docker save "$@" | docker -H "$ENGINE" load'
  await execute('sh', ['-c', script, 'sh', ...images], {
    env: { ...process.env, ENGINE: clientArguments[1] },
    maxBuffer: 64 * 1024 * 1024,
  })
}
