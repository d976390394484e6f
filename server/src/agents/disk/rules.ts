import { type DiskState, type DiskUsage, diskWarningShare } from '@roost/contracts/agents/disk'
import { bytesText } from '@roost/contracts/kit/bytes'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import { Fault } from '../../kit/fault.ts'

/** Measured sizes in bytes; null where a source has not reported yet. */
export type Figures = {
  /** The agent's volumes, as reported by its program. */
  reported_bytes: number | null
  /** The same volumes, as reported by the engine. */
  volume_bytes: number | null
  container_bytes: number | null
}

/** A figure is stored again when it has changed by more than this share. */
const changeShare = 0.01

/** The larger of both sources: an agent can report too little, and the engine measures less often. */
export function workspaceBytes({ reported_bytes, volume_bytes }: Figures): number | null {
  if (reported_bytes === null) return volume_bytes
  return Math.max(reported_bytes, volume_bytes ?? 0)
}

export function usedBytes(figures: Figures): number | null {
  const workspace = workspaceBytes(figures)
  if (workspace === null && figures.container_bytes === null) return null
  return (workspace ?? 0) + (figures.container_bytes ?? 0)
}

export function quotaOf(agent: { disk_quota_bytes: number | null }, defaultBytes: number): number {
  return agent.disk_quota_bytes ?? defaultBytes
}

export function stateOf({ used_bytes, quota_bytes }: Omit<DiskUsage, 'state'>): DiskState {
  if (quota_bytes === 0 || used_bytes === null) return 'ok'
  if (used_bytes >= quota_bytes) return 'full'
  return used_bytes >= quota_bytes * diskWarningShare ? 'low' : 'ok'
}

export function hasChanged(before: number | null, after: number | null): boolean {
  if (before === null || after === null) return before !== after
  return Math.abs(after - before) > before * changeShare
}

/** Throws `disk_quota_reached` when the agent has used up its quota. */
export function requireDiskRoom({ name, disk_state }: { name: string; disk_state: DiskState }): void {
  if (disk_state !== 'full') return
  const detail = `The agent "${name}" has used up its disk quota: delete files or raise the quota.`
  throw new Fault('disk_quota_reached', detail, { agent_name: name })
}

/** The alert for an agent in state `low` or `full`. */
export function quotaAlert(agent: { id: string; name: string }, usage: DiskUsage): PlatformAlert {
  const { used_bytes, quota_bytes, state } = usage
  const amount = `${bytesText(used_bytes ?? 0)} of ${bytesText(quota_bytes)}`
  const isFull = state === 'full'
  return {
    agentId: agent.id,
    kind: 'disk_quota',
    priority: isFull ? 'high' : 'medium',
    title: isFull
      ? `"${agent.name}" has used up its disk quota: ${amount}`
      : `"${agent.name}" uses more than 80 % of its disk quota: ${amount}`,
    question: isFull
      ? 'New runs wait, and uploads are refused. Delete files in the workspace, or raise the quota in the settings of the agent.'
      : 'At 100 %, new runs wait and uploads are refused. Delete files, or raise the quota in the settings of the agent.',
    context: { used_bytes, quota_bytes },
  }
}
