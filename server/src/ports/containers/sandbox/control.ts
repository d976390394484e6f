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
 * How long a supervisor may take beyond what it was asked to wait. It is a program that has to be loaded, and a
 * machine with much else to do takes its time for that: this is for those that hang.
 */
const patienceMs = 60_000
/** A supervisor that ends without a run is followed by another one this often. */
const maxLaunches = 5

/** What a start has before it; null while a supervisor is on its way to its first run, or out. */
type Standing =
  | { is: 'begun'; error: string | null }
  | { is: 'pausing'; supervisor: StoredSupervisor }
  | { is: 'absent' }

/** Starts and stops supervisors and waits for what they write. */
export function createControl(folders: Folders, store: Store) {
  const turns = new Map<string, Promise<unknown>>()

  return {
    /** One change of a container at a time; changes of different containers do not wait for each other. */
    serially<T>(id: string, change: () => Promise<T>): Promise<T> {
      const turn = (turns.get(id) ?? Promise.resolve()).then(change, change)
      const settled = turn
        .catch(() => {})
        .then(() => {
          if (turns.get(id) === settled) turns.delete(id)
        })
      turns.set(id, settled)
      return turn
    },

    /**
     * Returns once a run has begun after this call, or is under way already, even if it has ended again. Of
     * several processes that start one container at once each gets that answer, and one run comes of it.
     */
    async start(id: string, prepare: () => Promise<Launch>): Promise<void> {
      const folder = store.folderOf(id)
      const deadline = Date.now() + patienceMs
      // Read before anything else: any higher number is a run that began after this call, whoever began it.
      let runsBefore = await runsOf(id)
      for (let launches = 0; ; ) {
        const now = await waitFor(folder, deadline - Date.now(), () => standing(id, runsBefore))
        if (now?.is === 'begun') {
          if (now.error) throw new ContainerError('engine_fault', `start ${id}: ${now.error}`)
          return
        }
        if (now === null || launches === maxLaunches || Date.now() >= deadline) break
        if (now.is === 'pausing') {
          await endSupervisor(id, now.supervisor, 0)
          runsBefore = await runsOf(id)
          continue
        }
        launches += 1
        writeJson(join(folder, containerFiles.launch), await prepare())
        const supervisor = spawnSupervisor(folder, folders.compileCache)
        // One that ends without a run has lost to another one's, or cannot run at all: the next look tells.
        await waitFor(folder, deadline - Date.now(), async () =>
          supervisor.hasEnded() || (await standing(id, runsBefore))?.is === 'begun' ? true : null,
        )
      }
      // What hangs on its way would hold up every later start as well.
      await end(id, 0)
      throw new ContainerError('engine_fault', `start ${id}: its supervisor did not come up`)
    },

    end,

    /** Writes and tells the end of a run whose supervisor was killed. Safe to call any time. */
    buryIfDead: (id: string): void => buryDead(store.folderOf(id)),

    /** Takes away control groups that a container left behind; a second is ample for the kernel to let go of the dead. */
    async removeCgroups(paths: Iterable<string>): Promise<void> {
      for (const path of paths) {
        for (let tries = 0; tries < 6 && (await isBusy(path)); tries += 1) await delay(10 * 2 ** tries)
      }
    },
  }

  async function runsOf(id: string): Promise<number> {
    return (await store.runState(id))?.runs ?? 0
  }

  async function standing(id: string, runsBefore: number): Promise<Standing | null> {
    const supervisor = await livingSupervisor(store.folderOf(id))
    // In this order: a run of a supervisor that has gone in between is then still seen.
    const state = await store.runState(id)
    if (state && state.runs > runsBefore) return { is: 'begun', error: state.error }
    if (!supervisor) return { is: 'absent' }
    if (state?.status === 'running') return { is: 'begun', error: null }
    // It waits out the pause before a restart: whoever asks for a start now does not want to.
    return state?.restartAt ? { is: 'pausing', supervisor } : null
  }

  /** Polite, then not; what does not end even so is killed together with its supervisor. */
  async function end(id: string, graceSeconds: number): Promise<void> {
    const folder = store.folderOf(id)
    const supervisor = await livingSupervisor(folder)
    if (supervisor) await endSupervisor(id, supervisor, graceSeconds)
  }

  /** Ends this supervisor and no later one. */
  async function endSupervisor(id: string, supervisor: StoredSupervisor, graceSeconds: number) {
    const folder = store.folderOf(id)
    writeJson(join(folder, containerFiles.stop), { graceSeconds, supervisor } satisfies StoredStop)
    kill(supervisor.pid, 'SIGTERM')
    const isGone = async () => (isSame(await livingSupervisor(folder), supervisor) ? null : true)
    if (await waitFor(folder, graceSeconds * 1000 + patienceMs, isGone)) return
    // Its container dies with it (die-with-parent).
    kill(supervisor.pid, 'SIGKILL')
    if (await waitFor(folder, patienceMs, isGone)) return
    throw new ContainerError('engine_fault', `stop ${id}: its supervisor cannot be killed`)
  }
}

export type Control = ReturnType<typeof createControl>

function spawnSupervisor(folder: string, compileCache: string): { hasEnded(): boolean } {
  const program = fileURLToPath(new URL('supervisor.ts', import.meta.url))
  const child = spawn(process.execPath, [program, folder], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    // Nothing of the platform's environment: its secrets are no business of a process beside an agent.
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', NODE_COMPILE_CACHE: compileCache },
  })
  let hasEnded = false
  const note = () => {
    hasEnded = true
  }
  // A program that cannot be run shows as a supervisor that does not come up.
  child.once('error', note).once('exit', note)
  child.unref()
  return { hasEnded: () => hasEnded }
}

/** Looks whenever something in the folder changes until `look` finds something; null when the time is over. */
async function waitFor<T>(
  folder: string,
  timeoutMs: number,
  look: () => Promise<T | null>,
): Promise<T | null> {
  const deadline = Date.now() + timeoutMs
  let wake = () => {}
  const watcher = watchOrNot(folder, () => wake())
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve
      })
      const found = await look()
      if (found !== null || Date.now() >= deadline) return found
      // The death of a process changes no file: look every now and then as well.
      const timer = setTimeout(wake, Math.min(200, Math.max(1, deadline - Date.now())))
      await changed
      clearTimeout(timer)
    }
  } finally {
    watcher?.close()
  }
}

/** Null when the host has no watches left, or the folder has gone: the timer then does its work. */
function watchOrNot(folder: string, onChange: () => void): FSWatcher | null {
  try {
    return watch(folder, onChange).on('error', () => {})
  } catch {
    return null
  }
}

/** Removes the folder of a control group, true when that has to be tried again. */
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
    // It ended by itself in between.
  }
}
