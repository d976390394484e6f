import type { Caller } from '../../identity/access/caller.ts'
import type { Fault } from '../../kit/fault.ts'

/** Where long replies are asked for again when somebody may have lost access. */
export type AccessRevocationPort = {
  revocationEpoch(): number
  watch(
    admission: {
      caller?: Caller
      agent: { id: string; name: string }
      ask(): Promise<unknown>
      end(): void
    },
    revocationEpoch: number,
  ): () => void
}

export type Lasting = {
  /** Absent for somebody whose token only the feature knows. */
  caller?: Caller
  agent: { id: string; name: string }
  signal: AbortSignal
  /** Throws when the reply may not go on. */
  ask(): Promise<unknown>
  /** What somebody who waits is told then. */
  refusal(): Fault
}

/** Replies that last: they end at once for somebody who may not have the rest. */
export function createLastingReplies(accessRevocation: AccessRevocationPort) {
  function watch({ caller, agent: { id, name }, ask }: Lasting, end: () => void): () => void {
    const admission = { ...(caller ? { caller } : {}), agent: { id, name }, ask, end }
    return accessRevocation.watch(admission, accessRevocation.revocationEpoch())
  }

  return {
    /** What `make` gives, as long as it may be had. */
    async *stream<T>(of: Lasting, make: (signal: AbortSignal) => AsyncIterable<T>) {
      const lost = new AbortController()
      const leave = watch(of, () => lost.abort())
      try {
        yield* make(AbortSignal.any([of.signal, lost.signal]))
      } finally {
        leave()
      }
    },

    /** Throws the refusal when access was lost on the way. */
    async wait<T>(of: Lasting, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const lost = new AbortController()
      const leave = watch(of, () => lost.abort())
      try {
        return await work(AbortSignal.any([of.signal, lost.signal]))
      } catch (error) {
        throw lost.signal.aborted ? of.refusal() : error
      } finally {
        leave()
      }
    },
  }
}

export type LastingReplies = ReturnType<typeof createLastingReplies>
