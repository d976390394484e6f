import type { Loop } from '../../background/loops.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { RecordId, WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import type { AgentRecords } from '../records/index.ts'
import {
  agentIdOf,
  type HistoryUsage,
  historyAlert,
  historyGoal,
  historyKeepShare,
  historyWarningShare,
  isAbove,
  storeName,
} from './rules.ts'
import { historyStore } from './store.ts'
import type { RecordRow } from './tables.ts'
import type { UsageMeter } from './usage.ts'

export type HistoryRetentionDeps = SweepDeps & {
  db: Db
  log: Pick<Log, 'info'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
  history: WorkspaceHistory
  usage: UsageMeter
  agentRecords: Pick<AgentRecords, 'byId'>
}

/** Share of the records that is removed before the usage is measured again. */
const stepShare = 0.1
const everySeconds = 600
const collectSeconds = 3600

/** Keeps the history within its quotas and its retention window, and frees what no record needs. */
export function createHistoryRetention(deps: HistoryRetentionDeps) {
  const { db, clock, log, alerts, history, usage, agentRecords } = deps
  const store = historyStore(db)
  /** Stored records without a row, found by the last run: the row of a new record follows its content. */
  let orphans = new Set<string>()
  let lastPass: { at: number; isHigh: boolean } | null = null

  /** Removes rows, and their contents from this store. Other stores remove them as orphans. */
  async function remove(found: readonly Pick<RecordRow, 'id' | 'agent_id'>[]): Promise<number> {
    const removed = new Set(await store.remove(found.map(({ id }) => id)))
    for (const agentId of new Set(found.map(({ agent_id }) => agent_id))) {
      const ids = found
        .filter(({ id, agent_id }) => agent_id === agentId && removed.has(id))
        .map(({ id }) => id)
      await history.remove(storeName(agentId), ids)
    }
    return removed.size
  }

  /** Of the records that this store has, removes the oldest. Returns their number. */
  async function removeOldest(filter: { agentId?: string }): Promise<number> {
    const stored = new Set((await history.records()).map(({ record }) => record))
    const found = (await store.removable(filter)).filter(({ id }) => stored.has(id))
    return remove(found.slice(0, Math.ceil(found.length * stepShare)))
  }

  /** Bytes that remain of these records if all others are removed. */
  async function lastingBytes(stored: readonly RecordId[], filter: { agentId?: string }): Promise<number> {
    const removable = new Set((await store.removable(filter)).map(({ id }) => id))
    return history.bytesOf(stored.filter(({ record }) => !removable.has(record)))
  }

  /** Removes the oldest records until there is room. Returns the usage that remains. */
  async function trim(agentId: string, signal?: AbortSignal): Promise<HistoryUsage> {
    let used = await usage.measure(agentId)
    if (!isAbove(used, historyWarningShare)) return used
    let removed = 0
    while (isAbove(used, historyKeepShare) && !signal?.aborted) {
      const count = await removeOldest({ agentId })
      if (count === 0) break
      removed += count
      used = await usage.measure(agentId)
    }
    if (removed > 0)
      log.info(
        { agent_id: agentId, removed },
        'old records of a workspace were removed: the quota was almost used up',
      )
    return used
  }

  /**
   * Removes the agent's oldest records until one more with this many bytes fits. Returns false, and removes nothing, if
   * it does not even fit beside the records that must stay.
   */
  async function makeRoom(agentId: string, bytes: number): Promise<boolean> {
    let used = await usage.measure(agentId)
    const isFull = () => used.quota_bytes > 0 && used.used_bytes + bytes > used.quota_bytes
    if (!isFull()) return true
    const stored = (await history.records()).filter(({ agent }) => agentIdOf(agent) === agentId)
    if ((await lastingBytes(stored, { agentId })) + bytes > used.quota_bytes) return false
    let removed = 0
    while (isFull()) {
      const count = await removeOldest({ agentId })
      if (count === 0) return false
      removed += count
      used = await usage.measure(agentId)
    }
    log.info({ agent_id: agentId, removed }, 'old records of a workspace were removed for a new one')
    return true
  }

  /** `isRefused`: the last run needed more than is left. */
  async function updateAlert(
    agent: { id: string; name: string } | null,
    used: HistoryUsage,
    isRefused = false,
  ): Promise<void> {
    await db.atomically((tx) =>
      isRefused || isAbove(used, historyWarningShare)
        ? alerts.raise(tx, historyAlert(agent, used, isRefused))
        : alerts.clear(tx, agent?.id ?? null, 'history_quota'),
    )
  }

  /** A run was not recorded because of a quota. */
  async function refused(agentId: string): Promise<void> {
    const used = await trim(agentId)
    const agent = await agentRecords.byId(agentId)
    if (agent) await updateAlert(agent, used, true)
  }

  /** Of the stores that have records of an agent, the one with the latest record decides about its alert. */
  async function hasLatest(agentId: string): Promise<boolean> {
    const latest = await store.latest(agentId)
    return (
      latest !== null && (await history.list({ agent: storeName(agentId), record: latest.id }, '')) !== null
    )
  }

  /** All stores share the alert about all agents, so each withdraws only what it may have raised. */
  async function updateTotalAlert(used: HistoryUsage): Promise<void> {
    const at = clock.now().getTime()
    const isHigh = isAbove(used, historyWarningShare)
    // After a long pause, another process may have raised it for this store.
    const isUnknown = lastPass === null || at - lastPass.at > 1500 * everySeconds
    const mayBeRaised = isUnknown || lastPass?.isHigh === true
    lastPass = { at, isHigh }
    if (isHigh || mayBeRaised) await updateAlert(null, used)
  }

  async function keepQuotas(signal: AbortSignal): Promise<void> {
    const stored = await history.records()
    for (const agentId of new Set(stored.map(({ agent }) => agentIdOf(agent)))) {
      if (signal.aborted) return
      const used = await trim(agentId, signal)
      const agent = await agentRecords.byId(agentId)
      if (agent && (await hasLatest(agentId))) await updateAlert(agent, used, await store.isRefused(agentId))
    }
    await updateTotalAlert(await trimAll(signal))
  }

  /** Removes the oldest records of all agents until there is room. Returns the usage that remains. */
  async function trimAll(signal: AbortSignal): Promise<HistoryUsage> {
    const used = await usage.measureAll()
    if (!isAbove(used, historyWarningShare)) return used
    // Garbage must not cause the removal of records.
    const neededBytes = async () => (await history.size()) - (await history.garbage())
    let needed = await neededBytes()
    const garbageShare = historyWarningShare - historyKeepShare
    let isWorthIt = isAbove({ ...used, used_bytes: used.used_bytes - needed }, garbageShare)
    if (isAbove({ ...used, used_bytes: needed }, historyWarningShare)) {
      const goal = await goalOf(used.quota_bytes, needed)
      while (needed > goal && !signal.aborted) {
        if ((await removeOldest({})) === 0) break
        isWorthIt = true
        needed = await neededBytes()
      }
    } else isWorthIt = true
    // Records wait meanwhile.
    if (!isWorthIt) return used
    await history.collect()
    return usage.measureAll()
  }

  /** Bytes above which old records are removed. */
  async function goalOf(quota: number, needed: number): Promise<number> {
    const stored = await history.records()
    const all = await history.bytesOf(stored)
    // The same share of what the store needs for its index.
    const lasting = all === 0 ? 0 : ((await lastingBytes(stored, {})) / all) * needed
    return historyGoal(lasting, quota)
  }

  /** Removes what deleted agents and killed processes left in the store. */
  async function removeOrphans(): Promise<void> {
    const stored = await history.records()
    const existing = await existingOf(stored.map(({ record }) => record))
    const found = stored.filter(({ record }) => !existing.has(record))
    for (const { agent, record } of found.filter(({ record }) => orphans.has(record)))
      await history.remove(agent, [record])
    // An agent is deleted in one transaction, so it gets no further record.
    const known = new Set(await store.agents())
    for (const { agent, record } of found)
      if (!known.has(agentIdOf(agent)) && !(await agentRecords.byId(agentIdOf(agent))))
        await history.remove(agent, [record])
    orphans = new Set(found.map(({ record }) => record))
  }

  async function existingOf(ids: readonly string[]): Promise<Set<string>> {
    const existing = new Set<string>()
    for (let at = 0; at < ids.length; at += 500)
      for (const id of await store.existing(ids.slice(at, at + 500))) existing.add(id)
    return existing
  }

  const loops: Loop[] = [
    createSweep(deps, {
      name: 'agents.history-retention',
      what: 'records of workspaces',
      key: 'workspace_history_retention_days',
      countBefore: (before) => store.countRemovable({ before }),
      countAll: () => store.countAll(),
      removeBefore: async (before, limit) => remove(await store.removable({ before, limit })),
    }),
    {
      name: 'agents.history-quota',
      per: 'history',
      everySeconds,
      deadlineSeconds: 1800,
      run: keepQuotas,
    },
    {
      name: 'agents.history-collect',
      per: 'history',
      everySeconds: collectSeconds,
      deadlineSeconds: 3600,
      async run() {
        await removeOrphans()
        await history.maintain()
      },
    },
  ]
  return { trim, makeRoom, refused, loops }
}
