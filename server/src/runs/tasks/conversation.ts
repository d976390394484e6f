import type { TaskBody } from '@roost/contracts/runs/tasks'
import type { SignedIn } from '../../identity/access/caller.ts'
import { invalidField } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { CheckedFile } from '../attachments/index.ts'
import type { ExecutionRow } from '../executions/index.ts'

/** What a task has to do with a conversation. */
export type JoinRequest = {
  /** Null: the caller's current one. */
  sessionId: string | null
  /** `turn`: question and answer are kept as messages; `result`: the answer alone; `nothing`: only named. */
  keeps: 'turn' | 'result' | 'nothing'
  /** An agent's task for itself may name any conversation that it holds with somebody. */
  isSelfTask: boolean
}

export type Joined = {
  sessionId: string
  /** Once the run is accepted, in the same transaction. */
  keep(row: ExecutionRow, files: readonly CheckedFile[]): Promise<void>
}

/**
 * Finds the conversation in the transaction that accepts the task; filled in `compose.ts` by the
 * conversations, which stand to the right. Throws `session_not_found`, `conflict` for a closed one.
 */
export type JoinConversation = (
  tx: Tx,
  party: { caller: SignedIn; agent: { id: string; name: string } },
  request: JoinRequest,
) => Promise<Joined>

/** Null: the task has nothing to do with a conversation. Throws `validation_error`. */
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
