import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Identities, Person } from './identity.ts'

/**
 * Ends whole trees of processes. A CLI starts its tools in groups of their own, and a tool may start a
 * daemon: what they all keep is their environment, and in it the marker of the execution.
 */
export const markerName = 'ROOST_EXECUTION_ID'

export type ProcessTree = {
  /** Sends a signal to a process's group. */
  signalGroup(pid: number, signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Kills every process that carries the marker, also those that appear meanwhile; they are gone then. */
  killMarked(marker: string): Promise<void>
}

type Found = 'none' | 'killed' | 'unclear'

const pauseMs = 5
/** A killed process goes when it gets its turn; one that waits for a broken disk is not waited for. */
const mostLooks = 1000
/** A process that has emptied its environment stays unclear for ever. */
const mostUnclearLooks = 20

/** Another user's processes cannot be seen or signalled from here: that user's own shell does it. */
export function createProcessTree(person: Person, identities: Identities): ProcessTree {
  if (person === 'reader') {
    const shell = (script: string, argument: string) =>
      run(identities.as('reader', '/bin/sh', ['-c', script, 'sh', argument]))
    return {
      async signalGroup(pid, signal) {
        await shell(`kill -s ${signal.slice(3)} -- "-$1" 2>/dev/null`, String(pid))
      },
      killMarked: (marker) =>
        untilNone(async () => saidByShell(await shell(killScript, `${markerName}=${marker}`))),
    }
  }
  return {
    async signalGroup(pid, signal) {
      send(-pid, signal)
    },
    killMarked: (marker) =>
      untilNone(async () => {
        const { marked, isUnclear } = lookFor(marker)
        for (const pid of marked) send(pid, 'SIGKILL')
        if (marked.length > 0) return 'killed'
        return isUnclear ? 'unclear' : 'none'
      }),
  }
}

async function untilNone(look: () => Promise<Found>): Promise<void> {
  let unclear = 0
  for (let looks = 0; looks < mostLooks && unclear < mostUnclearLooks; looks += 1) {
    const found = await look()
    if (found === 'none') return
    unclear = found === 'unclear' ? unclear + 1 : 0
    await sleep(pauseMs)
  }
}

/** Processes of this program's user that carry the marker. */
export function markedProcesses(marker: string): number[] {
  return lookFor(marker).marked
}

/** Unclear: there may be one more that carries it. */
function lookFor(marker: string): { marked: number[]; isUnclear: boolean } {
  const entry = Buffer.from(`\0${markerName}=${marker}\0`)
  const seen = readdirSync('/proc')
    .map(Number)
    // The first process of a machine is nobody's child.
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && pid !== 1)
    .map((pid) => ({ pid, environment: environmentOf(pid) }))
  return {
    marked: seen
      .filter(({ environment }) => environment !== 'unclear' && environment?.includes(entry))
      .map(({ pid }) => pid),
    isUnclear: seen.some(({ environment }) => environment === 'unclear'),
  }
}

/**
 * Between zeros; null: it has ended or is another user's. While a process becomes another program its environment
 * is empty for a moment, and one that ends while it is looked at may have left a child that was not listed yet.
 */
function environmentOf(pid: number): Buffer | 'unclear' | null {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`)
    if (environment.length > 0) return Buffer.concat([nul, environment, nul])
    // What has ended and was not fetched yet has no memory, nor has a part of the system itself.
    return readFileSync(`/proc/${pid}/statm`, 'utf8').startsWith('0 ') ? null : 'unclear'
  } catch (error) {
    return isGone(error) ? 'unclear' : null
  }
}

const isGone = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'

const nul = Buffer.from([0])
const exitCodes = { killed: 9, unclear: 8 }

/** A shell that could not be started or was killed has found nothing. */
function saidByShell(code: number | null): Found {
  if (code === exitCodes.killed) return 'killed'
  return code === exitCodes.unclear ? 'unclear' : 'none'
}

/** The same look by a shell; its own environment is another. */
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
    // It ended by itself.
  }
}

function run({ command, args }: { command: string; args: string[] }): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } })
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
}
