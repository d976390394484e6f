import { Fault } from '../../kit/fault.ts'
import { type AccessRevocationPort, createLongReplies, type LongReply } from '../chat/index.ts'
import type { Principal, Principals } from './principal.ts'
import type { Roster } from './roster.ts'

export type RepliesDeps = {
  accessRevocation: AccessRevocationPort
  principals: Pick<Principals, 'isOpen'>
  roster: Pick<Roster, 'has'>
}

type ReplyContext = { principal: Principal; agent: { id: string; name: string }; signal: AbortSignal }

/** Long replies that end immediately when the person loses access to the agent. */
export function createReplies({ accessRevocation, principals, roster }: RepliesDeps) {
  const longReplies = createLongReplies(accessRevocation)
  const refusal = () => new Fault('agent_not_found')

  function longReplyOf({ principal, agent, signal }: ReplyContext): LongReply {
    const ask = async () => {
      if ((await roster.has(principal, agent.id)) && (await principals.isOpen(principal))) return
      throw refusal()
    }
    const { caller, epoch } = principal
    return { caller, agent, signal, epoch, ask, refusal }
  }

  return {
    /** Yields what `make` yields while the person has access. */
    stream: <T>(context: ReplyContext, make: (signal: AbortSignal) => AsyncIterable<T>) =>
      longReplies.stream(longReplyOf(context), make),

    /** Throws `agent_not_found` when access was lost during the work. */
    wait: <T>(context: ReplyContext, work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
      longReplies.wait(longReplyOf(context), work),
  }
}

export type Replies = ReturnType<typeof createReplies>
