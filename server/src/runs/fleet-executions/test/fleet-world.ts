import type { KeyScope, Role } from '@roost/contracts/kit/access'
import { createAgentAccess } from '../../../agents/access/index.ts'
import { type Agent, blankRow } from '../../../agents/records/index.ts'
import type { KeyCaller, SignedIn } from '../../../identity/access/caller.ts'
import { createTestClock } from '../../../test/clock.ts'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { as, routesApp } from '../../../test/routes-app.ts'
import { person } from '../../../test/run-platform.ts'
import { insertRuns } from '../../../test/run-rows.ts'
import type { ExecutionRow } from '../../executions/index.ts'
import { createFleetCosts } from '../costs.ts'
import { fleetExecutionRoutes } from '../routes.ts'
import { createFleetExecutions } from '../service.ts'

const user = (id: string, role: Role = 'user') =>
  person({ id, username: id, email: `${id}@example.org`, role })
const key = (
  id: string,
  scope: KeyScope,
  over: { owner?: string; role?: Role; agent?: string } = {},
): KeyCaller => ({
  kind: 'key',
  user: user(over.owner ?? 'ann', over.role).user,
  key: { id, name: id, scope, agent_id: over.agent ?? null },
})
/**
 * `scout` belongs to ann and is shared with ben, `rover` belongs to cid; the agent `rover` may call `scout`.
 */
export const callers: Record<string, SignedIn> = {
  owner: user('ann'),
  'key of the owner': key('k-user', 'user'),
  shared: user('ben'),
  stranger: user('eve'),
  admin: user('root', 'admin'),
  system: key('k-system', 'system', { owner: 'root', role: 'admin' }),
  ops: key('k-ops', 'ops', { owner: 'root', role: 'admin' }),
  'agent itself': key('k-scout', 'agent', { agent: 'a1' }),
  'agent with an edge': key('k-rover', 'agent', { owner: 'cid', agent: 'a2' }),
  connector: key('k-connector', 'connector', { agent: 'a1' }),
  portal: key('k-portal', 'portal_delegate', { owner: 'root', role: 'admin' }),
}

type Extras = { shares?: string[]; tags?: string[] }

function agent(id: string, name: string, owner: string, { shares = [], tags = [] }: Extras): Agent {
  const row = { ...blankRow(name, '2026-01-01T00:00:00.000Z'), id, owner_id: owner, state: 'ready' }
  // The code under test reads only the fields that decide about access.
  return { ...row, shares: shares.map((email) => ({ email })), tags } as unknown as Agent
}
export const agents = [
  agent('a1', 'scout', 'ann', { shares: ['ben@example.org'], tags: ['eu', 'prod'] }),
  agent('a2', 'rover', 'cid', {}),
]

/** The current time is 08:00 on 5 January; the message of a run serves as its name. */
export const runs: Partial<ExecutionRow>[] = [
  { message: 'old', created_at: '2026-01-03T09:00:00.000Z', status: 'failed', cost_micros: 1_000_000 },
  {
    message: 'deleted',
    agent_id: 'a0',
    agent_name: 'ghost',
    agent_deleted: 1,
    created_at: '2026-01-04T10:00:00.000Z',
    status: 'cancelled',
  },
  {
    message: 'ann asks Plum',
    created_at: '2026-01-05T05:10:00.000Z',
    triggered_by: 'chat',
    kind: 'chat',
    source_user_id: 'ann',
    cost_micros: 250_000,
    cost_estimated: 1,
  },
  {
    message: 'ben asks plum',
    created_at: '2026-01-05T05:20:00.000Z',
    triggered_by: 'session',
    source_user_id: 'ben',
    status: 'failed',
    error: 'the plum was sour',
  },
  {
    message: 'rover asks scout',
    created_at: '2026-01-05T06:00:00.000Z',
    triggered_by: 'agent',
    source_user_id: 'cid',
    source_mcp_key_id: 'k-rover',
    source_mcp_scope: 'agent',
  },
  { message: 'on time', created_at: '2026-01-05T06:30:00.000Z', triggered_by: 'schedule', status: 'skipped' },
  {
    message: 'rover works',
    agent_id: 'a2',
    agent_name: 'rover',
    created_at: '2026-01-05T07:00:00.000Z',
    status: 'running',
  },
  {
    message: 'long queued',
    agent_id: 'a2',
    agent_name: 'rover',
    created_at: '2026-01-03T07:00:00.000Z',
    status: 'queued',
  },
]
export const scoutRuns = ['on time', 'rover asks scout', 'ben asks plum', 'ann asks Plum', 'old']
export const roverRuns = ['rover works', 'long queued']
export const newestFirst = [
  'rover works',
  'on time',
  'rover asks scout',
  'ben asks plum',
  'ann asks Plum',
  'deleted',
  'old',
  'long queued',
]
export const visibleRuns: Record<string, string[]> = {
  owner: scoutRuns,
  'key of the owner': scoutRuns,
  shared: scoutRuns,
  stranger: [],
  admin: newestFirst,
  system: newestFirst,
  ops: newestFirst.filter((message) => message !== 'deleted'),
  'agent itself': scoutRuns,
  'agent with an edge': newestFirst.filter((message) => [...roverRuns, 'rover asks scout'].includes(message)),
}
export async function start(open: OpenTestDb, rows: Partial<ExecutionRow>[] = runs) {
  const db = await open()
  const clock = createTestClock()
  const inserted = await insertRuns(db, rows)
  const agentAccess = createAgentAccess({
    agentRecords: { all: async () => agents, byName: async () => null },
    permittedTargets: async (id) => new Set(id === 'a2' ? ['a1'] : []),
    isConnectorOn: async () => true,
  })
  const fleet = createFleetExecutions({
    hiddenAgents: async () => [],
    db,
    clock,
    agentAccess,
    effectiveParallel: async ({ id }) => (id === 'a1' ? 2 : 5),
    scheduleCounts: async () => new Map([['a1', { total: 3, enabled: 2 }]]),
    breakers: { dispatchStates: async () => new Map([['a2', 'half_open' as const]]) },
    accountIdOf: async (login) =>
      ['ann', 'ben', 'cid'].find((id) => login === id || login === `${id}@example.org`) ?? null,
  })
  const costs = createFleetCosts({
    hiddenAgents: async () => [],
    db,
    clock,
    agentAccess,
    accountName: async (id) => (id === 'gone' ? null : `${id}@example.org`),
    dailyCaps: async (capped) =>
      capped
        .filter(({ id }) => id === 'a1')
        .map(({ name }) => ({ agent_name: name, daily_usd: 5, spent_today_usd: 4, cost_estimated: false })),
    dailyLimitUsd: () => 50,
  })
  const app = routesApp(
    fleetExecutionRoutes(fleet, costs),
    Object.fromEntries(Object.entries(callers).map(([name, caller]) => [name, { caller, relation: null }])),
  )
  const get = async (who: string, path: string) => {
    const reply = await app.inject({ url: `/api/${path}`, headers: as(who) })
    const isJson = String(reply.headers['content-type']).includes('json')
    return {
      status: reply.statusCode,
      headers: reply.headers,
      text: reply.body,
      json: isJson ? reply.json() : null,
    }
  }
  /** Messages may be withheld, so tests identify runs by id. */
  const messageOf = new Map(inserted.map((row) => [row.id, row.message]))
  const list = async (who: string, query: string) => {
    const { json, headers } = await get(who, `executions?${query}`)
    return {
      messages: json.map(({ id }: { id: string }) => messageOf.get(id)),
      total: Number(headers['x-total-count']),
    }
  }
  return { db, get, list, inserted, clock }
}
