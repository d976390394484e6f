import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Launch } from './folders.ts'
import { openLog } from './log.ts'

export type RunningContainer = {
  /** First process of the container's process namespace, as numbered outside. */
  pid: number
  ended: Promise<{ exitCode: number; oomKilled: boolean }>
  /** Sends SIGTERM to the container's command, and kills everything after the grace period. */
  stop(graceSeconds: number): void
}

/** Starts bubblewrap once; resolves when its namespaces exist. Throws when they cannot be created. */
export async function startContainer(launch: Launch, output: number): Promise<RunningContainer> {
  const killsBefore = prepareCgroups(launch)
  const child = spawn('/bin/sh', ['-c', launch.script], {
    stdio: ['ignore', output, output, 'pipe', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    cwd: '/',
  })
  const exited = exitOf(child)
  // The descriptors are pipes, as requested above.
  const [, , , args, info] = child.stdio as unknown as [null, null, null, Writable, Readable]
  args.on('error', () => {})
  args.end(launch.bwrapArguments.map((argument) => `${argument}\0`).join(''))
  const pid = await firstPid(info)
  const timers: NodeJS.Timeout[] = []
  return {
    // If bubblewrap failed earlier, the log has the reason and the run ends like a command.
    pid: pid ?? child.pid ?? 0,
    ended: exited.then((exitCode) => {
      for (const timer of timers) clearTimeout(timer)
      return { exitCode, oomKilled: exitCode === 137 && memoryKills(launch) > killsBefore }
    }),
    stop(graceSeconds) {
      if (timers.length > 0) return
      timers.push(setTimeout(() => signal(pid ?? child.pid, 'SIGKILL'), graceSeconds * 1000))
      const terminate = () => {
        const command = pid === null ? undefined : commandPid(pid)
        // In its first milliseconds the container has no command yet.
        if (command === undefined) timers.push(setTimeout(terminate, 20))
        else signal(command, 'SIGTERM')
      }
      if (graceSeconds > 0) terminate()
    },
  }
}

export type LogPipe = {
  /** The container writes its output here. A real pipe, so that programs inside can reopen /dev/stdout. */
  writeEnd: number
  /** Writes the pipe's remaining content; called before an end is reported. */
  drain(): void
  close(): void
}

export function openLogPipe(folder: string, caps: Launch['log']): LogPipe {
  const log = openLog(folder, caps)
  const path = join(folder, `pipe.${process.pid}`)
  const made = spawnSync('mkfifo', ['-m', '600', path])
  if (made.status !== 0) throw new Error(`mkfifo failed: ${made.stderr}`)
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writeEnd = openSync(path, constants.O_WRONLY)
  rmSync(path)
  const reader = new Socket({ fd: readEnd, readable: true, writable: false })
  reader.on('data', (chunk) => log.write(chunk))
  const buffer = Buffer.alloc(64 * 1024)
  return {
    writeEnd,
    drain() {
      for (;;) {
        try {
          const length = readSync(readEnd, buffer)
          if (length === 0) return
          log.write(buffer.subarray(0, length))
        } catch {
          return
        }
      }
    },
    close() {
      reader.destroy()
      closeSync(writeEnd)
      log.close()
    },
  }
}

/** Creates and configures the control groups; returns their out-of-memory count so far. */
function prepareCgroups(launch: Launch): number {
  for (const { path, writes } of launch.cgroups?.folders ?? []) {
    mkdirSync(path, { recursive: true })
    for (const { file, value, optional } of writes) {
      try {
        writeFileSync(join(path, file), value)
      } catch (error) {
        if (!optional) throw error
      }
    }
  }
  return memoryKills(launch)
}

function memoryKills(launch: Launch): number {
  if (!launch.cgroups) return 0
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(launch.cgroups.memoryKills, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Returns the first process as reported by bubblewrap; null when it ended before. */
function firstPid(info: Readable): Promise<number | null> {
  return new Promise((resolve) => {
    let text = ''
    info.on('data', (chunk) => {
      text += String(chunk)
      const pid = /"child-pid": *(\d+)\s*[,}]/.exec(text)?.[1]
      if (pid !== undefined) resolve(Number(pid))
    })
    info.once('error', () => resolve(null))
    info.once('close', () => resolve(null))
  })
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(127))
    // A signal is reported like in a shell: 128 plus its number; only SIGKILL is sent here.
    child.once('exit', (code) => resolve(code ?? 137))
  })
}

/**
 * Returns the command: the oldest child of bubblewrap's first process, which only reaps and forwards no
 * signals.
 */
function commandPid(first: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number)
    return children.filter((pid) => pid > 0).sort((a, b) => numberInside(a) - numberInside(b))[0]
  } catch {
    return undefined
  }
}

function numberInside(pid: number): number {
  try {
    const numbers = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(numbers?.split(/\s+/).at(-1) ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined || pid <= 1) return
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended.
  }
}
