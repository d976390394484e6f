import { createTurns } from '../kit/turns.ts'

/** Work that follows from a commit and is named by an id: what there is to do is found in the tables. */
export type FollowUps = {
  /** After a commit; several calls before the id is looked at are one look. */
  soon(id: string): void
  /** Resolves when nothing is being looked at any more; call before the database closes. */
  settled(): Promise<void>
}

/** Looks at the same time in one process. */
const atOnce = 4

/**
 * Looks at each id soon, a few at a time. One whose look fails holds up no other: `failed` is told, and a loop
 * over the tables comes back to it, as it does to what a killed process left undone.
 */
export function createFollowUps(deps: {
  look(id: string): Promise<void>
  failed(id: string, error: unknown): void
}): FollowUps {
  const { look, failed } = deps
  const inTurn = createTurns(atOnce)
  const due = new Set<string>()
  const working = new Set<Promise<void>>()

  return {
    soon(id) {
      if (due.has(id)) return
      due.add(id)
      const work = inTurn(() => {
        // Before the look: what happens during it calls for another one.
        due.delete(id)
        return look(id)
      })
        .catch((error: unknown) => failed(id, error))
        .finally(() => working.delete(work))
      working.add(work)
    },

    async settled() {
      while (working.size > 0) await Promise.all(working)
    },
  }
}
