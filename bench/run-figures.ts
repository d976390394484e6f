/**
 * Lists and statistics over 100,000 runs, each query against a limit that suits a page; there is no peer. Uses SQLite in
 * a temporary folder, or the dedicated database in `BENCH_DATABASE_URL` (`postgres://…`). The search through all messages
 * has no index and thus a separate limit.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Trigger } from '@roost/contracts/runs/executions'
import type { ResolvedAgent } from '../server/src/agents/access/service.ts'
import type { Agent } from '../server/src/agents/records/agent.ts'
import type { SessionCaller } from '../server/src/identity/access/caller.ts'
import { systemClock } from '../server/src/kit/clock.ts'
import { newId } from '../server/src/kit/ids.ts'
import { migrations } from '../server/src/migrations/index.ts'
import { migrate } from '../server/src/ports/database/migrator.ts'
import { openDatabase } from '../server/src/ports/database/open.ts'
import { silentLog } from '../server/src/ports/log.ts'
import { createAgentView } from '../server/src/runs/agent-view/index.ts'
import { createAnalytics } from '../server/src/runs/analytics/service.ts'
import { executionStore } from '../server/src/runs/executions/store.ts'
import { createFleetExecutions } from '../server/src/runs/fleet-executions/service.ts'
import { keepBenchmark } from './keeper/index.ts'
import { median, milliseconds, ms, quantile, record, report } from './measure.ts'
import { finishedRun } from './seeded-runs.ts'

await keepBenchmark()

const total = 100_000
const agentCount = 100
const days = 40
const limitMs = 100
const searchAllMs = 500
const rounds = 15

const folder = mkdtempSync(join(tmpdir(), 'roost-figures-'))
const url = process.env.BENCH_DATABASE_URL ?? `sqlite:${join(folder, 'runs.db')}`
const db = await openDatabase(url, silentLog)
await migrate(db, migrations, { now: () => new Date() })
await fill()

const agents = Array.from({ length: agentCount }, (_, index) => agentOf(index))
const fleet = createFleetExecutions({
  db,
  clock: systemClock,
  agentAccess: {
    accessibleAgents: async (caller) => reachedBy(caller.kind === 'session' ? caller.user.id : ''),
  },
  hiddenAgents: async () => [],
  effectiveParallel: async () => 3,
  scheduleCounts: async () => new Map(),
  breakers: { dispatchStates: async () => new Map() },
  accountIdOf: async () => null,
})
const analytics = createAnalytics({ db, clock: systemClock })
const store = executionStore(db)
const view = createAgentView({ db, clock: systemClock, executions: { recentTools: async () => [] } })
const admin = person('root', 'admin')
const owner = person('owner-of-ten', 'creator')
/** Agent 0 has half of all runs. */
const busy = { agentId: 'agent-0', keyId: null }
const page = { limit: 50, offset: 0 }

const questions: Record<string, () => Promise<unknown>> = {
  'fleet list, admin, a day': () => fleet.list(admin, { ...page, hours: 24 }),
  'fleet list, admin, all': () => fleet.list(admin, { ...page, hours: 0 }),
  'fleet list, admin, all, far page': () => fleet.list(admin, { limit: 50, offset: 90_000, hours: 0 }),
  'fleet list, admin, all, failed': () => fleet.list(admin, { ...page, hours: 0, status: 'failed' }),
  'fleet list, admin, all, an error': () => fleet.list(admin, { ...page, hours: 0, error: 'timeout' }),
  'fleet list, owner, all, an error': () => fleet.list(owner, { ...page, hours: 0, error: 'timeout' }),
  'fleet list, one agent, an error': () =>
    fleet.list(admin, { ...page, hours: 0, agent: 'agent-0', error: 'timeout' }),
  'fleet list, admin, all, cost': () => fleet.list(admin, { ...page, hours: 0, cost: '>0.05' }),
  'fleet list, admin, all, tokens': () => fleet.list(admin, { ...page, hours: 0, tokens: '>50k' }),
  'fleet list, admin, all, duration': () => fleet.list(admin, { ...page, hours: 0, duration: '>4m' }),
  'fleet list, admin, all, a model': () => fleet.list(admin, { ...page, hours: 0, model: 'opus' }),
  'fleet list, one agent, a model': () =>
    fleet.list(admin, { ...page, hours: 0, agent: 'agent-0', model: 'opus' }),
  'errors, admin, all': () => fleet.errors(admin, { hours: 0 }),
  'errors, owner, all': () => fleet.errors(owner, { hours: 0 }),
  'errors, one agent, all': () => fleet.errors(admin, { hours: 0, agent: 'agent-0' }),
  'fleet list, admin, search a day': () => fleet.list(admin, { ...page, hours: 24, search: 'Needle' }),
  'fleet list, admin, search all': () => fleet.list(admin, { ...page, hours: 0, search: 'Needle' }),
  'fleet list, owner, a day': () => fleet.list(owner, { ...page, hours: 24 }),
  'fleet list, owner, all': () => fleet.list(owner, { ...page, hours: 0 }),
  'fleet list, owner, search all': () => fleet.list(owner, { ...page, hours: 0, search: 'Needle' }),
  'fleet list, one agent, all': () => fleet.list(admin, { ...page, hours: 0, agent: 'agent-0' }),
  'fleet stats, admin, a day': () => fleet.stats(admin, { hours: 24 }),
  'fleet stats, admin, all': () => fleet.stats(admin, { hours: 0 }),
  'fleet stats, owner, all': () => fleet.stats(owner, { hours: 0 }),
  'timeline by hour, a week': () => fleet.timeline(admin, { hours: 168, group_by: 'hour' }),
  'timeline by day, all': () => fleet.timeline(admin, { hours: 0, group_by: 'day' }),
  'timeline by agent, all': () => fleet.timeline(admin, { hours: 0, group_by: 'agent' }),
  'execution stats with a week': () => fleet.byAgent(admin, { hours: 24, include_7d: true }),
  'execution stats, all, owner': () => fleet.byAgent(owner, { hours: 0, include_7d: false }),
  slots: () => fleet.slots(admin),
  'context of all agents': () => view.contextOf(agents.map(({ id }) => id)),
  'analytics 7d': () => analytics.analytics(busy, '7d'),
  'analytics 30d': () => analytics.analytics(busy, '30d'),
  'token stats': () => analytics.tokenStats({ ...busy, agentName: 'agent-0' }),
  'list of an agent': () => store.list({ agentId: 'agent-0' }, page),
  'list of an agent, success': () => store.list({ agentId: 'agent-0', status: 'success' }, page),
  'count of an agent, success': () => store.count({ agentId: 'agent-0', status: 'success' }),
}

for (const [row, ask] of Object.entries(questions)) {
  await ask()
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) times.push(await milliseconds(ask))
  const value = median(times)
  const limit = row.endsWith('search all') ? searchAllMs : limitMs
  record({
    row: `${db.dialect}: ${row}`,
    ours: `${ms(value)} (worst ${ms(quantile(times, 1))})`,
    peer: 'none',
    value,
    limit: `below ${limit} ms`,
    ok: value < limit,
  })
}
await db.close()
report()

async function fill(): Promise<void> {
  const triggers: Trigger[] = ['chat', 'manual', 'schedule', 'mcp', 'agent', 'loop', 'webhook', 'public']
  const statuses = ['success', 'success', 'success', 'failed', 'cancelled', 'success', 'skipped'] as const
  const errorCodes = ['agent_error', 'timeout', 'agent_error', 'rate_limited', 'network'] as const
  const now = Date.now()
  const filler = 'Look through what came in since yesterday and tell me what is worth a second look. '
  const response = filler.repeat(30)
  const batch = 500
  for (let start = 0; start < total; start += batch) {
    const rows = Array.from({ length: batch }, (_, offset) => {
      const index = start + offset
      const at = new Date(now - (total - index) * ((days * 86_400_000) / total)).toISOString()
      const agent = index % 2 === 0 ? 0 : index % agentCount
      return {
        id: newId(),
        agent_id: `agent-${agent}`,
        agent_name: `agent-${agent}`,
        kind: 'task',
        status: index > total - 40 ? 'running' : statuses[index % statuses.length],
        triggered_by: triggers[index % triggers.length],
        message: filler.repeat(1 + (index % 20)) + (index % 5_000 === 7 ? 'needle' : ''),
        ...finishedRun(index, at),
        response,
        source_user_id: `user-${index % 7}`,
        model_used: index % 3 === 0 ? 'opus' : 'sonnet',
        error_code:
          statuses[index % statuses.length] === 'failed' ? errorCodes[index % errorCodes.length] : null,
      }
    })
    const kysely = db.withTables<{ executions: Record<string, unknown> }>()
    await kysely.insertInto('executions').values(rows).execute()
  }
}

function agentOf(index: number): Agent {
  // The queries use only these two.
  return { id: `agent-${index}`, name: `agent-${index}` } as Agent
}

function reachedBy(userId: string): ResolvedAgent[] {
  const reached = userId === 'root' ? agents : agents.slice(1, 21)
  return reached.map((agent) => ({ agent, relation: 'owner' as const }))
}

function person(id: string, role: 'admin' | 'creator'): SessionCaller {
  return {
    kind: 'session',
    user: { id, username: id, email: null, role },
    session: { jti: 'j', mode: 'email', expires_at: '2100-01-01T00:00:00.000Z' },
  }
}
