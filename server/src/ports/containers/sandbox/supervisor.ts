/**
 * The supervisor of one container: `node supervisor.ts <folder of the container> <runs before this one>`. It is
 * started detached, outlives the platform, and communicates only through files of that folder. SIGTERM is a
 * requested stop with the grace period of `stop.json`. Ends when its container stays stopped.
 */
import { rmdirSync, rmSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  containerFiles,
  type Launch,
  readJsonNow,
  type StoredSpec,
  type StoredState,
  type StoredStop,
  type StoredSupervisor,
  writeJson,
} from './folders.ts'
import { appendToJournal, type JournalEntry } from './journal.ts'
import { claimFolder, isSame } from './lock.ts'
import { type Run, restartDelayMs } from './restart.ts'
import { openLogPipe, startContainer } from './run.ts'

const folder = process.argv[2] ?? ''
const runsBefore = Number(process.argv[3])
const path = (file: keyof typeof containerFiles) => join(folder, containerFiles[file])

const self = claimFolder(folder)
if (self) {
  try {
    const launch = readJsonNow<Launch>(path('launch'))
    // Loading takes time: the run may have been started by another supervisor, and stopped since.
    if (launch && runsSoFar() === runsBefore) await supervise(launch, self)
  } catch (error) {
    writeJson(path('state'), { ...stateOfRun(runsSoFar() + 1), error: String(error) })
  }
  rmSync(path('supervisor'), { force: true })
}

async function supervise(launch: Launch, self: StoredSupervisor): Promise<void> {
  const stopping = new AbortController()
  process.on('SIGTERM', () => stopping.abort())
  // Saves the compiled code, so that the next supervisor starts faster and with less memory.
  flushCompileCache()
  const output = openLogPipe(folder, launch.log)
  const ended: Run[] = []
  try {
    for (let runs = runsSoFar() + 1; !isStopOrdered(); runs += 1) {
      const state = stateOfRun(runs)
      const container = await startContainer(launch, output.writeEnd)
      writeJson(path('state'), { ...state, status: 'running', pid: container.pid } satisfies StoredState)
      note({ type: 'started', ...identity(), at: state.startedAt })

      const stop = () => container.stop(graceSeconds())
      if (isStopOrdered()) stop()
      stopping.signal.addEventListener('abort', stop, { once: true })
      const { exitCode, oomKilled } = await container.ended
      stopping.signal.removeEventListener('abort', stop)
      output.drain()

      const endedMs = Date.now()
      ended.push({ startedMs: Date.parse(state.startedAt), endedMs })
      const waitMs = isStopOrdered() ? null : restartDelayMs(ended, launch.restart)
      const restartAt = waitMs === null ? null : new Date(endedMs + waitMs).toISOString()
      writeJson(path('state'), { ...state, exitCode, oomKilled, restartAt } satisfies StoredState)
      note({ type: 'exited', ...identity(), exitCode, oomKilled, at: new Date(endedMs).toISOString() })
      if (waitMs === null) break
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
    // A stop may interrupt the delay before a restart; the next supervisor must not see the old time.
    const last = readJsonNow<StoredState>(path('state'))
    if (last?.restartAt) writeJson(path('state'), { ...last, restartAt: null } satisfies StoredState)
  } finally {
    output.close()
    removeCgroups(launch)
  }

  function isStopOrdered(): boolean {
    return stopping.signal.aborted || ownStop() !== null
  }

  function graceSeconds(): number {
    return ownStop()?.graceSeconds ?? 10
  }

  function ownStop(): StoredStop | null {
    const stop = readJsonNow<StoredStop>(path('stop'))
    return stop && isSame(stop.supervisor, self) ? stop : null
  }

  function note(entry: JournalEntry): void {
    appendToJournal(launch.journal, entry)
  }

  /** Read each time, so that events of a running container have its current name. */
  function identity(): { id: string; name: string } {
    return { id: launch.id, name: readJsonNow<StoredSpec>(path('spec'))?.spec.name ?? '' }
  }
}

function runsSoFar(): number {
  return readJsonNow<StoredState>(path('state'))?.runs ?? 0
}

function stateOfRun(runs: number): StoredState {
  const startedAt = new Date().toISOString()
  return {
    runs,
    status: 'stopped',
    pid: null,
    startedAt,
    exitCode: null,
    oomKilled: false,
    restartAt: null,
    error: null,
  }
}

/** The last folder of each branch belongs to the container, its parents are shared. */
function removeCgroups(launch: Launch): void {
  for (const { path } of (launch.cgroups?.folders ?? []).filter((folder) =>
    folder.path.endsWith(launch.id),
  )) {
    try {
      rmdirSync(path)
    } catch {
      // An ending process still uses it; the next start reuses the folder.
    }
  }
}
