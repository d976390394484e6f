import type { Reply } from './claim.ts'

/** The accepted work that a claim names. */
export type Work = { execution_id: string | null; fan_out_id: string | null }

/**
 * What has become of accepted work: still going on, come to nothing (failed, cancelled, skipped, gone), or
 * done, with the reply it would have had where that can still be told.
 */
export type WorkState = { state: 'open' | 'void' } | { state: 'done'; reply: Reply | null }

/** Answers for the work of one feature; null: it is not mine. */
export type WorkStateOf = (work: Work) => Promise<WorkState | null>

/** Features whose requests carry keys say here what has become of their work; they are asked in turn. */
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
      // Nobody knows it: it is gone.
      return { state: 'void' }
    },
  }
}
