import type { Clock } from '../../kit/clock.ts'
import type { WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { type HistoryUsage, roomOf, storeName } from './rules.ts'

/**
 * What the history occupies in this process's store. Measured, and counted up between two measurements, without what
 * other processes store and remove.
 */
export type UsageMeter = {
  /** Bytes that the agent's next record may have. */
  room(agentId: string): Promise<number>
  received(agentId: string, bytes: number): void
  measure(agentId: string): Promise<HistoryUsage>
  /** Measures it. */
  isWithinQuota(agentId: string): Promise<boolean>
  measureAll(): Promise<HistoryUsage>
}

export type UsageMeterDeps = {
  history: Pick<WorkspaceHistory, 'usedBytes' | 'size'>
  clock: Pick<Clock, 'now'>
  quotaOf(agentId: string): Promise<number>
  /** Quota of all agents together; 0 means unlimited. */
  totalQuota: number
}

const totalMs = 10 * 60_000

export function createUsageMeter({ history, clock, quotaOf, totalQuota }: UsageMeterDeps): UsageMeter {
  const used = new Map<string, number>()
  let total: { bytes: number; until: number } | null = null

  async function measure(agentId: string): Promise<HistoryUsage> {
    const bytes = await history.usedBytes(storeName(agentId))
    used.set(agentId, bytes)
    return { used_bytes: bytes, quota_bytes: await quotaOf(agentId) }
  }

  async function measureAll(): Promise<HistoryUsage> {
    const bytes = await history.size()
    total = { bytes, until: clock.now().getTime() + totalMs }
    return { used_bytes: bytes, quota_bytes: totalQuota }
  }

  /** Zero may be outdated: another process may have removed records since. */
  async function roomOfAgent(agentId: string): Promise<number> {
    const known = used.get(agentId)
    const room = known === undefined ? 0 : roomOf({ used_bytes: known, quota_bytes: await quotaOf(agentId) })
    return room > 0 ? room : roomOf(await measure(agentId))
  }

  async function roomOfAll(): Promise<number> {
    const isKnown = total !== null && clock.now().getTime() < total.until
    const room = total && isKnown ? roomOf({ used_bytes: total.bytes, quota_bytes: totalQuota }) : 0
    return room > 0 ? room : roomOf(await measureAll())
  }

  return {
    room: async (agentId) => Math.min(await roomOfAgent(agentId), await roomOfAll()),
    received(agentId, bytes) {
      const known = used.get(agentId)
      if (known !== undefined) used.set(agentId, known + bytes)
      if (total !== null) total.bytes += bytes
    },
    measure,
    async isWithinQuota(agentId) {
      const { used_bytes, quota_bytes } = await measure(agentId)
      return quota_bytes === 0 || used_bytes <= quota_bytes
    },
    measureAll,
  }
}
