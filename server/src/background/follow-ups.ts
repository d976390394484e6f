import { createTurns } from '../kit/turns.ts'

/** Work after a commit, identified by an id. The tables contain what there is to do. */
export type FollowUps = {
  /** Call after a commit. Several calls before the id is handled are merged into one. */
  soon(id: string): void
  /** Resolves when no work is running. Call before the database closes. */
  settled(): Promise<void>
}

/** Limit per process. */
const maxConcurrent = 4

/**
 * Handles each id soon, a few concurrently. A failure is passed to `failed` and does not block other ids. A
 * loop over the tables retries it, and handles what a killed process left undone.
 */
export function createFollowUps(deps: {
  look(id: string): Promise<void>
  failed(id: string, error: unknown): void
}): FollowUps {
  const { look, failed } = deps
  const inTurn = createTurns(maxConcurrent)
  const queued = new Set<string>()
  const running = new Set<Promise<void>>()

  return {
    soon(id) {
      if (queued.has(id)) return
      queued.add(id)
      const work = inTurn(() => {
        // Before the work, so that a change during the work causes another run.
        queued.delete(id)
        return look(id)
      })
        .catch((error: unknown) => failed(id, error))
        .finally(() => running.delete(work))
      running.add(work)
    },

    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
