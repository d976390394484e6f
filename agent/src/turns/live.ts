import type { Clock } from '../kit/clock.ts'
import type { RuntimeProcess } from './runtime-process.ts'

/**
 * A pool of idle processes, with which the next turn of a conversation starts in tens of milliseconds. Each
 * is only a cache of a session on the volume and can be ended at any time.
 */
export type LivePool = {
  /** Returns the conversation's process if it matches `fit`; ends it otherwise. */
  take(sessionId: string, fit: Fit): Promise<OwnedProcess | null>
  /** Keeps the process for the conversation's next turn. */
  put(sessionId: string, signature: string, owned: OwnedProcess): void
  drop(sessionId: string): void
  /** Ends all processes after a change that running ones cannot adopt. */
  dropAll(): void
  configure(limits: { limit: number; idleMs: number }): void
  size(): number
  /** Process ids. */
  pids(): number[]
  close(): Promise<void>
}

/** Required start settings and runtime session of a reused process. */
export type Fit = { signature: string; resumeSessionId: string | null }

/** A process and its cleanup: `close` stops it and removes its files. */
export type OwnedProcess = { process: RuntimeProcess; close(): Promise<void> }

type Entry = { owned: OwnedProcess; signature: string; cancelIdle: () => void }

export function createLivePool(clock: Clock): LivePool {
  /** Ordered by last turn. */
  const idle = new Map<string, Entry>()
  const ending = new Set<Promise<void>>()
  let limit = 1
  let idleMs = 600_000

  function end(sessionId: string): Promise<void> {
    const entry = idle.get(sessionId)
    if (!entry) return Promise.resolve()
    idle.delete(sessionId)
    entry.cancelIdle()
    const ended = entry.owned.close().finally(() => ending.delete(ended))
    ending.add(ended)
    return ended
  }

  function trim() {
    for (const [sessionId] of idle) {
      if (idle.size <= limit) return
      void end(sessionId)
    }
  }

  return {
    async take(sessionId, { signature, resumeSessionId }) {
      const entry = idle.get(sessionId)
      if (!entry) return null
      const matches =
        entry.owned.process.isRunning() &&
        entry.signature === signature &&
        entry.owned.process.sessionId() === resumeSessionId
      if (!matches) {
        // Waits for its end: two processes must not write to one session.
        await end(sessionId)
        return null
      }
      idle.delete(sessionId)
      entry.cancelIdle()
      return entry.owned
    },
    put(sessionId, signature, owned) {
      void end(sessionId)
      const entry = {
        owned,
        signature,
        cancelIdle: clock.after(idleMs, () => void end(sessionId)),
      }
      idle.set(sessionId, entry)
      // A process that ends by itself is removed from the pool.
      void owned.process.exited.then(() => {
        if (idle.get(sessionId) === entry) void end(sessionId)
      })
      trim()
    },
    drop: (sessionId) => void end(sessionId),
    dropAll() {
      for (const [sessionId] of idle) void end(sessionId)
    },
    configure(limits) {
      limit = limits.limit
      idleMs = limits.idleMs
      trim()
    },
    size: () => idle.size,
    pids: () => [...idle.values()].map(({ owned }) => owned.process.pid),
    async close() {
      for (const [sessionId] of idle) void end(sessionId)
      await Promise.all(ending)
    },
  }
}
