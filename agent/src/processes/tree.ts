import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Identities, ProcessUser } from './identity.ts'

/**
 * Kills whole process trees. CLIs start tools in their own groups, and tools may start daemons. All of them
 * inherit the environment, which holds the marker of the execution.
 */
export const markerName = 'ROOST_EXECUTION_ID'

export type ProcessTree = {
  /** Sends a signal to a process group. */
  signalGroup(pid: number, signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<void>
  /**
   * Kills every process with the marker, including ones that appear meanwhile. Resolves when all are gone.
   */
  killMarked(marker: string): Promise<void>
}

type ScanResult = 'none' | 'killed' | 'unclear'

const pauseMs = 5
/** Scans until killed processes must be gone; one blocked on a broken disk is not awaited longer. */
const maxScans = 1000
/** Limits scans for a process that has emptied its environment and stays unclear forever. */
const maxUnclearScans = 20

/** This program cannot see or signal another user's processes, so a shell of that user does it. */
export function createProcessTree(user: ProcessUser, identities: Identities): ProcessTree {
  if (user === 'reader') {
    const shell = (script: string, argument: string) =>
      run(identities.as('reader', '/bin/sh', ['-c', script, 'sh', argument]))
    return {
      async signalGroup(pid, signal) {
        await shell(`kill -s ${signal.slice(3)} -- "-$1" 2>/dev/null`, String(pid))
      },
      killMarked: (marker) =>
        repeatUntilNone(async () => resultOfShell(await shell(killScript, `${markerName}=${marker}`))),
    }
  }
  return {
    async signalGroup(pid, signal) {
      send(-pid, signal)
    },
    killMarked: (marker) =>
      repeatUntilNone(async () => {
        const { marked, isUnclear } = findMarked(marker)
        for (const pid of marked) send(pid, 'SIGKILL')
        if (marked.length > 0) return 'killed'
        return isUnclear ? 'unclear' : 'none'
      }),
  }
}

async function repeatUntilNone(scan: () => Promise<ScanResult>): Promise<void> {
  let unclear = 0
  for (let scans = 0; scans < maxScans && unclear < maxUnclearScans; scans += 1) {
    const found = await scan()
    if (found === 'none') return
    unclear = found === 'unclear' ? unclear + 1 : 0
    await sleep(pauseMs)
  }
}

/** Returns the processes of this program's user that carry the marker. */
export function markedProcesses(marker: string): number[] {
  return findMarked(marker).marked
}

/** `isUnclear` is true when one more process may carry the marker. */
function findMarked(marker: string): { marked: number[]; isUnclear: boolean } {
  const entry = Buffer.from(`\0${markerName}=${marker}\0`)
  const processes = readdirSync('/proc')
    .map(Number)
    // Process 1 is never a child of an execution.
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && pid !== 1)
    .map((pid) => ({ pid, environment: environmentOf(pid) }))
  return {
    marked: processes
      .filter(({ environment }) => environment !== 'unclear' && environment?.includes(entry))
      .map(({ pid }) => pid),
    isUnclear: processes.some(({ environment }) => environment === 'unclear'),
  }
}

/**
 * Returns the environment between zero bytes. Null when the process has ended or belongs to another user.
 * During `exec` the environment is briefly empty, and a process that ends may leave an unlisted child: both
 * are unclear.
 */
function environmentOf(pid: number): Buffer | 'unclear' | null {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`)
    if (environment.length > 0) return Buffer.concat([nul, environment, nul])
    // Zombies and kernel threads have no memory.
    return readFileSync(`/proc/${pid}/statm`, 'utf8').startsWith('0 ') ? null : 'unclear'
  } catch (error) {
    return hasExited(error) ? 'unclear' : null
  }
}

const hasExited = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'

const nul = Buffer.from([0])
const exitCodes = { killed: 9, unclear: 8 }

/** A shell that failed to start or was killed has found nothing. */
function resultOfShell(code: number | null): ScanResult {
  if (code === exitCodes.killed) return 'killed'
  return code === exitCodes.unclear ? 'unclear' : 'none'
}

/** The same scan as a shell script; the shell's own environment lacks the marker. */
const killScript = `
line='
'
code=0
for process in /proc/[0-9]*; do
  [ -O "$process" ] && [ "$process" != /proc/1 ] || continue
  environment=$(tr '\\0' '\\n' 2>/dev/null < "$process/environ")
  case "$line$environment$line" in
    *"$line$1$line"*)
      kill -KILL "\${process#/proc/}" 2>/dev/null
      code=${exitCodes.killed}
      ;;
    "$line$line")
      read -r size rest 2>/dev/null < "$process/statm" || size=unknown
      [ "$size" = 0 ] || [ "$code" != 0 ] || code=${exitCodes.unclear}
      ;;
  esac
done
exit $code
`

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

function run({ command, args }: { command: string; args: string[] }): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } })
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
}
