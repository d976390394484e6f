import type { WorkspaceChatBody } from '@roost/contracts/conversations/workspace-turns'
import type { Agent } from '../../agents/records/index.ts'
import type { Claim } from '../../foundation/idempotency/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import {
  createWait,
  type ExecutionRow,
  type Executions,
  executionStore,
  type WaitOptions,
} from '../../runs/executions/index.ts'
import { type Turn, turnItems } from '../chat/index.ts'
import type { Principal } from './principal.ts'
import type { Replies } from './replies.ts'
import type { TurnReply, Turns } from './turns.ts'

export type ChatDeps = {
  db: Db
  clock: Clock
  log: Log
  executions: Pick<Executions, 'watch' | 'untilEnd'>
  turns: Turns
  replies: Replies
}

/** `reply` is null when the turn takes longer than the caller waits. */
export type SentTurn = { executionId: string; sessionId: string; reply: TurnReply | null; isReplay: boolean }

export type WorkspaceTalk = ReturnType<typeof createTalk>

/** Waits for turns, or streams them. */
export function createTalk({ db, clock, log, executions, turns, replies }: ChatDeps) {
  const waitForEnd = createWait({ clock, executions })

  /** A failed turn releases its key. */
  async function settleKey(claim: Claim, row: ExecutionRow | null): Promise<void> {
    if (row?.status !== 'success') return claim.release()
    await claim.complete({ status: 200, body: await turns.replyOf(row) })
  }

  async function replayOf(replay: unknown): Promise<SentTurn> {
    // Stored by this feature: a reply, or the receipt of a request that did not wait.
    const stored = replay as TurnReply | { execution_id: string }
    if ('session_id' in stored) {
      return { executionId: stored.execution_id, sessionId: stored.session_id, reply: stored, isReplay: true }
    }
    const row = await executionStore(db).byId(stored.execution_id)
    return { executionId: stored.execution_id, sessionId: row?.session_id ?? '', reply: null, isReplay: true }
  }

  return {
    /** Throws the faults of accepting a turn, and of a failed run. */
    async send(
      principal: Principal,
      agent: Agent,
      body: WorkspaceChatBody,
      { key, ...options }: WaitOptions & { key: string | undefined },
    ): Promise<SentTurn> {
      const accepted = await turns.accept(principal, agent, body, key)
      if (!accepted.turn) return replayOf(accepted.replay)
      const { turn, claim } = accepted
      const sent = { executionId: turn.row.id, sessionId: turn.session.id, isReplay: false }
      try {
        const finished = await replies.wait({ principal, agent, signal: options.signal }, (signal) =>
          waitForEnd(turn.row, claim, { ...options, signal }),
        )
        await settleKey(claim, finished)
        return { ...sent, reply: await turns.replyOf(finished) }
      } catch (error) {
        if (isFault(error, 'sync_wait_exceeded')) return { ...sent, reply: null }
        throw error
      }
    },

    accept: turns.accept,
    replayOf,

    /** Streams the turn while it runs. */
    follow(
      principal: Principal,
      agent: Agent,
      { turn, claim }: { turn: Turn; claim: Claim },
      signal: AbortSignal,
    ) {
      return replies.stream({ principal, agent, signal }, (streamSignal) =>
        turnItems({ db, clock, log, executions }, turn, {
          signal: streamSignal,
          done: async () => settleKey(claim, await executionStore(db).byId(turn.row.id)),
        }),
      )
    },
  }
}
