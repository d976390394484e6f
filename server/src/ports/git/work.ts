import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** How often a git at work is looked at; what it does between two looks it has done. */
const lookMs = 50
/** What Linux tells times in, on every machine. */
const ticksPerSecond = 100

/**
 * Looks at the processor time of a program and all that it started until it is stopped, and calls `onTooMuch`
 * once when that is more than `allowedSeconds` answers. Where the system does not tell (other than Linux), nothing
 * is watched: the bound of the call's time holds all the same.
 */
export function watchWork(pid: number, allowedSeconds: () => Promise<number>, onTooMuch: () => void) {
  let timer: NodeJS.Timeout | null = null
  let isStopped = false
  async function look(): Promise<void> {
    const [used, allowed] = await Promise.all([secondsOf(pid), allowedSeconds()])
    if (isStopped) return
    if (used > allowed) return onTooMuch()
    timer = setTimeout(() => void look(), lookMs)
  }
  timer = setTimeout(() => void look(), lookMs)
  return {
    stop() {
      isStopped = true
      if (timer) clearTimeout(timer)
    },
  }
}

/** Of the process, of what it waited for, and of what still runs below it. */
async function secondsOf(pid: number): Promise<number> {
  const own = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null)
  if (own === null) return 0
  // The name in brackets may hold anything; times stand after it: own, system, and both of ended children.
  const times = own
    .slice(own.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
  const below = await Promise.all((await childrenOf(pid)).map(secondsOf))
  return [...times.map((time) => Number(time) / ticksPerSecond), ...below].reduce(
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

/** Bytes of the largest pack that is being received into the cache. */
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
