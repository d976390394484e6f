import type { RunResult } from '@roost/contracts/link/runs'
import type { Tx } from '../../ports/database/port.ts'
import type { ExecutionRow } from './store.ts'

/** What a turn of a conversation needs that only the conversation knows, when it is handed out. */
export type TurnContext = { message: string; resumeSessionId: string | null }

/**
 * Where features to the right take part in what happens to a run, in the same transaction. They register
 * when they are composed; the order of registration is the order of the calls.
 */
export type RunHooks = {
  /** After a run has ended, however it ended; `row` is as it is now. */
  onEnded(hook: EndedHook): void
  /** Of a chat run that is about to be handed out. Throws when the turn cannot be taken any more. */
  onTurn(hook: TurnHook): void
  /**
   * Of a chat run whose runtime no longer knows its session. True: hand it out once more, the hook has
   * arranged what that turn needs.
   */
  onSessionLost(hook: SessionLostHook): void
  readonly registered: {
    ended: readonly EndedHook[]
    turn: readonly TurnHook[]
    sessionLost: readonly SessionLostHook[]
  }
}

export type EndedHook = (tx: Tx, row: ExecutionRow, now: Date) => Promise<void>
export type TurnHook = (tx: Tx, row: ExecutionRow) => Promise<TurnContext | null>
export type SessionLostHook = (tx: Tx, row: ExecutionRow, result: Omit<RunResult, 't'>) => Promise<boolean>

export function createRunHooks(): RunHooks {
  const ended: EndedHook[] = []
  const turn: TurnHook[] = []
  const sessionLost: SessionLostHook[] = []
  return {
    onEnded: (hook) => void ended.push(hook),
    onTurn: (hook) => void turn.push(hook),
    onSessionLost: (hook) => void sessionLost.push(hook),
    registered: { ended, turn, sessionLost },
  }
}
