import { spawn } from 'node:child_process'
import { access, mkdir, open, readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Apt } from './apt.ts'
import { askEngine, engineAddress } from './engine-client.ts'
import { hasProgram, run } from './run.ts'

/** What is to be done so that agents can be kept, as found on this machine; nothing has been changed yet. */
export type EnginePlan =
  | { type: 'ready'; words: string }
  | { type: 'start' }
  | { type: 'install' }
  | { type: 'sandbox'; why: string; isInstalled: boolean }
  | { type: 'impossible'; why: string }

export type EngineWish = {
  /** `ROOST_CONTAINERS_URL` as it was set; null when it was not, and then anything that works will do. */
  url: string | null
  apt: Apt | null
  env: NodeJS.ProcessEnv
}

/** Looks, and decides: the engine that answers, one to start, one to install, else the sandbox. */
export async function planEngine({ url, apt, env }: EngineWish): Promise<EnginePlan> {
  const wanted = url ?? 'docker:'
  if (!wanted.startsWith('docker:')) {
    return wanted.startsWith('sandbox:') ? sandbox(apt, 'ROOST_CONTAINERS_URL asks for it') : asIs(wanted)
  }
  const address = engineAddress(wanted, env)
  if (!address) return asIs(wanted)
  const answer = await askEngine(address)
  if (answer.type === 'answers') {
    return { type: 'ready', words: `${answer.name} ${answer.version} answers` }
  }
  const isDefault = 'socketPath' in address && address.socketPath === '/var/run/docker.sock'
  const why =
    answer.type === 'denied'
      ? `this user may not use the engine at ${answer.socketPath} (join the group docker, or run as root)`
      : `no container engine answers (${answer.why})`
  if (answer.type === 'silent' && isDefault && process.getuid?.() === 0) {
    if (await hasProgram('dockerd')) return { type: 'start' }
    if (apt) return { type: 'install' }
  }
  // An engine that was asked for by name is not replaced by something weaker behind its owner's back.
  return url === null ? sandbox(apt, why) : { type: 'impossible', why }
}

/** What another form of the variable means is for the platform to say; it knows them all. */
function asIs(url: string): EnginePlan {
  return { type: 'ready', words: `as ROOST_CONTAINERS_URL says: ${url}` }
}

async function sandbox(apt: Apt | null, why: string): Promise<EnginePlan> {
  const isInstalled = await hasProgram('bwrap')
  if (isInstalled || apt) return { type: 'sandbox', why, isInstalled }
  const help = (await hasProgram('apt-get'))
    ? `as root, \`apt-get install docker.io\` and \`usermod -aG docker ${userName()}\` (then sign in again), or \`apt-get install bubblewrap\` for sandboxes`
    : 'install Docker, or bubblewrap for sandboxes, with your system’s package manager'
  return { type: 'impossible', why: `${why}, and there is no bubblewrap: ${help}` }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A number without a name, as in some containers.
    return 'NAME-OF-THE-USER'
  }
}

export type StartOptions = {
  onProgress: (text: string) => void
  signal?: AbortSignal
}

/**
 * Starts the engine that is installed: by systemd where that runs, else as a process of its own, which stays
 * when this command ends. Throws with the engine's last words when it does not come up.
 */
export async function startEngine({ onProgress, signal }: StartOptions): Promise<void> {
  const address = { socketPath: '/var/run/docker.sock' }
  if (await isThere('/run/systemd/system')) {
    await run('systemctl', ['start', 'docker'], { signal, timeoutMs: 90_000 })
    if (await answersWithin(address, 30_000, signal)) return
    throw new Error('systemctl start docker did not bring the engine up; `journalctl -u docker` says why')
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
    engine.once('exit', (code) => resolve(`dockerd ended with code ${code}`))
  })
  await log.close()
  engine.unref()
  const outcome = await Promise.race([
    answersWithin(address, 60_000, signal),
    // Somebody else may be starting one at this moment: theirs is as good.
    failed.then(async (why) => (await answersWithin(address, 5_000, signal)) || why),
  ])
  if (outcome === true) return
  const words = (await readFile(logPath, 'utf8').catch(() => '')).trimEnd().split('\n').slice(-5).join('\n')
  throw new Error(`${outcome || 'dockerd does not answer'}; the last lines of ${logPath}:\n${words}`)
}

async function answersWithin(
  address: { socketPath: string },
  ms: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for (const deadline = Date.now() + ms; Date.now() < deadline; ) {
    signal?.throwIfAborted()
    if ((await askEngine(address)).type === 'answers') return true
    await wait(100)
  }
  return false
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
