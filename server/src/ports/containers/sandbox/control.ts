import { spawn } from 'node:child_process'
import { type FSWatcher, watch } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ContainerError } from '../port.ts'
import {
  containerFiles,
  type Folders,
  type Launch,
  type StoredStop,
  type StoredSupervisor,
  writeJson,
} from './folders.ts'
import { buryDead, isSame, livingSupervisor } from './lock.ts'
import type { Store } from './store.ts'

/**
 * Time that a supervisor may take in addition to the requested wait. It must be loaded, which is slow on a
 * busy machine; this limit is for hanging ones.
 */
const supervisorTimeoutMs = 60_000
/** Number of supervisors to try when each ends without a run. */
const maxLaunches = 5

/** State before a start. Null while a supervisor is starting or ending. */
type StartState =
  | { is: 'begun'; error: string | null }
  | { is: 'pausing'; supervisor: StoredSupervisor }
  | { is: 'absent' }

/** Starts and stops supervisors and waits for the files they write. */
export function createControl(folders: Folders, store: Store) {
  const queues = new Map<string, Promise<unknown>>()

  return {
    /** Runs changes of one container in order; different containers are independent. */
    serially<T>(id: string, change: () => Promise<T>): Promise<T> {
      const current = (queues.get(id) ?? Promise.resolve()).then(change, change)
      const settled = current
        .catch(() => {})
        .then(() => {
          if (queues.get(id) === settled) queues.delete(id)
        })
      queues.set(id, settled)
      return current
    },

    /**
     * Returns once a run has started after this call or is already active, even if it has ended again.
     * Concurrent starts of one container, in several processes, all succeed with one run.
     */
    async start(id: string, prepare: () => Promise<Launch>): Promise<void> {
      const folder = store.folderOf(id)
      const deadline = Date.now() + supervisorTimeoutMs
      // Read first: any higher number is a run that started after this call, in any process.
      let runsBefore = await runsOf(id)
      for (let launches = 0; ; ) {
        const current = await waitFor(folder, deadline - Date.now(), () => startState(id, runsBefore))
        if (current?.is === 'begun') {
          if (current.error) throw new ContainerError('engine_fault', `start ${id}: ${current.error}`)
          return
        }
        if (current === null || launches === maxLaunches || Date.now() >= deadline) break
        if (current.is === 'pausing') {
          await endSupervisor(id, current.supervisor, 0)
          runsBefore = await runsOf(id)
          continue
        }
        launches += 1
        writeJson(join(folder, containerFiles.launch), await prepare())
        const supervisor = spawnSupervisor(folder, runsBefore, folders.compileCache)
        // A supervisor without a run has lost to another one or cannot run; the next check shows which.
        await waitFor(folder, deadline - Date.now(), async () =>
          supervisor.hasEnded() || (await startState(id, runsBefore))?.is === 'begun' ? true : null,
        )
      }
      // A hanging supervisor would block later starts.
      await end(id, 0)
      throw new ContainerError('engine_fault', `start ${id}: its supervisor did not start`)
    },

    end,

    /** Records the end of a run whose supervisor was killed. Safe to call at any time. */
    buryIfDead: (id: string): void => buryDead(store.folderOf(id)),

    /** Removes leftover control groups; within a second the kernel releases dead processes. */
    async removeCgroups(paths: Iterable<string>): Promise<void> {
      for (const path of paths) {
        for (let tries = 0; tries < 6 && (await isBusy(path)); tries += 1) await delay(10 * 2 ** tries)
      }
    },
  }

  async function runsOf(id: string): Promise<number> {
    return (await store.runState(id))?.runs ?? 0
  }

  async function startState(id: string, runsBefore: number): Promise<StartState | null> {
    const supervisor = await livingSupervisor(store.folderOf(id))
    // Read after the supervisor, so that a run of a supervisor that ended in between is seen.
    const state = await store.runState(id)
    if (state && state.runs > runsBefore) return { is: 'begun', error: state.error }
    if (!supervisor) return { is: 'absent' }
    if (state?.status === 'running') return { is: 'begun', error: null }
    // The supervisor waits for a restart; an explicit start skips that delay.
    return state?.restartAt ? { is: 'pausing', supervisor } : null
  }

  /** Stops politely, then kills the supervisor with its container. */
  async function end(id: string, graceSeconds: number): Promise<void> {
    const folder = store.folderOf(id)
    const supervisor = await livingSupervisor(folder)
    if (supervisor) await endSupervisor(id, supervisor, graceSeconds)
  }

  /** Ends this supervisor but no later one. */
  async function endSupervisor(id: string, supervisor: StoredSupervisor, graceSeconds: number) {
    const folder = store.folderOf(id)
    writeJson(join(folder, containerFiles.stop), { graceSeconds, supervisor } satisfies StoredStop)
    kill(supervisor.pid, 'SIGTERM')
    const isGone = async () => (isSame(await livingSupervisor(folder), supervisor) ? null : true)
    if (await waitFor(folder, graceSeconds * 1000 + supervisorTimeoutMs, isGone)) return
    // Its container dies with it (die-with-parent).
    kill(supervisor.pid, 'SIGKILL')
    if (await waitFor(folder, supervisorTimeoutMs, isGone)) return
    throw new ContainerError('engine_fault', `stop ${id}: its supervisor cannot be killed`)
  }
}

export type Control = ReturnType<typeof createControl>

function spawnSupervisor(folder: string, runsBefore: number, compileCache: string): { hasEnded(): boolean } {
  const program = fileURLToPath(new URL('supervisor.ts', import.meta.url))
  const child = spawn(process.execPath, [program, folder, String(runsBefore)], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    // Passes none of the platform's environment: its secrets must not reach a process next to an agent.
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', NODE_COMPILE_CACHE: compileCache },
  })
  let hasEnded = false
  const markEnded = () => {
    hasEnded = true
  }
  // A program that cannot run appears as a supervisor that does not start.
  child.once('error', markEnded).once('exit', markEnded)
  child.unref()
  return { hasEnded: () => hasEnded }
}

/** Calls `look` after each change in the folder until it returns a value; null after the timeout. */
async function waitFor<T>(
  folder: string,
  timeoutMs: number,
  check: () => Promise<T | null>,
): Promise<T | null> {
  const deadline = Date.now() + timeoutMs
  let wake = () => {}
  const watcher = tryWatch(folder, () => wake())
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve
      })
      const found = await check()
      if (found !== null || Date.now() >= deadline) return found
      // A process death changes no file, so the check also runs periodically.
      const timer = setTimeout(wake, Math.min(200, Math.max(1, deadline - Date.now())))
      await changed
      clearTimeout(timer)
    }
  } finally {
    watcher?.close()
  }
}

/** Returns null when the host has no watches left or the folder is missing; the timer then suffices. */
function tryWatch(folder: string, onChange: () => void): FSWatcher | null {
  try {
    return watch(folder, onChange).on('error', () => {})
  } catch {
    return null
  }
}

/** Removes the folder of a control group; returns true when it must be retried. */
function isBusy(path: string): Promise<boolean> {
  return rmdir(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'EBUSY',
  )
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}
