import type { RunRecordReason } from '@roost/contracts/agents/history'
import { Fault } from '../../kit/fault.ts'
import { LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import { HistoryFull, InvalidTree } from '../../ports/workspace-history/port.ts'
import { InvalidAnswer } from './pull.ts'

/** A restore is changing the workspace, so a record would mix two states of it. */
export class WorkspaceRestoring extends Fault {
  constructor() {
    super('conflict', 'The workspace is being restored. Try again when that has ended.')
  }
}

/** Why a record was not made. Null: it can be made on the next link, or after the restore. */
export function reasonOf(error: unknown): RunRecordReason | null {
  if (error instanceof LinkDown || error instanceof WorkspaceRestoring) return null
  if (error instanceof LinkTimeout || (error instanceof Error && error.name === 'TimeoutError'))
    return 'agent_timeout'
  if (error instanceof LinkFault) return error.code === 'unknown_message' ? 'agent_outdated' : 'agent_fault'
  if (error instanceof InvalidAnswer || error instanceof InvalidTree) return 'invalid_answer'
  return error instanceof HistoryFull ? 'quota_full' : 'store_fault'
}
