import type { Clock } from '../kit/clock.ts'
import type { RuntimeProcess } from './runtime-process.ts'

/**
 * Processes of conversations that wait for their next turn, which then starts in tens of milliseconds. Each
 * is only a cache of the runtime's session on the volume: it may go at any time.
 */
export type LivePool = {
  /** The conversation's process, if it is fit for this turn; an unfit one is ended. */
  take(sessionId: string, fit: Fit): Promise<OwnedProcess | null>
  /** Keeps the process for the next turn of its conversation. */
  put(sessionId: string, signature: string, owned: OwnedProcess): void
  drop(sessionId: string): void
  /** Settings that a running process cannot take have changed. */
  dropAll(): void
  configure(limits: { limit: number; idleMs: number }): void
  size(): number
  close(): Promise<void>
}

/** What a waiting process must have been started with, and the runtime's session it must be in. */
export type Fit = { signature: string; resumeSessionId: string | null }

/** A process with its end: `close` stops it and clears up behind it. */
export type OwnedProcess = { process: RuntimeProcess; close(): Promise<void> }

type Entry = { owned: OwnedProcess; signature: string; cancelIdle: () => void }

export function createLivePool(clock: Clock): LivePool {
  /** In the order of their last turn. */
  const waiting = new Map<string, Entry>()
  const ending = new Set<Promise<void>>()
  let limit = 1
  let idleMs = 600_000

  function end(sessionId: string): Promise<void> {
    const entry = waiting.get(sessionId)
    if (!entry) return Promise.resolve()
    waiting.delete(sessionId)
    entry.cancelIdle()
    const ended = entry.owned.close().finally(() => ending.delete(ended))
    ending.add(ended)
    return ended
  }

  function trim() {
    for (const [sessionId] of waiting) {
      if (waiting.size <= limit) return
      void end(sessionId)
    }
  }

  return {
    async take(sessionId, { signature, resumeSessionId }) {
      const entry = waiting.get(sessionId)
      if (!entry) return null
      const isFit =
        entry.owned.process.isRunning() &&
        entry.signature === signature &&
        entry.owned.process.sessionId() === resumeSessionId
      if (!isFit) {
        // Its end first: two processes must not write one session.
        await end(sessionId)
        return null
      }
      waiting.delete(sessionId)
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
      waiting.set(sessionId, entry)
      // One that ends by itself leaves nothing behind here.
      void owned.process.exited.then(() => {
        if (waiting.get(sessionId) === entry) void end(sessionId)
      })
      trim()
    },
    drop: (sessionId) => void end(sessionId),
    dropAll() {
      for (const [sessionId] of waiting) void end(sessionId)
    },
    configure(limits) {
      limit = limits.limit
      idleMs = limits.idleMs
      trim()
    },
    size: () => waiting.size,
    async close() {
      for (const [sessionId] of waiting) void end(sessionId)
      await Promise.all(ending)
    },
  }
}
