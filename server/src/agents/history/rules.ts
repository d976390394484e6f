import type { RunRecordReason } from '@roost/contracts/agents/history'
import { bytesText } from '@roost/contracts/kit/bytes'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import { LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import { type Change, HistoryFull, InvalidTree } from '../../ports/workspace-history/port.ts'
import { InvalidAnswer } from './pull.ts'
import type { RecordRow } from './tables.ts'

/** Share of a quota from which on operators are told. */
export const historyWarningShare = 0.8
/** Retention removes records until the use is below this share of the quota. */
export const historyKeepShare = 0.75

/** The agent's name in the store, which allows small letters, digits and dashes only. */
export function storeName(agentId: string): string {
  return Buffer.from(agentId).toString('hex')
}

/** Inverse of `storeName`. */
export function agentIdOf(name: string): string {
  return Buffer.from(name, 'hex').toString()
}

/** Why a record was not made. Null: the link ended, so it can be made on the next one. */
export function reasonOf(error: unknown): RunRecordReason | null {
  if (error instanceof LinkDown) return null
  if (error instanceof LinkTimeout || (error instanceof Error && error.name === 'TimeoutError'))
    return 'agent_timeout'
  if (error instanceof LinkFault) return error.code === 'unknown_message' ? 'agent_outdated' : 'agent_fault'
  if (error instanceof InvalidAnswer || error instanceof InvalidTree) return 'invalid_answer'
  return error instanceof HistoryFull ? 'quota_full' : 'store_fault'
}

export function countsOf(
  changes: readonly Change[],
): Pick<RecordRow, 'added' | 'changed' | 'deleted' | 'renamed'> {
  const counts = { added: 0, changed: 0, deleted: 0, renamed: 0 }
  for (const { change, before, after } of changes) {
    if ((after ?? before)?.kind === 'folder') continue
    counts[change === 'attributes' ? 'changed' : change] += 1
  }
  return counts
}

export type HistoryUse = { used_bytes: number; quota_bytes: number }

/** False for an unlimited quota. */
export function isAbove({ used_bytes, quota_bytes }: HistoryUse, share: number): boolean {
  return quota_bytes > 0 && used_bytes >= quota_bytes * share
}

/** Bytes that one more record may have. */
export function roomOf({ used_bytes, quota_bytes }: HistoryUse): number {
  return quota_bytes === 0 ? Number.MAX_SAFE_INTEGER : Math.max(0, quota_bytes - used_bytes)
}

/** `agent` is null for the installation's quota. */
export function historyAlert(agent: { id: string; name: string } | null, use: HistoryUse): PlatformAlert {
  const amount = `${bytesText(use.used_bytes)} of ${bytesText(use.quota_bytes)}`
  return {
    agentId: agent?.id ?? null,
    kind: 'history_quota',
    priority: 'medium',
    title: agent
      ? `The history of "${agent.name}" is almost full: ${amount}`
      : `The workspace history of all agents is almost full: ${amount}`,
    question:
      'Old records were removed, and those that remain are pinned or the latest. When the quota is full, runs still work, but their changes are not recorded. Unpin records, leave out large files, or raise the quota.',
    context: { ...use },
  }
}
