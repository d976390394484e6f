import type { TaskBody } from '@roost/contracts/runs/tasks'
import type { SignedIn } from '../../identity/access/caller.ts'
import { invalidField } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { CheckedFile } from '../attachments/index.ts'
import type { ExecutionRow } from '../executions/index.ts'

/** How a task relates to a conversation. */
export type JoinRequest = {
  /** Null means the caller's current one. */
  sessionId: string | null
  /**
   * What the conversation stores: `turn`, question and answer; `result`, the answer; `nothing`, no message.
   */
  keeps: 'turn' | 'result' | 'nothing'
  /** True for an agent's task for itself, which may name conversations that it does not hold. */
  isSelfTask: boolean
}

export type Joined = {
  sessionId: string
  /** Called in the same transaction once the run is accepted. */
  keep(row: ExecutionRow, files: readonly CheckedFile[]): Promise<void>
}

/**
 * Finds the conversation in the transaction that accepts the task. `compose.ts` fills it with the
 * conversations area to the right. Throws `session_not_found`, and `conflict` for a closed one.
 */
export type JoinConversation = (
  tx: Tx,
  party: { caller: SignedIn; agent: { id: string; name: string } },
  request: JoinRequest,
) => Promise<Joined>

/** Returns null when the task has no conversation. Throws `validation_error`. */
export function joinRequest(
  body: Pick<TaskBody, 'save_to_session' | 'session_id' | 'inject_result'>,
  isSelfTask: boolean,
): JoinRequest | null {
  const sessionId = body.session_id ?? null
  if (body.inject_result && !isSelfTask) {
    throw invalidField(['inject_result'], 'only a task that an agent gives itself may set it')
  }
  if (body.save_to_session) return { sessionId, keeps: 'turn', isSelfTask }
  if (body.inject_result && sessionId === null) {
    throw invalidField(['session_id'], 'is required with inject_result', 'missing')
  }
  if (sessionId === null) return null
  return { sessionId, keeps: body.inject_result ? 'result' : 'nothing', isSelfTask }
}
