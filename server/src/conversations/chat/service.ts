import type { ChatReply } from '@roost/contracts/conversations/chat'
import type { Claim, Idempotency, WorkStateOf } from '../../foundation/idempotency/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch } from '../../runs/dispatch/index.ts'
import type { Executions, RunHooks } from '../../runs/executions/index.ts'
import { createWait, type WaitOptions } from '../../runs/executions/index.ts'
import type { JoinConversation } from '../../runs/tasks/index.ts'
import type { DeliverResult } from '../../triggers/reminders/index.ts'
import { type AcceptedOnce, createAcceptOnce, turnState } from './accept-once.ts'
import { createDeliverResult } from './deliver-result.ts'
import { replyOf, replyText } from './reply.ts'
import { createSessions, type Party, type Sessions } from './sessions.ts'
import { type Item, turnItems } from './stream.ts'
import { createJoinConversation, registerTaskResults } from './task-results.ts'
import { createAcceptTurn, type Turn, type TurnRequest } from './turn.ts'
import { registerTurnHooks } from './turn-hooks.ts'

export type ChatDeps = {
  db: Db
  clock: Clock
  log: Log
  events: Pick<Outbox, 'append'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  hooks: RunHooks
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'watch' | 'untilEnd' | 'inFlight' | 'toolCalls'>
  idempotency: Pick<Idempotency, 'enter'>
  /** The name of an agent, for turns that an agent requests from another one. */
  agentName(agentId: string): Promise<string | null>
}

export type Chat = {
  sessions: Sessions
  /** Accepts a turn once for each key. */
  acceptOnce(party: Party, request: TurnRequest, key: string | undefined): Promise<AcceptedOnce>
  /** Streams the turn while it runs. */
  follow(turn: Turn, claim: Claim, signal: AbortSignal): AsyncGenerator<Item, void, undefined>
  /** Waits for the reply, without its transcript. Throws the faults of `Wait`. */
  wait(turn: Turn, claim: Claim, options: WaitOptions): Promise<ChatReply>
  /** A reply with its transcript, as JSON text. */
  text(reply: ChatReply, signal: AbortSignal): AsyncIterable<string>
  /** Reports the state of a turn to the idempotency store. */
  workState: WorkStateOf
  /** Port of the tasks: adds their messages to a conversation. */
  joinConversation: JoinConversation
  /** Port of the reminders. */
  deliverResult: DeliverResult
  /** Hook of agent deletion. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
}

export function createChat(deps: ChatDeps): Chat {
  const sessions = createSessions(deps)
  const acceptTurn = createAcceptTurn({ ...deps, sessions })
  const waitForEnd = createWait(deps)
  registerTurnHooks(deps.hooks, deps)
  registerTaskResults(deps.hooks, deps)

  /** A failed turn releases its key. */
  const settleKey = (claim: Claim, reply: ChatReply) =>
    reply.status === 'success' ? claim.complete({ status: 200, body: reply }) : claim.release()

  return {
    sessions,
    acceptOnce: createAcceptOnce({ ...deps, acceptTurn }),
    follow: (turn, claim, signal) =>
      turnItems(deps, turn, { signal, done: (reply) => settleKey(claim, reply) }),
    async wait(turn, claim, options) {
      const finished = await waitForEnd(turn.row, claim, options)
      const reply = await replyOf(deps, turn, finished)
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
