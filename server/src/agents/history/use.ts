import type { WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { type HistoryUse, roomOf, storeName } from './rules.ts'

/** What the history occupies. Measured by the store, and counted up between two measurements. */
export type HistoryUses = {
  /** Bytes that the agent's next record may have. */
  room(agentId: string): Promise<number>
  received(agentId: string, bytes: number): void
  measure(agentId: string): Promise<HistoryUse>
  /** Measures it. */
  isWithinQuota(agentId: string): Promise<boolean>
  measureAll(): Promise<HistoryUse>
}

export type HistoryUsesDeps = {
  history: Pick<WorkspaceHistory, 'use' | 'size'>
  quotaOf(agentId: string): Promise<number>
  /** Quota of all agents together; 0 means unlimited. */
  totalQuota: number
}

export function createUses({ history, quotaOf, totalQuota }: HistoryUsesDeps): HistoryUses {
  const used = new Map<string, number>()
  let total: number | null = null

  async function measure(agentId: string): Promise<HistoryUse> {
    const bytes = await history.use(storeName(agentId))
    used.set(agentId, bytes)
    return { used_bytes: bytes, quota_bytes: await quotaOf(agentId) }
  }

  async function measureAll(): Promise<HistoryUse> {
    total = await history.size()
    return { used_bytes: total, quota_bytes: totalQuota }
  }

  return {
    async room(agentId) {
      const known = used.get(agentId)
      const own =
        known === undefined
          ? await measure(agentId)
          : { used_bytes: known, quota_bytes: await quotaOf(agentId) }
      const all = total === null ? await measureAll() : { used_bytes: total, quota_bytes: totalQuota }
      return Math.min(roomOf(own), roomOf(all))
    },
    received(agentId, bytes) {
      const known = used.get(agentId)
      if (known !== undefined) used.set(agentId, known + bytes)
      if (total !== null) total += bytes
    },
    measure,
    async isWithinQuota(agentId) {
      const { used_bytes, quota_bytes } = await measure(agentId)
      return quota_bytes === 0 || used_bytes <= quota_bytes
    },
    measureAll,
  }
}
