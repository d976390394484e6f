import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { developerId, type Identities, type ProcessUser, principalBase } from './identity.ts'

/**
 * Kills whole process trees, including daemons that cleared their environment and detached. All descendants
 * of a run inherit its mark: a hard limit that Linux does not use and that no ordinary process can raise.
 */
export type ProcessTree = {
  /** Sends a signal to a process group. */
  signalGroup(pid: number, signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<void>
  /**
   * Kills every process of the user with the marker, including ones that appear meanwhile. Resolves when all are gone.
   */
  killMarked(marker: string): Promise<void>
  /** Kills the marked processes that no longer descend from one of `pids`, such as daemons of an ended tool. */
  killDetached(marker: string, ...pids: number[]): Promise<void>
  /** Kills every process of a principal. Does nothing for users that share their uid with logins. */
  killAll(): Promise<void>
}

/** Environment variable with the marker, for tools, and for kernels that refuse the limit. */
export const markerName = 'ROOST_EXECUTION_ID'

const pauseMs = 5
/** Scans until killed processes must be gone; one blocked on a broken disk is not awaited longer. */
const maxScans = 1000

/** Between 2^52 and 2^53: far above every limit that a program would set, and exact in JavaScript. */
export function markOf(marker: string): number {
  return 2 ** 52 + createHash('sha256').update(marker).digest().readUIntBE(0, 6)
}

/**
 * Wraps `command` to start with the mark. Under shortage it also loses before the program that reports it: the kernel
 * kills these processes first, and they get a tenth of its processor time, so that it can end hundreds of them.
 * `before` is shell code that runs first, as the same user.
 */
export function withMark(marker: string, command: string, args: string[], before = ''): [string, string[]] {
  const mark = markOf(marker)
  // dash has the option in its `ulimit`, which saves a process; other shells need prlimit.
  const script = `{ echo 500 >/proc/self/oom_score_adj
ulimit -w ${mark} || /usr/bin/prlimit --pid $$ --locks=${mark}:${mark}
/usr/bin/renice -n 10 -p $$ >&2; } 2>/dev/null
${before}
exec "$@"`
  return ['/bin/sh', ['-c', script, 'sh', command, ...args]]
}

/** Quotes a text for the shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

export function createProcessTree(user: ProcessUser, identities: Identities): ProcessTree {
  const isForeign = user.uid !== identities.developer.uid
  const shell = (script: string, ...values: string[]) =>
    run(identities.as(user, '/bin/sh', ['-c', script, 'sh', ...values]))

  /** This program may signal only the developer's processes; a shell of the other user does the rest. */
  async function signal(pids: number[], name: NodeJS.Signals): Promise<void> {
    if (!isForeign) for (const pid of pids) send(pid, name)
    else if (!(await shell(`kill -s ${name.slice(3)} -- "$@" 2>/dev/null`, ...pids.map(String))))
      signalAs(user, pids, name)
  }

  /** Other users can copy a mark. Their processes do not count: this user cannot kill them, and waiting would not end. */
  const ownMarked = (marker: string) =>
    markedProcesses(marker).filter((pid) => realUidOf(pid) === identities.uidOf(user))

  async function killFound(find: () => number[]): Promise<void> {
    for (let scans = 0; scans < maxScans; scans += 1) {
      const found = find()
      if (found.length === 0) return
      // Stopped processes cannot fork, so a second scan finds the rest of a group that multiplies.
      if (scans > 0) await signal(found, 'SIGSTOP')
      await signal(scans > 0 ? find() : found, 'SIGKILL')
      await sleep(pauseMs)
    }
  }

  return {
    signalGroup: (pid, name) => signal([-pid], name),
    killMarked: (marker) => killFound(() => ownMarked(marker)),
    killDetached: (marker, ...pids) =>
      killFound(() => ownMarked(marker).filter((each) => !descendsFrom(each, pids))),
    async killAll() {
      if (!isForeign || user.uid < principalBase) return
      for (let scans = 0; scans < maxScans && processesOf((uid) => uid === user.uid).length > 0; scans += 1) {
        if (!(await shell('kill -KILL -1'))) signalAs(user, [-1], 'SIGKILL')
        await sleep(pauseMs)
      }
    },
  }
}

/** Returns the living processes that carry the marker, of all users. */
export function markedProcesses(marker: string): number[] {
  const limit = new RegExp(`^Max file locks +${markOf(marker)} `, 'm')
  const entry = Buffer.from(`\0${markerName}=${marker}\0`)
  return livingProcesses().filter((pid) => {
    const limits = read(pid, 'limits')
    if (limits !== null && limit.test(limits.toString('latin1'))) return true
    const environment = read(pid, 'environ')
    return environment !== null && Buffer.concat([nul, environment]).includes(entry)
  })
}

function descendsFrom(pid: number, ancestors: number[]): boolean {
  for (let current = pid; current > 1; ) {
    if (ancestors.includes(current)) return true
    current = Number(/^PPid:\s+(\d+)$/m.exec(read(current, 'status')?.toString('latin1') ?? '')?.[1] ?? 0)
  }
  return false
}

/** Returns the living processes whose real uid and process id fit, without this program. */
export function processesOf(isSought: (uid: number, pid: number) => boolean): number[] {
  return livingProcesses().filter((pid) => {
    const uid = realUidOf(pid)
    return uid !== null && isSought(uid, pid)
  })
}

/** Null when the process has ended. */
function realUidOf(pid: number): number | null {
  const uid = /^Uid:\s+(\d+)\s/m.exec(read(pid, 'status')?.toString('latin1') ?? '')?.[1]
  return uid === undefined ? null : Number(uid)
}

function livingProcesses(): number[] {
  return (
    readdirSync('/proc')
      .map(Number)
      // Process 1 is never a child of an execution. Zombies and kernel threads have no memory.
      .filter((pid) => Number.isInteger(pid) && pid !== process.pid && pid !== 1)
      .filter((pid) => !(read(pid, 'statm')?.toString('latin1') ?? '0 ').startsWith('0 '))
  )
}

/** Null when the process has ended or belongs to another user. */
function read(pid: number, file: string): Buffer | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`)
  } catch {
    return null
  }
}

const nul = Buffer.from([0])

/**
 * For a container whose process limit is exhausted, in which no shell can start: this program acts as the
 * user itself for one system call.
 */
function signalAs(user: ProcessUser, pids: number[], name: NodeJS.Signals): void {
  const before = process.geteuid?.()
  if (before === undefined || before !== developerId) return
  try {
    process.seteuid?.(user.uid)
    for (const pid of pids) send(pid, name)
  } catch {
    // This program may not change its user, so it has started nobody else.
  } finally {
    process.seteuid?.(before)
  }
}

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

/** False when the process could not be started. */
function run({ command, args, options }: ReturnType<Identities['as']>): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const child = spawn(command, args, { ...options, stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } })
      child.once('error', () => resolve(false))
      // A signal that the process sends to all processes of its user spares itself.
      child.once('exit', () => resolve(true))
    } catch {
      resolve(false)
    }
  })
}
