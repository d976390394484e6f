import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Clock } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'

export type DiskMeter = {
  /** The latest size that the platform does not have yet; null for none. */
  unsent(): number | null
  /** The platform has received this size. */
  sent(bytes: number): void
  /** Another process of the platform may answer now, which has no size yet. */
  sendAgain(): void
  close(): void
}

export type DiskMeterDeps = {
  home: string
  /** PATH of the programs. */
  path: string
  clock: Clock
  log: Log
  /** Shortest time between two measurements. */
  seconds(): number
  /** Default: runs `du`. */
  measure?: typeof measureDisk
}

/** A measurement may take at most this share of the time: a workspace can have millions of files. */
const maxShare = 1 / 20
const maxWalkMs = 30 * 60_000

/** Measures the agent's own volumes again and again, in a process of the lowest priority. */
export function createDiskMeter(deps: DiskMeterDeps): DiskMeter {
  const { home, path, clock, log, seconds, measure = measureDisk } = deps
  const stopping = new AbortController()
  let latest: number | null = null
  let isSent = true
  // At a random time, because all agents of a host may start together.
  let cancel = clock.after(clock.random() * seconds() * 1000, () => void run())

  async function run(): Promise<void> {
    const begin = clock.elapsed()
    try {
      latest = await measure({ home, path, signal: stopping.signal })
      isSent = false
    } catch (fault) {
      if (!stopping.signal.aborted) log.warn('disk usage not measured', { reason: faultText(fault) })
    }
    if (stopping.signal.aborted) return
    const took = clock.elapsed() - begin
    cancel = clock.after(Math.max(seconds() * 1000, took / maxShare), () => void run())
  }

  return {
    unsent: () => (isSent ? null : latest),
    sent(bytes) {
      if (bytes === latest) isSent = true
    },
    sendAgain() {
      isSent = latest === null
    },
    close() {
      stopping.abort()
      cancel()
    },
  }
}

/**
 * Allocated bytes below the home, without the folders of other agents mounted there. Files that this user may
 * not read are missing; the engine counts them.
 */
export async function measureDisk({
  home,
  path,
  signal,
}: {
  home: string
  path: string
  signal: AbortSignal
}): Promise<number> {
  const args = ['-n', '19', 'du', '-s', '-B1', `--exclude=${join(home, 'shared-in')}`, '--', home]
  const env = { PATH: path, LC_ALL: 'C' }
  const child = spawn('nice', args, {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    // The option `timeout` of `spawn` would leave a timer behind when the program is missing.
    signal: AbortSignal.any([signal, AbortSignal.timeout(maxWalkMs)]),
    killSignal: 'SIGKILL',
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await new Promise<void>((resolve, reject) => child.on('error', reject).on('close', () => resolve()))
  // An unreadable file ends `du` with 1, after it has printed the sum of the others.
  const bytes = /^\d+/.exec(output)?.[0]
  if (bytes === undefined) throw new Error('du printed no size')
  return Number(bytes)
}
