import { readdir, readFile } from 'node:fs/promises'

/**
 * Looks at the git programs that this process has started in sessions of their own (those of a test's host are
 * in its own) until it is disposed of. What they took together: the highest memory of each, at the same time, and
 * the growth of this process; and their processor time.
 */
export function watchOwnGit() {
  const began = process.memoryUsage().rss
  let [bytes, isOver] = [0, false]
  const seconds = new Map<number, number>()
  async function look(): Promise<void> {
    const own = await ownPrograms()
    const theirs = own.reduce((sum, { peak }) => sum + peak, 0)
    bytes = Math.max(bytes, theirs + Math.max(0, process.memoryUsage().rss - began))
    for (const { pid, used } of own) seconds.set(pid, Math.max(seconds.get(pid) ?? 0, used))
  }
  const watching = (async () => {
    while (!isOver) {
      await look()
      await new Promise((done) => setTimeout(done, 5))
    }
  })()
  return {
    seen: () => ({ bytes, seconds: [...seconds.values()].reduce((sum, each) => sum + each, 0) }),
    async [Symbol.asyncDispose]() {
      isOver = true
      await watching
    },
  }
}

async function ownPrograms() {
  const below = await descendants(process.pid)
  const all = await Promise.all(below.map(look))
  return all.filter((each) => each !== null)
}

async function look(pid: number) {
  const [stat, status] = await Promise.all(
    ['stat', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => null)),
  )
  if (!stat || !status) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const session = Number(fields[3])
  if (session === (await sessionOf(process.pid))) return null
  const [, peak = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(status) ?? []
  return { pid, peak: Number(peak) * 1024, used: (Number(fields[11]) + Number(fields[12])) / 100 }
}

async function sessionOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3])
}

async function descendants(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'latin1').catch(() => '')),
  )
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
  const further = await Promise.all(children.map(descendants))
  return [...children, ...further.flat()]
}
