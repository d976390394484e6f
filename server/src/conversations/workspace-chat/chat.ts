import type { WorkspaceChatBody } from '@roost/contracts/conversations/workspace-turns'
import type { Agent } from '../../agents/records/index.ts'
import type { Claim } from '../../foundation/idempotency/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type ExecutionRow, type Executions, executionStore } from '../../runs/executions/index.ts'
import { type Asking, createWait } from '../../runs/waiting/index.ts'
import { type Turn, turnItems } from '../chat/index.ts'
import type { Following } from './following.ts'
import type { Principal } from './principal.ts'
import type { TurnReply, Turns } from './turns.ts'

export type ChatDeps = {
  db: Db
  clock: Clock
  log: Log
  executions: Pick<Executions, 'watch'>
  turns: Turns
  following: Following
}

/** `reply` null: it goes on longer than is waited for. */
export type Said = { executionId: string; sessionId: string; reply: TurnReply | null; isReplay: boolean }

export type WorkspaceTalk = ReturnType<typeof createTalk>

/** Turns as they are waited for or followed. */
export function createTalk({ db, clock, log, executions, turns, following }: ChatDeps) {
  const waitForEnd = createWait({ clock, executions })

  /** A turn that came to nothing leaves its key free. */
  async function settleKey(claim: Claim, row: ExecutionRow | null): Promise<void> {
    if (row?.status !== 'success') return claim.release()
    await claim.complete({ status: 200, body: await turns.replyOf(row) })
  }

  async function saidBefore(replay: unknown): Promise<Said> {
    // Stored by this feature: a reply, or the receipt of one that was not waited for.
    const stored = replay as TurnReply | { execution_id: string }
    if ('session_id' in stored) {
      return { executionId: stored.execution_id, sessionId: stored.session_id, reply: stored, isReplay: true }
    }
    const row = await executionStore(db).byId(stored.execution_id)
    return { executionId: stored.execution_id, sessionId: row?.session_id ?? '', reply: null, isReplay: true }
  }

  return {
    /** Throws what taking a turn in throws, and how the run failed. */
    async say(
      who: Principal,
      agent: Agent,
      asked: WorkspaceChatBody,
      { key, ...asking }: Asking & { key: string | undefined },
    ): Promise<Said> {
      const taken = await turns.take(who, agent, asked, key)
      if (!taken.turn) return saidBefore(taken.replay)
      const { turn, claim } = taken
      const said = { executionId: turn.row.id, sessionId: turn.session.id, isReplay: false }
      try {
        const ended = await following.wait({ who, agent, signal: asking.signal }, (signal) =>
          waitForEnd(turn.row, claim, { ...asking, signal }),
        )
        await settleKey(claim, ended)
        return { ...said, reply: await turns.replyOf(ended) }
      } catch (error) {
        if (isFault(error, 'sync_wait_exceeded')) return { ...said, reply: null }
        throw error
      }
    },

    take: turns.take,
    saidBefore,

    /** The turn as it happens. */
    follow(who: Principal, agent: Agent, { turn, claim }: { turn: Turn; claim: Claim }, signal: AbortSignal) {
      return following.stream({ who, agent, signal }, (until) =>
        turnItems({ db, clock, log, executions }, turn, {
          signal: until,
          done: async () => settleKey(claim, await executionStore(db).byId(turn.row.id)),
        }),
      )
    },
  }
}
