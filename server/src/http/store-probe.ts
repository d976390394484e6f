import type { StoreProblem } from '@roost/contracts/operations/health'
import type { Clock } from '../kit/clock.ts'
import { DatabaseDown, DatabaseFull } from '../ports/database/port.ts'
import { EphemeralDown } from '../ports/ephemeral/port.ts'

/** A store with a write that changes nothing of value. */
export type ProbedStore = { store: StoreProblem['store']; write(): Promise<unknown> }

/** Anybody may ask for the health, so writes are not repeated for each request. */
const maxAgeMs = 5_000
const maxWriteMs = 2_000

/** Returns the stores that cannot be written, from writes that are at most five seconds old. */
export function createStoreProbe(deps: {
  clock: Pick<Clock, 'now' | 'wait'>
  stores: readonly ProbedStore[]
}): () => Promise<StoreProblem[]> {
  const { clock, stores } = deps
  let last: { at: number; problems: Promise<StoreProblem[]> } | null = null

  async function problemOf({ store, write }: ProbedStore): Promise<StoreProblem | null> {
    const done = new AbortController()
    const timeout = clock.wait(maxWriteMs, done.signal).then(() => 'late' as const)
    const outcome = await Promise.race([write().then(() => null, reasonOf), timeout])
    done.abort()
    if (outcome === null) return null
    return {
      store,
      reason: outcome === 'late' ? `A write took more than ${maxWriteMs / 1000} seconds.` : outcome,
    }
  }

  return () => {
    const at = clock.now().getTime()
    // A clock that was set back must not keep a result for hours.
    if (!last || Math.abs(at - last.at) >= maxAgeMs) {
      const problems = Promise.all(stores.map(problemOf)).then((all) => all.filter((each) => each !== null))
      last = { at, problems }
    }
    return last.problems
  }
}

/** Without the text of unknown errors, which may name paths or addresses. */
function reasonOf(error: unknown): string {
  for (const kind of [DatabaseFull, DatabaseDown, EphemeralDown])
    if (error instanceof kind) return error.message
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : null
  if (code === 'ENOSPC') return 'The disk is full.'
  return code === null ? 'Writes fail.' : `Writes fail with ${code}.`
}
