import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import type { FetchAsked, FetchTold } from './fetcher.ts'

/** What a fetch has taken, of the process that asked for it and of all that git started, together. */
export type Taken = { bytes: number; seconds: number }

/** A process that fetches, and is watched while it does. */
export async function startWatched() {
  const child = fork(new URL('./fetcher.ts', import.meta.url))
  await once(child, 'spawn')
  const pid = child.pid ?? 0

  async function ask(asked: FetchAsked): Promise<FetchTold> {
    const [[told]] = await Promise.all([once(child, 'message'), Promise.resolve(child.send(asked))])
    // Nothing else is sent by it.
    return told as FetchTold
  }

  return {
    async fetch(asked: FetchAsked): Promise<FetchTold & Taken> {
      const before = (await look(pid))?.now ?? 0
      const taken: Taken = { bytes: 0, seconds: 0 }
      const seconds = new Map<number, number>()
      let isOver = false
      const watching = (async () => {
        while (!isOver) {
          const [own, theirs] = await Promise.all([look(pid), below(pid)])
          const growth = Math.max(0, (own?.now ?? 0) - before)
          taken.bytes = Math.max(
            taken.bytes,
            theirs.reduce((sum, { peak }) => sum + peak, growth),
          )
          for (const each of theirs) seconds.set(each.pid, each.seconds)
          await new Promise((done) => setTimeout(done, 5))
        }
      })()
      const told = await ask(asked).finally(() => {
        isOver = true
      })
      await watching
      return { ...told, ...taken, seconds: [...seconds.values()].reduce((sum, each) => sum + each, 0) }
    },
    async [Symbol.asyncDispose]() {
      child.disconnect()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

async function look(pid: number) {
  const [stat, status] = await Promise.all(
    ['stat', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '')),
  )
  const sizeOf = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status ?? '')?.[1])
  if (!stat || Number.isNaN(sizeOf('VmRSS'))) return null
  const [own, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return {
    pid,
    now: sizeOf('VmRSS') * 1024,
    peak: sizeOf('VmHWM') * 1024,
    seconds: (Number(own) + Number(system)) / 100,
  }
}

/** All that the process has started and that still runs. */
async function below(pid: number): Promise<NonNullable<Awaited<ReturnType<typeof look>>>[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'latin1').catch(() => '')),
  )
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
  const found = await Promise.all(children.map(async (child) => [await look(child), ...(await below(child))]))
  return found.flat().filter((each) => each !== null)
}
