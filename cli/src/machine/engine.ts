import { spawn } from 'node:child_process'
import { access, mkdir, open, readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Apt } from './apt.ts'
import { askEngine, engineAddress } from './engine-client.ts'
import { hasProgram, run } from './run.ts'

/** What must be done so that agents can run on this machine. Making the plan changes nothing. */
export type EnginePlan =
  | { type: 'ready'; description: string }
  | { type: 'start' }
  | { type: 'install' }
  | { type: 'sandbox'; reason: string; isInstalled: boolean }
  | { type: 'impossible'; reason: string }

export type EngineRequest = {
  /** `ROOST_CONTAINERS_URL`; null when it is not set, which accepts any engine that works. */
  url: string | null
  apt: Apt | null
  env: NodeJS.ProcessEnv
}

/** Chooses a responding engine, one to start, one to install, else the sandbox. */
export async function planEngine({ url, apt, env }: EngineRequest): Promise<EnginePlan> {
  const target = url ?? 'docker:'
  if (!target.startsWith('docker:')) {
    return target.startsWith('sandbox:')
      ? sandbox(apt, 'ROOST_CONTAINERS_URL selects it')
      : configured(target)
  }
  const address = engineAddress(target, env)
  if (!address) return configured(target)
  const reply = await askEngine(address)
  if (reply.type === 'responding') {
    return { type: 'ready', description: `${reply.name} ${reply.version} answers` }
  }
  const isDefault = 'socketPath' in address && address.socketPath === '/var/run/docker.sock'
  const reason =
    reply.type === 'denied'
      ? `this user may not use the engine at ${reply.socketPath} (join the group docker, or run as root)`
      : `no container engine answers (${reply.reason})`
  if (reply.type === 'unresponsive' && isDefault && process.getuid?.() === 0) {
    if (await hasProgram('dockerd')) return { type: 'start' }
    if (apt) return { type: 'install' }
  }
  // An explicitly configured engine is never replaced by a weaker sandbox without the owner's consent.
  return url === null ? sandbox(apt, reason) : { type: 'impossible', reason }
}

/** The platform validates other forms of the variable, because it knows all of them. */
function configured(url: string): EnginePlan {
  return { type: 'ready', description: `set by ROOST_CONTAINERS_URL: ${url}` }
}

async function sandbox(apt: Apt | null, reason: string): Promise<EnginePlan> {
  const isInstalled = await hasProgram('bwrap')
  if (isInstalled || apt) return { type: 'sandbox', reason, isInstalled }
  const help = (await hasProgram('apt-get'))
    ? `as root, \`apt-get install docker.io\` and \`usermod -aG docker ${userName()}\` (then sign in again), or \`apt-get install bubblewrap\` for sandboxes`
    : 'install Docker, or bubblewrap for sandboxes, with your system’s package manager'
  return { type: 'impossible', reason: `${reason}, and bubblewrap is not installed: ${help}` }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // The user id has no name, as in some containers.
    return 'USER-NAME'
  }
}

export type StartOptions = {
  onProgress: (text: string) => void
  signal?: AbortSignal
}

/**
 * Starts the installed engine: through systemd where that runs, else as a detached process that outlives this
 * command. Throws with the last lines of its log when it does not start.
 */
export async function startEngine({ onProgress, signal }: StartOptions): Promise<void> {
  const address = { socketPath: '/var/run/docker.sock' }
  if (await exists('/run/systemd/system')) {
    await run('systemctl', ['start', 'docker'], { signal, timeoutMs: 90_000 })
    if (await respondsWithin(address, 30_000, signal)) return
    throw new Error('systemctl start docker did not start the engine; see `journalctl -u docker`')
  }
  const folder = '/var/log/roost'
  await mkdir(folder, { recursive: true, mode: 0o750 })
  const logPath = join(folder, 'dockerd.log')
  const log = await open(logPath, 'a', 0o640)
  onProgress(`its log is ${logPath}`)
  const engine = spawn('dockerd', [], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    cwd: '/',
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` },
  })
  const failed = new Promise<string>((resolve) => {
    engine.once('error', (error) => resolve(error.message))
    engine.once('exit', (code) => resolve(`dockerd exited with code ${code}`))
  })
  await log.close()
  engine.unref()
  const outcome = await Promise.race([
    respondsWithin(address, 60_000, signal),
    // Another process may be starting an engine at the same time, which serves as well.
    failed.then(async (reason) => (await respondsWithin(address, 5_000, signal)) || reason),
  ])
  if (outcome === true) return
  const lastLines = (await readFile(logPath, 'utf8').catch(() => ''))
    .trimEnd()
    .split('\n')
    .slice(-5)
    .join('\n')
  throw new Error(`${outcome || 'dockerd does not answer'}; the last lines of ${logPath}:\n${lastLines}`)
}

async function respondsWithin(
  address: { socketPath: string },
  ms: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for (const deadline = Date.now() + ms; Date.now() < deadline; ) {
    signal?.throwIfAborted()
    if ((await askEngine(address)).type === 'responding') return true
    await wait(100)
  }
  return false
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
