import { readdir, readFile } from 'node:fs/promises'

/** Since the processes began; as Linux counts it. */
export type Cost = {
  /** Milliseconds of the processor, of the program and of the kernel on its behalf. */
  apiMs: number
  databaseMs: number
  /** System calls of the API that write. */
  writes: number
  statements: number
  transactions: number
}

/** A tick of `/proc`. */
const tickMs = 10

export async function costsOf(of: {
  apiPid: number
  /** Its connections are told apart from others by its name. */
  database: string
  statements(): Promise<{ statements: number; transactions: number }>
}): Promise<Cost> {
  const [apiMs, databaseMs, writes, counted] = await Promise.all([
    processorMs(of.apiPid),
    backendsMs(of.database),
    writesOf(of.apiPid),
    of.statements(),
  ])
  return { apiMs, databaseMs, writes, ...counted }
}

async function processorMs(pid: number): Promise<number> {
  // A process that has ended meanwhile has nothing to add.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tickMs
}

async function backendsMs(database: string): Promise<number> {
  let sum = 0
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const name = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (name.startsWith(`postgres: postgres ${database} `)) sum += await processorMs(Number(pid))
  }
  return sum
}

async function writesOf(pid: number): Promise<number> {
  const io = await readFile(`/proc/${pid}/io`, 'utf8').catch(() => '')
  return Number(/syscw: (\d+)/.exec(io)?.[1] ?? 0)
}
