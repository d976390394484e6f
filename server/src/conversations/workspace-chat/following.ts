import { Fault } from '../../kit/fault.ts'
import { type AccessRevocationPort, createLastingReplies, type Lasting } from '../chat/index.ts'
import type { Principal, Principals } from './principal.ts'
import type { Roster } from './roster.ts'

export type FollowingDeps = {
  accessRevocation: AccessRevocationPort
  principals: Pick<Principals, 'isOpen'>
  roster: Pick<Roster, 'has'>
}

type About = { who: Principal; agent: { id: string; name: string }; signal: AbortSignal }

/** Replies that last: they end at once for somebody who may not use the agent any more. */
export function createFollowing({ accessRevocation, principals, roster }: FollowingDeps) {
  const lasting = createLastingReplies(accessRevocation)
  const refusal = () => new Fault('agent_not_found')

  function lastingOf({ who, agent, signal }: About): Lasting {
    const ask = async () => {
      if ((await roster.has(who, agent.id)) && (await principals.isOpen(who))) return
      throw refusal()
    }
    return { caller: who.caller, agent, signal, ask, refusal }
  }

  return {
    /** What `make` gives, as long as the person may have it. */
    stream: <T>(about: About, make: (signal: AbortSignal) => AsyncIterable<T>) =>
      lasting.stream(lastingOf(about), make),

    /** Throws `agent_not_found` when access was lost on the way. */
    wait: <T>(about: About, work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
      lasting.wait(lastingOf(about), work),
  }
}

export type Following = ReturnType<typeof createFollowing>
