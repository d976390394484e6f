import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Interval of measurements; work between two of them is not prevented. */
const sampleMs = 50
/** Clock ticks per second, the same on every Linux. */
const ticksPerSecond = 100

/**
 * Measures the processor time of a program and its children. Calls `onTooMuch` once when it exceeds
 * `allowedSeconds`. Works only on Linux; elsewhere only the call's time limit applies.
 */
export function watchWork(pid: number, allowedSeconds: () => Promise<number>, onTooMuch: () => void) {
  let timer: NodeJS.Timeout | null = null
  let isStopped = false
  async function sample(): Promise<void> {
    const [used, allowed] = await Promise.all([secondsOf(pid), allowedSeconds()])
    if (isStopped) return
    if (used > allowed) return onTooMuch()
    timer = setTimeout(() => void sample(), sampleMs)
  }
  timer = setTimeout(() => void sample(), sampleMs)
  return {
    stop() {
      isStopped = true
      if (timer) clearTimeout(timer)
    },
  }
}

/** Sums the process, its reaped children and its running descendants. */
async function secondsOf(pid: number): Promise<number> {
  const own = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null)
  if (own === null) return 0
  // The name in brackets may contain anything; the times after it are own, system, and both of reaped
  // children.
  const times = own
    .slice(own.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
  const descendants = await Promise.all((await childrenOf(pid)).map(secondsOf))
  return [...times.map((time) => Number(time) / ticksPerSecond), ...descendants].reduce(
    (sum, each) => sum + each,
    0,
  )
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'latin1').catch(() => '')),
  )
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

/** Size of the largest pack being received into the cache. */
export async function arrivingBytes(cache: string): Promise<number> {
  const arriving = await arrivingPacks(cache)
  const sizes = await Promise.all(
    arriving.map((file) =>
      stat(file).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return Math.max(0, ...sizes)
}

export async function arrivingPacks(cache: string): Promise<string[]> {
  const folder = join(cache, 'objects', 'pack')
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => name.startsWith('tmp_')).map((name) => join(folder, name))
}
