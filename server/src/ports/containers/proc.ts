import { readdir, readFile } from 'node:fs/promises'

/**
 * Returns the start time of a process in clock ticks since boot, or null. Together with the pid it identifies
 * a process: pids are reused, the pair is not.
 */
export async function processStartTicks(pid: number): Promise<number | null> {
  const fields = await statFields(pid)
  // A zombie has ended but was not reaped yet.
  return fields && fields.state !== 'Z' && fields.state !== 'X' ? fields.startTicks : null
}

export type StatFields = { state: string; cpuTicks: number; startTicks: number; rssPages: number }

/** The required fields of /proc/<pid>/stat; `cpuTicks` includes reaped children. */
export async function statFields(pid: number): Promise<StatFields | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return text === null ? null : parseStat(text)
}

export function parseStat(text: string): StatFields {
  // The command's name may contain spaces and brackets, so fields are counted after the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index] ?? 0)
  return {
    state: fields[0] ?? '?',
    cpuTicks: number(11) + number(12) + number(13) + number(14),
    startTicks: number(19),
    rssPages: number(21),
  }
}

/** Bytes received and sent in the network namespace of `pid`, without loopback. */
export async function networkBytes(pid: number): Promise<{ received: number; sent: number } | null> {
  const text = await readFile(`/proc/${pid}/net/dev`, 'utf8').catch(() => null)
  if (text === null) return null
  const sums = { received: 0, sent: 0 }
  let interfaces = 0
  for (const line of text.split('\n')) {
    const [name, counters] = line.split(':')
    if (counters === undefined || name?.trim() === 'lo') continue
    const fields = counters.trim().split(/\s+/)
    sums.received += Number(fields[0] ?? 0)
    sums.sent += Number(fields[8] ?? 0)
    interfaces += 1
  }
  return interfaces === 0 ? null : sums
}

/** Counts the threads of a user's processes in this process namespace. */
export async function threadsOf(uid: number): Promise<number> {
  const owned = new RegExp(`^Uid:\\s+${uid}\\s`, 'm')
  let count = 0
  for (const entry of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const status = await readFile(`/proc/${entry}/status`, 'utf8').catch(() => '')
    if (owned.test(status)) count += Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0)
  }
  return count
}
