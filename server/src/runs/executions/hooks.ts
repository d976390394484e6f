import type { RunResult } from '@roost/contracts/link/runs'
import type { Tx } from '../../ports/database/port.ts'
import type { ExecutionRow } from './store.ts'

/** What only the conversation knows about a turn, read when the turn is claimed. */
export type TurnContext = { message: string; resumeSessionId: string | null }

/**
 * Hooks of features to the right, called in the transaction of the event. They run in the order of
 * registration, which happens at composition.
 */
export type RunHooks = {
  /** After the commit that hands a run to its agent. */
  onClaimed(hook: ClaimedHook): void
  /** After a run has ended in any way; `row` is its current state. */
  onEnded(hook: EndedHook): void
  /** For a chat run that is being claimed. Throws when the turn can no longer run. */
  onTurn(hook: TurnHook): void
  /**
   * For a chat run whose runtime lost its session. Return true to queue the run again after preparing the
   * turn.
   */
  onSessionLost(hook: SessionLostHook): void
  /** Before retention deletes the rows of ended runs. */
  onRemoving(hook: RemovingHook): void
  readonly registered: {
    claimed: readonly ClaimedHook[]
    ended: readonly EndedHook[]
    turn: readonly TurnHook[]
    sessionLost: readonly SessionLostHook[]
    removing: readonly RemovingHook[]
  }
}

/** Must not throw. */
export type ClaimedHook = (row: ExecutionRow, now: Date) => void
export type EndedHook = (tx: Tx, row: ExecutionRow, now: Date) => Promise<void>
export type TurnHook = (tx: Tx, row: ExecutionRow) => Promise<TurnContext | null>
export type SessionLostHook = (tx: Tx, row: ExecutionRow, result: Omit<RunResult, 't'>) => Promise<boolean>

export type RemovingHook = (tx: Tx, executionIds: readonly string[]) => Promise<void>

export function createRunHooks(): RunHooks {
  const claimed: ClaimedHook[] = []
  const ended: EndedHook[] = []
  const turn: TurnHook[] = []
  const sessionLost: SessionLostHook[] = []
  const removing: RemovingHook[] = []
  return {
    onClaimed: (hook) => void claimed.push(hook),
    onEnded: (hook) => void ended.push(hook),
    onTurn: (hook) => void turn.push(hook),
    onSessionLost: (hook) => void sessionLost.push(hook),
    onRemoving: (hook) => void removing.push(hook),
    registered: { claimed, ended, turn, sessionLost, removing },
  }
}
