/**
 * Program of one container's supervisor: `node supervisor.ts <folder of the container>`. It is started
 * detached and outlives the platform; all it knows it reads from that folder, all it does it writes there.
 * SIGTERM is an ordered stop, with the grace of `stop.json`. It ends when its container is to stay ended.
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
const path = (file: keyof typeof containerFiles) => join(folder, containerFiles[file])

const self = claimFolder(folder)
if (self) {
  try {
    const launch = readJsonNow<Launch>(path('launch'))
    if (launch) await supervise(launch, self)
  } catch (error) {
    writeJson(path('state'), { ...stateOfRun(runsSoFar() + 1), error: String(error) })
  }
  rmSync(path('supervisor'), { force: true })
}

async function supervise(launch: Launch, self: StoredSupervisor): Promise<void> {
  const stopping = new AbortController()
  process.on('SIGTERM', () => stopping.abort())
  // Types were stripped to get here; the next supervisor need not do it again, nor hold the stripper in memory.
  flushCompileCache()
  const output = openLogPipe(folder, launch.log)
  const ended: Run[] = []
  try {
    for (let runs = runsSoFar() + 1; !isStopOrdered(); runs += 1) {
      const state = stateOfRun(runs)
      const container = await startContainer(launch, output.writeEnd)
      writeJson(path('state'), { ...state, status: 'running', pid: container.pid } satisfies StoredState)
      note({ type: 'started', ...who(), at: state.startedAt })

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
      note({ type: 'exited', ...who(), exitCode, oomKilled, at: new Date(endedMs).toISOString() })
      if (waitMs === null) break
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
    // A stop may have cut a pause short. Left standing, it would read as one of the next supervisor's.
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

  /** Read anew each time: a rename reaches a running container's events. */
  function who(): { id: string; name: string } {
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

/** The last folder of each branch is the container's own; its parents are everybody's. */
function removeCgroups(launch: Launch): void {
  for (const { path } of (launch.cgroups?.folders ?? []).filter((folder) =>
    folder.path.endsWith(launch.id),
  )) {
    try {
      rmdirSync(path)
    } catch {
      // A process that has not quite gone holds it; the next start uses the folder as it is.
    }
  }
}
