import type { RunRecordReason } from '@roost/contracts/agents/history'
import { LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import { HistoryFull, InvalidTree } from '../../ports/workspace-history/port.ts'
import { InvalidAnswer } from './pull.ts'

/** Why a record was not made. Null: the link ended, so it can be made on the next one. */
export function reasonOf(error: unknown): RunRecordReason | null {
  if (error instanceof LinkDown) return null
  if (error instanceof LinkTimeout || (error instanceof Error && error.name === 'TimeoutError'))
    return 'agent_timeout'
  if (error instanceof LinkFault) return error.code === 'unknown_message' ? 'agent_outdated' : 'agent_fault'
  if (error instanceof InvalidAnswer || error instanceof InvalidTree) return 'invalid_answer'
  return error instanceof HistoryFull ? 'quota_full' : 'store_fault'
}
