import type { Caller } from '../../identity/access/caller.ts'
import { Fault } from '../../kit/fault.ts'
import type { Principal, Principals } from './principal.ts'
import type { Roster } from './roster.ts'

/** Where long replies are asked for again when somebody may have lost access. */
export type StandingPort = {
  losses(): number
  watch(
    admission: {
      caller: Caller
      agent: { id: string; name: string }
      ask(): Promise<unknown>
      end(): void
    },
    losses: number,
  ): () => void
}

export type FollowingDeps = {
  standing: StandingPort
  principals: Pick<Principals, 'isOpen'>
  roster: Pick<Roster, 'has'>
}

type About = { who: Principal; agent: { id: string; name: string }; signal: AbortSignal }

/** Replies that last: they end at once for somebody who may not use the agent any more. */
export function createFollowing({ standing, principals, roster }: FollowingDeps) {
  function watch({ who, agent }: About, end: () => void): () => void {
    const ask = async () => {
      if ((await roster.has(who, agent.id)) && (await principals.isOpen(who))) return
      throw new Fault('agent_not_found')
    }
    const { id, name } = agent
    return standing.watch({ caller: who.caller, agent: { id, name }, ask, end }, standing.losses())
  }

  return {
    /** What `make` gives, as long as the person may have it. */
    async *stream<T>(about: About, make: (signal: AbortSignal) => AsyncIterable<T>) {
      const lost = new AbortController()
      const leave = watch(about, () => lost.abort())
      try {
        yield* make(AbortSignal.any([about.signal, lost.signal]))
      } finally {
        leave()
      }
    },

    /** Throws `agent_not_found` when access was lost on the way. */
    async wait<T>(about: About, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const lost = new AbortController()
      const leave = watch(about, () => lost.abort())
      try {
        return await work(AbortSignal.any([about.signal, lost.signal]))
      } catch (error) {
        throw lost.signal.aborted ? new Fault('agent_not_found') : error
      } finally {
        leave()
      }
    },
  }
}

export type Following = ReturnType<typeof createFollowing>
