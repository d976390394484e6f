import type { Caller } from '../../identity/access/caller.ts'
import type { Fault } from '../../kit/fault.ts'

/** Rechecks long replies when somebody may have lost access. */
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

export type LongReply = {
  /** Absent for a caller whose token only the feature knows. */
  caller?: Caller
  agent: { id: string; name: string }
  signal: AbortSignal
  /** The revocation epoch before access was checked. */
  epoch: number
  /** Throws when access is lost. */
  ask(): Promise<unknown>
  /** The fault of a waiting request after access is lost. */
  refusal(): Fault
}

/** Long replies that end immediately when their caller loses access. */
export function createLongReplies(accessRevocation: AccessRevocationPort) {
  function watch({ caller, agent: { id, name }, epoch, ask }: LongReply, end: () => void): () => void {
    const admission = { ...(caller ? { caller } : {}), agent: { id, name }, ask, end }
    return accessRevocation.watch(admission, epoch)
  }

  return {
    /** Yields what `make` yields until access is lost. */
    async *stream<T>(reply: LongReply, make: (signal: AbortSignal) => AsyncIterable<T>) {
      const lost = new AbortController()
      const stopWatching = watch(reply, () => lost.abort())
      try {
        yield* make(AbortSignal.any([reply.signal, lost.signal]))
      } finally {
        stopWatching()
      }
    },

    /** Throws the refusal when access was lost during the work. */
    async wait<T>(reply: LongReply, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const lost = new AbortController()
      const stopWatching = watch(reply, () => lost.abort())
      try {
        return await work(AbortSignal.any([reply.signal, lost.signal]))
      } catch (error) {
        throw lost.signal.aborted ? reply.refusal() : error
      } finally {
        stopWatching()
      }
    },
  }
}

export type LongReplies = ReturnType<typeof createLongReplies>
