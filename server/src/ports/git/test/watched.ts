import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import type { FetchReply, FetchRequest } from './fetcher.ts'

/** Resources of a fetch: this process and all git processes together. */
export type Usage = { bytes: number; seconds: number }

/** Starts a process that fetches while its resources are measured. */
export async function startWatched() {
  const child = fork(new URL('./fetcher.ts', import.meta.url))
  await once(child, 'spawn')
  const pid = child.pid ?? 0

  async function ask(request: FetchRequest): Promise<FetchReply> {
    const [[reply]] = await Promise.all([once(child, 'message'), Promise.resolve(child.send(request))])
    // The process sends nothing else.
    return reply as FetchReply
  }

  return {
    async fetch(request: FetchRequest): Promise<FetchReply & Usage> {
      const before = (await sample(pid))?.now ?? 0
      const usage: Usage = { bytes: 0, seconds: 0 }
      const seconds = new Map<number, number>()
      let hasEnded = false
      const watching = (async () => {
        while (!hasEnded) {
          const [own, children] = await Promise.all([sample(pid), descendants(pid)])
          const growth = Math.max(0, (own?.now ?? 0) - before)
          usage.bytes = Math.max(
            usage.bytes,
            children.reduce((sum, { peak }) => sum + peak, growth),
          )
          for (const each of children) seconds.set(each.pid, each.seconds)
          await new Promise((done) => setTimeout(done, 5))
        }
      })()
      const reply = await ask(request).finally(() => {
        hasEnded = true
      })
      await watching
      return { ...reply, ...usage, seconds: [...seconds.values()].reduce((sum, each) => sum + each, 0) }
    },
    async [Symbol.asyncDispose]() {
      child.disconnect()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

async function sample(pid: number) {
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

/** Returns all running descendants of the process. */
async function descendants(pid: number): Promise<NonNullable<Awaited<ReturnType<typeof sample>>>[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'latin1').catch(() => '')),
  )
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
  const found = await Promise.all(
    children.map(async (child) => [await sample(child), ...(await descendants(child))]),
  )
  return found.flat().filter((each) => each !== null)
}
