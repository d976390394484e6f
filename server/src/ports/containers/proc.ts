import { readdir, readFile } from 'node:fs/promises'

/**
 * When a process started, in clock ticks since boot, null when there is no such process. With the pid it
 * names a process for good: pids are used again, the pair is not.
 */
export async function processStartTicks(pid: number): Promise<number | null> {
  const fields = await statFields(pid)
  // A zombie has ended; only its parent has not looked yet.
  return fields && fields.state !== 'Z' && fields.state !== 'X' ? fields.startTicks : null
}

export type StatFields = { state: string; cpuTicks: number; startTicks: number; rssPages: number }

/** The parts of /proc/<pid>/stat that are of use here; `cpuTicks` includes children that were waited for. */
export async function statFields(pid: number): Promise<StatFields | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return text === null ? null : parseStat(text)
}

export function parseStat(text: string): StatFields {
  // The command's name may hold spaces and brackets: fields are counted after its last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index] ?? 0)
  return {
    state: fields[0] ?? '?',
    cpuTicks: number(11) + number(12) + number(13) + number(14),
    startTicks: number(19),
    rssPages: number(21),
  }
}

/** Bytes received and sent over all interfaces but loopback in the network namespace of `pid`. */
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

/** How many threads run as a user, over all processes of this process namespace. */
export async function threadsOf(uid: number): Promise<number> {
  const owned = new RegExp(`^Uid:\\s+${uid}\\s`, 'm')
  let count = 0
  for (const entry of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const status = await readFile(`/proc/${entry}/status`, 'utf8').catch(() => '')
    if (owned.test(status)) count += Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0)
  }
  return count
}
