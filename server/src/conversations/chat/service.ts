import type { ChatReply } from '@roost/contracts/conversations/chat'
import type { Claim, Idempotency, WorkStateOf } from '../../foundation/idempotency/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch } from '../../runs/dispatch/index.ts'
import type { Executions, RunHooks } from '../../runs/executions/index.ts'
import type { JoinConversation } from '../../runs/tasks/index.ts'
import { type Asking, createWait } from '../../runs/waiting/index.ts'
import type { DeliverResult } from '../../triggers/reminders/index.ts'
import { createDeliverResult } from './deliver-result.ts'
import { createTakeOnce, type Taken, turnState } from './once.ts'
import { replyOf, replyText } from './reply.ts'
import { createSessions, type Party, type Sessions } from './sessions.ts'
import { type Item, turnItems } from './stream.ts'
import { createJoinConversation, registerTaskResults } from './task-results.ts'
import { createTakeTurn, type Turn, type TurnAsked } from './turn.ts'
import { registerTurnHooks } from './turn-hooks.ts'

export type ChatDeps = {
  db: Db
  clock: Clock
  log: Log
  events: Pick<Outbox, 'append'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  hooks: RunHooks
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'watch' | 'inFlight' | 'toolCalls'>
  idempotency: Pick<Idempotency, 'enter'>
  /** Name of an agent, for turns that an agent takes with another one. */
  agentName(agentId: string): Promise<string | null>
}

export type Chat = {
  sessions: Sessions
  /** Takes a turn in, once for each key. */
  takeOnce(party: Party, asked: TurnAsked, key: string | undefined): Promise<Taken>
  /** The turn as it happens. */
  follow(turn: Turn, claim: Claim, signal: AbortSignal): AsyncGenerator<Item, void, undefined>
  /** The reply when the turn has ended; the transcript is left out. Throws as `Wait` does. */
  wait(turn: Turn, claim: Claim, asking: Asking): Promise<ChatReply>
  /** A reply with its transcript, as JSON text. */
  text(reply: ChatReply, signal: AbortSignal): AsyncIterable<string>
  /** For the store of idempotency keys: what has become of a turn. */
  workState: WorkStateOf
  /** Port of the tasks: what they leave in a conversation. */
  joinConversation: JoinConversation
  /** Port of the reminders. */
  deliverResult: DeliverResult
  /** Hook of the registry. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
}

export function createChat(deps: ChatDeps): Chat {
  const sessions = createSessions(deps)
  const takeTurn = createTakeTurn({ ...deps, sessions })
  const waitForEnd = createWait(deps)
  registerTurnHooks(deps.hooks, deps)
  registerTaskResults(deps.hooks, deps)

  /** A turn that came to nothing leaves its key free. */
  const settleKey = (claim: Claim, reply: ChatReply) =>
    reply.status === 'success' ? claim.complete({ status: 200, body: reply }) : claim.release()

  return {
    sessions,
    takeOnce: createTakeOnce({ ...deps, takeTurn }),
    follow: (turn, claim, signal) =>
      turnItems(deps, turn, { signal, done: (reply) => settleKey(claim, reply) }),
    async wait(turn, claim, asking) {
      const ended = await waitForEnd(turn.row, claim, asking)
      const reply = await replyOf(deps, turn, ended)
      await settleKey(claim, reply)
      return reply
    },
    text: (reply, signal) => replyText(deps.db, reply, signal),
    workState: turnState(deps),
    joinConversation: createJoinConversation({ clock: deps.clock, sessions }),
    deliverResult: createDeliverResult(deps),
    agentDeleted: sessions.agentDeleted,
  }
}
