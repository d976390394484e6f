import { bytesText } from '@roost/contracts/kit/bytes'
import type { LeftOutPath } from '@roost/contracts/link/history'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { RecordRow } from './tables.ts'

/** Share of a quota from which an alert is raised. */
export const historyWarningShare = 0.8
/** Retention removes records until the usage is below this share of the quota. */
export const historyKeepShare = 0.75

/** The agent's name in the store, which allows small letters, digits and dashes only. */
export function storeName(agentId: string): string {
  return Buffer.from(agentId).toString('hex')
}

/** Inverse of `storeName`. */
export function agentIdOf(name: string): string {
  return Buffer.from(name, 'hex').toString()
}

/** Paths that a record names as left out. */
export function leftOutOf({ left_out }: RecordRow): string[] {
  // Written by this platform.
  return (JSON.parse(left_out) as LeftOutPath[]).map(({ path }) => path)
}

/**
 * Paths that a restore of the record must not delete. If the record cannot name all that it left out, these are all paths:
 * the empty one. What it left out by a rule is named last, because the rules protect it as well.
 */
export function keptPathsOf(record: RecordRow): string[] {
  // Written by this platform.
  const named = JSON.parse(record.left_out) as LeftOutPath[]
  const isComplete = record.left_out_count <= named.length || named.some(({ reason }) => reason === 'rule')
  return isComplete ? named.map(({ path }) => path) : ['']
}

export type HistoryUsage = { used_bytes: number; quota_bytes: number }

/** False for an unlimited quota. */
export function isAbove({ used_bytes, quota_bytes }: HistoryUsage, share: number): boolean {
  return quota_bytes > 0 && used_bytes >= quota_bytes * share
}

/**
 * Bytes of all agents together down to which old records are removed. If what must stay, such as the pinned records of one
 * account, needs more than that, the others keep half of the remaining room instead of losing all of their history.
 */
export function historyGoal(lastingBytes: number, quotaBytes: number): number {
  const usual = quotaBytes * historyKeepShare
  if (lastingBytes < usual) return usual
  return lastingBytes < quotaBytes ? (lastingBytes + quotaBytes) / 2 : Number.POSITIVE_INFINITY
}

/** Bytes that one more record may have. */
export function roomOf({ used_bytes, quota_bytes }: HistoryUsage): number {
  return quota_bytes === 0 ? Number.MAX_SAFE_INTEGER : Math.max(0, quota_bytes - used_bytes)
}

/** `agent` is null for the installation's quota. `isRefused`: the last run needed more than is left. */
export function historyAlert(
  agent: { id: string; name: string } | null,
  used: HistoryUsage,
  isRefused = false,
): PlatformAlert {
  const amount = `${bytesText(used.used_bytes)} of ${bytesText(used.quota_bytes)}`
  return {
    agentId: agent?.id ?? null,
    kind: 'history_quota',
    priority: 'medium',
    title: agent
      ? `The history of "${agent.name}" ${isRefused ? 'has no room for the last run' : 'is almost full'}: ${amount}`
      : `The workspace history of all agents is almost full: ${amount}`,
    question:
      'Old records are removed. Those that are pinned, the latest, or needed by attempts stay. When the quota is full, runs still work, but their changes are not recorded. Unpin records, keep or discard attempts, leave out large files, or raise the quota.',
    context: { ...used },
  }
}
