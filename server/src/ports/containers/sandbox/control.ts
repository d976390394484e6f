import { spawn } from 'node:child_process'
import { type FSWatcher, watch } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ContainerError } from '../port.ts'
import {
  containerFiles,
  type Folders,
  type Launch,
  type StoredState,
  type StoredStop,
  writeJson,
} from './folders.ts'
import { appendToJournal } from './journal.ts'
import { livingSupervisor } from './lock.ts'
import type { Store } from './store.ts'

/** How long a supervisor may take beyond what it was asked to wait. */
const patienceMs = 15_000
/** How long another process's supervisor may take from its lock to its first run. */
const comingUpMs = 3_000

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

    /** Returns once the container has been started, even if it has already ended again. */
    async start(id: string, prepare: () => Promise<Launch>): Promise<void> {
      const folder = store.folderOf(id)
      if (await livingSupervisor(folder)) {
        // Between its lock and its first run it is about to start what is asked for: that is no reason to end it.
        const state = await waitFor(folder, comingUpMs, async () => {
          const now = await store.runState(id)
          const isDecided = now?.status === 'running' || now?.restartAt || !(await livingSupervisor(folder))
          return isDecided ? now : null
        })
        if (state?.status === 'running') return
        // It waits out the pause before a restart: whoever asks for a start now does not want to.
        await end(id, 0)
      }
      const runsBefore = (await store.runState(id))?.runs ?? 0
      writeJson(join(folder, containerFiles.launch), await prepare())
      await rm(join(folder, containerFiles.stop), { force: true })
      spawnSupervisor(folder, folders.compileCache)
      const state = await waitFor(folder, patienceMs, async () => {
        const now = await store.runState(id)
        return now && now.runs > runsBefore ? now : null
      })
      if (!state) throw new ContainerError('engine_fault', `start ${id}: its supervisor did not come up`)
      if (state.error) throw new ContainerError('engine_fault', `start ${id}: ${state.error}`)
    },

    end,

    /** Writes the end of a run whose supervisor was killed. Safe to call any time. */
    async buryIfDead(id: string): Promise<void> {
      const folder = store.folderOf(id)
      const state = await store.runState(id)
      if (state?.status !== 'running' || (await livingSupervisor(folder))) return
      const stored = await store.spec(id)
      // Whoever takes the dead supervisor's file away is the one who tells of it.
      const taken = await rm(join(folder, containerFiles.supervisor)).then(
        () => true,
        () => false,
      )
      if (!taken || !stored) return
      const ended: StoredState = { ...state, status: 'stopped', pid: null, exitCode: null }
      writeJson(join(folder, containerFiles.state), ended)
      const at = new Date().toISOString()
      const name = stored.spec.name
      appendToJournal(folders.journal, { type: 'exited', id, name, exitCode: null, oomKilled: false, at })
    },

    /** Takes away control groups that a container left behind; a second is ample for the kernel to let go of the dead. */
    async removeCgroups(paths: Iterable<string>): Promise<void> {
      for (const path of paths) {
        for (let tries = 0; tries < 6 && (await isBusy(path)); tries += 1) await delay(10 * 2 ** tries)
      }
    },
  }

  /** Polite, then not; what does not end even so is killed together with its supervisor. */
  async function end(id: string, graceSeconds: number): Promise<void> {
    const folder = store.folderOf(id)
    const supervisor = await livingSupervisor(folder)
    if (!supervisor) return
    writeJson(join(folder, containerFiles.stop), { graceSeconds } satisfies StoredStop)
    kill(supervisor.pid, 'SIGTERM')
    const isGone = async () => ((await livingSupervisor(folder)) ? null : true)
    if (await waitFor(folder, graceSeconds * 1000 + patienceMs, isGone)) return
    // Its container dies with it (die-with-parent).
    kill(supervisor.pid, 'SIGKILL')
    if (await waitFor(folder, patienceMs, isGone)) return
    throw new ContainerError('engine_fault', `stop ${id}: its supervisor cannot be killed`)
  }
}

export type Control = ReturnType<typeof createControl>

function spawnSupervisor(folder: string, compileCache: string): void {
  const program = fileURLToPath(new URL('supervisor.ts', import.meta.url))
  const child = spawn(process.execPath, [program, folder], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    // Nothing of the platform's environment: its secrets are no business of a process beside an agent.
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', NODE_COMPILE_CACHE: compileCache },
  })
  // A program that cannot be run shows as a supervisor that does not come up.
  child.on('error', () => {})
  child.unref()
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
