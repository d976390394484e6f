import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Identities, Person } from './identity.ts'

/**
 * Ends whole trees of processes. A CLI starts its tools in groups of their own, and a tool may start a
 * daemon: what they all keep is their environment, and in it the marker of the execution.
 */
export const markerName = 'ROOST_EXECUTION_ID'

export type ProcessTree = {
  /** Sends a signal to a process's group. */
  signalGroup(pid: number, signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Kills every process that carries the marker, also those that appear meanwhile. */
  killMarked(marker: string): Promise<void>
}

const rounds = 10

/** Another user's processes cannot be seen or signalled from here: that user's own shell does it. */
export function createProcessTree(person: Person, identities: Identities): ProcessTree {
  if (person === 'reader') {
    const shell = (script: string, argument: string) =>
      run(identities.as('reader', '/bin/sh', ['-c', script, 'sh', argument]))
    return {
      async signalGroup(pid, signal) {
        await shell(`kill -s ${signal.slice(3)} -- "-$1" 2>/dev/null`, String(pid))
      },
      async killMarked(marker) {
        for (let round = 0; round < rounds; round += 1) {
          if ((await shell(killScript, `${markerName}=${marker}`)) !== foundSome) return
        }
      },
    }
  }
  return {
    async signalGroup(pid, signal) {
      send(-pid, signal)
    },
    async killMarked(marker) {
      for (let round = 0; round < rounds; round += 1) {
        const found = markedProcesses(marker)
        if (found.length === 0) return
        for (const pid of found) send(pid, 'SIGKILL')
        // A killed process stays visible, without an environment, until its parent has seen it.
        await new Promise((done) => setImmediate(done))
      }
    },
  }
}

/** Processes of this program's user that carry the marker. */
export function markedProcesses(marker: string): number[] {
  const entry = Buffer.from(`\0${markerName}=${marker}\0`)
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => {
      try {
        return Buffer.concat([nul, readFileSync(`/proc/${pid}/environ`), nul]).includes(entry)
      } catch {
        return false
      }
    })
}

const nul = Buffer.from([0])
const foundSome = 9

/** Exits with 9 when there was something to kill. `grep` reads the environments without starting anything. */
const killScript = `
found=$(grep -lzxF -- "$1" /proc/[0-9]*/environ 2>/dev/null)
[ -n "$found" ] || exit 0
for path in $found; do pid=\${path#/proc/}; kill -KILL "\${pid%/environ}" 2>/dev/null; done
exit ${foundSome}
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
