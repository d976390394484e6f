import type {
  Report,
  ReportBody,
  ReportSummary,
  ReportsQuery,
  RosterReport,
} from '@roost/contracts/operations/reports'
import { type AgentAccess, accessibleAgentNames } from '../../agents/access/index.ts'
import { agentStore } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { refuseForeignRun } from '../../runs/executions/index.ts'
import { type ReportRow, reportStore, type SummaryRow } from './store.ts'

export type ReportsDeps = SweepDeps & {
  events: Pick<Outbox, 'append'>
  limits: Pick<RateLimits, 'use'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
}

export type Reports = {
  /** Throws `rate_limited`, `execution_not_found`, and `agent_not_found` for a just deleted agent. */
  create(agentId: string, body: ReportBody): Promise<Report>
  list(caller: SignedIn, query: ReportsQuery): Promise<ReportPage>
  /** Reads a report of the named agent, else of any accessible agent. Throws `not_found`. */
  read(caller: SignedIn, id: string, agentName?: string): Promise<Report>
  /** Reports that the agent shows to people in the Workspace. */
  listForRoster(agent: AgentRef, query: Omit<ReportsQuery, 'agent_name'>): Promise<ReportPage>
  /** One of these reports, for the person `holder`. Throws `not_found`. */
  readForRoster(agent: AgentRef, id: string, holder: string): Promise<RosterReport>
  /** Stores the person's rating in place of an earlier one. Throws `not_found`. */
  rateForRoster(
    agent: AgentRef,
    holder: string,
    vote: { id: string; rating: 'up' | 'down' | 'none'; comment: string | null },
  ): Promise<void>
  stats(caller: SignedIn): Promise<ReportStats>
  loops: Loop[]
}

type AgentRef = { id: string; name: string }
/** `total` includes other pages. */
export type ReportPage = { reports: ReportSummary[]; total: number }

export type ReportStats = {
  total: number
  by_type: Record<string, number>
  by_agent: Record<string, number>
}

export function createReports(deps: ReportsDeps): Reports {
  const { db, clock, events, limits, agentAccess } = deps
  const store = reportStore(db)

  return {
    async create(agentId, { payload, ...body }) {
      await limits.use(rateRules.report, agentId)
      const now = clock.now()
      const text = JSON.stringify(payload)
      const row: ReportRow = {
        id: newId(),
        agent_id: agentId,
        ...body,
        created_at: timestamp(now),
        payload_bytes: Buffer.byteLength(text),
        payload: text,
      }
      const name = await db.atomically(async (tx) => {
        const agent = await agentStore(tx).byId(agentId)
        if (!agent) throw new Fault('agent_not_found')
        await refuseForeignRun(tx, agentId, body.execution_id)
        await reportStore(tx).insert(row)
        const about = { agent_names: [agent.name], agent_ids: [agentId] }
        const fields = { report_id: row.id, report_type: row.report_type, title: row.title }
        await events.append(tx, { type: 'agent.report', ...about, fields }, now)
        return agent.name
      })
      return { ...summaryOf(row, name), payload, ratings: { up: 0, down: 0 } }
    },

    async list(caller, { agent_name, report_type, limit, offset }) {
      const names = await accessibleAgentNames(agentAccess, caller, agent_name)
      const ids = [...names.keys()]
      const [rows, total] = await Promise.all([
        store.list(ids, { report_type }, { limit, offset }),
        store.count(ids, { report_type }),
      ])
      return { reports: rows.map((row) => summaryOf(row, names.get(row.agent_id) ?? '')), total }
    },

    async read(caller, id, agentName) {
      const names = await accessibleAgentNames(agentAccess, caller, agentName)
      const row = await store.visible([...names.keys()], id)
      if (!row) throw unknownReport()
      const { payload, ...rest } = row
      const ratings = await store.ratings(id)
      const count = (of: 'up' | 'down') => ratings.filter(({ rating }) => rating === of).length
      return {
        ...summaryOf(rest, names.get(row.agent_id) ?? ''),
        payload: JSON.parse(payload),
        ratings: { up: count('up'), down: count('down') },
      }
    },

    async listForRoster(agent, { report_type, limit, offset }) {
      const filter = { report_type, audience: 'roster' } as const
      const [rows, total] = await Promise.all([
        store.list([agent.id], filter, { limit, offset }),
        store.count([agent.id], filter),
      ])
      return { reports: rows.map((row) => summaryOf(row, agent.name)), total }
    },

    async readForRoster(agent, id, holder) {
      const row = await store.visible([agent.id], id, 'roster')
      if (!row) throw unknownReport()
      const { payload, ...rest } = row
      const own = (await store.ratings(id)).find(({ holder_id }) => holder_id === holder)
      return {
        ...summaryOf(rest, agent.name),
        payload: JSON.parse(payload),
        my_rating: own?.rating ?? null,
      }
    },

    async rateForRoster(agent, holder_id, { id, rating, comment }) {
      await db.atomically(async (tx) => {
        const txStore = reportStore(tx)
        if (!(await txStore.visible([agent.id], id, 'roster'))) throw unknownReport()
        if (rating === 'none') return txStore.unrate(id, holder_id)
        await txStore.rate({ report_id: id, holder_id, rating, comment, rated_at: timestamp(clock.now()) })
      })
    },

    async stats(caller) {
      const names = await accessibleAgentNames(agentAccess, caller)
      const stats: ReportStats = { total: 0, by_type: {}, by_agent: {} }
      for (const { agent_id, report_type, total } of await store.figures([...names.keys()])) {
        stats.total += total
        add(stats.by_type, report_type, total)
        add(stats.by_agent, names.get(agent_id) ?? '', total)
      }
      return stats
    },

    loops: [
      createSweep(deps, {
        name: 'reports.retention',
        what: 'reports',
        key: 'agent_reports_retention_days',
        countBefore: store.countBefore,
        countAll: store.countAll,
        removeBefore: store.removeBefore,
      }),
    ],
  }
}

function unknownReport(): Fault {
  return new Fault('not_found', 'There is no such report.')
}

function summaryOf(row: SummaryRow, agent_name: string): ReportSummary {
  return {
    id: row.id,
    agent_name,
    report_type: row.report_type,
    title: row.title,
    display_hint: row.display_hint,
    period_start: row.period_start,
    period_end: row.period_end,
    audience: row.audience,
    execution_id: row.execution_id,
    payload_bytes: row.payload_bytes,
    created_at: row.created_at,
  }
}

function add(counts: Record<string, number>, key: string, by: number): void {
  counts[key] = (counts[key] ?? 0) + by
}
