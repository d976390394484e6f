import type { Reply } from './claim.ts'

/** Accepted work, as its claim names it. */
export type Work = { execution_id: string | null; fan_out_id: string | null }

/**
 * `open`: in progress. `void`: failed, cancelled, skipped or deleted. `done`: finished, with its reply if that can
 * still be built.
 */
export type WorkState = { state: 'open' | 'void' } | { state: 'done'; reply: Reply | null }

/** Returns the state of a feature's own work; null for other work. */
export type WorkStateOf = (work: Work) => Promise<WorkState | null>

/** Features register here how to read the state of their work. */
export type WorkStates = {
  register(stateOf: WorkStateOf): void
  ask(work: Work): Promise<WorkState>
}

export function createWorkStates(): WorkStates {
  const features: WorkStateOf[] = []
  return {
    register: (stateOf) => void features.push(stateOf),
    async ask(work) {
      for (const stateOf of features) {
        const state = await stateOf(work)
        if (state) return state
      }
      // Deleted: no feature knows it.
      return { state: 'void' }
    },
  }
}
