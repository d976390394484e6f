import { readdir, readFile } from 'node:fs/promises'

/** Totals since the start of the processes, as counted by Linux. */
export type Cost = {
  /** Processor time in milliseconds, in user and kernel mode. */
  apiMs: number
  databaseMs: number
  /** System calls of the API that write. */
  writes: number
  statements: number
  transactions: number
}

/** Duration of a tick in `/proc`. */
const tickMs = 10

export async function costsOf(of: {
  apiPid: number
  /** Identifies its connections. */
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

/** Processor time of a process in milliseconds, in user and kernel mode; 0 after its end. */
export async function processorMs(pid: number): Promise<number> {
  // A process that has ended in the meantime adds nothing.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tickMs
}

/** How often the main thread of a process was given a processor; 0 after its end. */
export async function wakesOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '')
  return Number(stat.split(' ')[2] ?? 0)
}

/** Processor time of PostgreSQL's processes for a database. */
export async function backendsMs(database: string): Promise<number> {
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
