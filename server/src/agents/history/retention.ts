import type { Loop } from '../../background/loops.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import type { AgentRecords } from '../records/index.ts'
import {
  agentIdOf,
  type HistoryUse,
  historyAlert,
  historyKeepShare,
  historyWarningShare,
  isAbove,
  storeName,
} from './rules.ts'
import { historyStore } from './store.ts'
import type { HistoryUses } from './use.ts'

export type HistoryRetentionDeps = SweepDeps & {
  db: Db
  log: Pick<Log, 'info'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
  history: WorkspaceHistory
  uses: HistoryUses
  agentRecords: Pick<AgentRecords, 'byId'>
}

/** Share of the records that is removed before the use is measured again. */
const stepShare = 0.1
const everySeconds = 600
const collectSeconds = 3600

/** Keeps the history within its quotas and its retention window, and frees what no record needs. */
export function createHistoryRetention(deps: HistoryRetentionDeps) {
  const { db, log, alerts, history, uses, agentRecords } = deps
  const store = historyStore(db)
  /** Stored records without a row, found by the last run: the row of a new record follows its content. */
  let orphans = new Set<string>()

  async function remove(limit: number, filter: { agentId?: string; before?: string }): Promise<number> {
    const found = await store.removable({ ...filter, limit })
    const removed = new Set(await store.remove(found.map(({ id }) => id)))
    for (const agentId of new Set(found.map(({ agent_id }) => agent_id))) {
      const ids = found
        .filter(({ id, agent_id }) => agent_id === agentId && removed.has(id))
        .map(({ id }) => id)
      await history.remove(storeName(agentId), ids)
    }
    return removed.size
  }

  async function stepOf(filter: { agentId?: string }): Promise<number> {
    return Math.ceil((await store.countRemovable(filter)) * stepShare)
  }

  /** Removes the oldest records until there is room. Returns the use that remains. */
  async function trim(agentId: string, signal?: AbortSignal): Promise<HistoryUse> {
    let use = await uses.measure(agentId)
    if (!isAbove(use, historyWarningShare)) return use
    let removed = 0
    while (isAbove(use, historyKeepShare) && !signal?.aborted) {
      const count = await remove(await stepOf({ agentId }), { agentId })
      if (count === 0) break
      removed += count
      use = await uses.measure(agentId)
    }
    if (removed > 0)
      log.info(
        { agent_id: agentId, removed },
        'old records of a workspace were removed: the quota was almost used up',
      )
    return use
  }

  async function tell(agent: { id: string; name: string } | null, use: HistoryUse): Promise<void> {
    const isHigh = isAbove(use, historyWarningShare)
    await db.atomically((tx) =>
      isHigh
        ? alerts.raise(tx, historyAlert(agent, use))
        : alerts.clear(tx, agent?.id ?? null, 'history_quota'),
    )
  }

  async function keepQuotas(signal: AbortSignal): Promise<void> {
    for (const agentId of await store.agents()) {
      if (signal.aborted) return
      const use = await trim(agentId, signal)
      const agent = await agentRecords.byId(agentId)
      if (agent) await tell(agent, use)
    }
    let use = await uses.measureAll()
    // What nothing needs any more must not cost anybody a record.
    if (isAbove(use, historyWarningShare) && (await history.isCollectDue())) {
      await history.collect()
      use = await uses.measureAll()
    }
    if (isAbove(use, historyWarningShare)) {
      while (isAbove(use, historyKeepShare) && !signal.aborted) {
        if ((await remove(await stepOf({}), {})) === 0) break
        await history.collect()
        use = await uses.measureAll()
      }
    }
    await tell(null, use)
  }

  /** Removes what deleted agents and killed processes left in the store. */
  async function removeOrphans(): Promise<void> {
    const stored = await history.records()
    const existing = await existingOf(stored.map(({ record }) => record))
    const found = stored.filter(({ record }) => !existing.has(record))
    for (const { agent, record } of found.filter(({ record }) => orphans.has(record)))
      await history.remove(agent, [record])
    // The agent's row was deleted in one step, so nothing of it will come.
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
      removeBefore: (before, limit) => remove(limit, { before }),
    }),
    { name: 'agents.history-quota', everySeconds, deadlineSeconds: 1800, run: keepQuotas },
    {
      name: 'agents.history-collect',
      everySeconds: collectSeconds,
      deadlineSeconds: 3600,
      async run() {
        await removeOrphans()
        if (await history.isCollectDue()) await history.collect()
      },
    },
  ]
  return { trim, loops }
}
