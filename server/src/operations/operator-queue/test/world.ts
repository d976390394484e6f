import assert from 'node:assert/strict'
import { createShared, openAgents } from '../../../agents/test/world.ts'
import { createAlerts } from '../../../foundation/alerts/index.ts'
import { createRateLimits } from '../../../foundation/rate-limits/index.ts'
import type { Route } from '../../../http/route.ts'
import type { KeyCaller } from '../../../identity/access/caller.ts'
import type { Clock } from '../../../kit/clock.ts'
import { createFakeAgentLink } from '../../../ports/agent-link/fake.ts'
import type { Db } from '../../../ports/database/port.ts'
import type { Ephemeral } from '../../../ports/ephemeral/port.ts'
import { silentLog } from '../../../ports/log.ts'
import type { ExecutionRow } from '../../../runs/executions/index.ts'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { agentFact, startRunPlatform } from '../../../test/run-platform.ts'
import {
  createOperatorQueue,
  type OperatorQueue,
  type OperatorQueueDeps,
  operatorQueueRoutes,
} from '../index.ts'

/** The key of a run of this agent that works for a sharer. */
export function runOf(agentId: string, principal: string): KeyCaller {
  return {
    kind: 'key',
    user: { id: 'someone', username: 'someone', email: null, role: 'user' },
    key: { id: `run-${principal}`, name: 'Agent scout', scope: 'agent', agent_id: agentId, principal },
    run: { ref: `run-${principal}`, execution_id: `e-${principal}`, reach: 'shared' },
  }
}

export type QueueWorld = Awaited<ReturnType<typeof openQueueWorld>>

/** The agent `scout` of the creator `ann`, a run platform and the operator queue. */
export async function openQueueWorld(
  open: OpenTestDb,
  /** A feature beside the queue: its routes, and its part in the transaction of a new item. */
  beside: (made: {
    db: Db
    clock: Clock
    ephemeral: Ephemeral
    queue: OperatorQueue
    runs: Awaited<ReturnType<typeof startRunPlatform>>
  }) => { routes: Route[]; itemAdded: OperatorQueueDeps['itemAdded'] } = () => ({
    routes: [],
    itemAdded: async () => {},
  }),
) {
  const db = await open()
  const shared = createShared()
  const { clock, ephemeral } = shared
  const link = createFakeAgentLink()
  const runs = await startRunPlatform({ db, clock, link, ephemeral })
  const breaker = { state: 'open' as 'open' | 'closed' }
  const retention = { isAdmitted: true }
  const alerts = createAlerts()
  const built: { queue?: OperatorQueue; beside?: ReturnType<typeof beside> } = {}
  const world = await openAgents(db, {
    shared,
    routes: ({ agentAccess, agentRecords }) => {
      built.queue = createOperatorQueue({
        db,
        clock,
        log: silentLog,
        events: runs.events,
        link,
        limits: createRateLimits({ ephemeral, clock }),
        agentAccess,
        agentRecords,
        dispatch: runs.dispatch,
        hooks: runs.hooks,
        itemAdded: async (tx, itemId) => built.beside?.itemAdded(tx, itemId),
        alerts,
        settings: {
          value: () => 90,
          retention: { admit: async () => ({ isAdmitted: retention.isAdmitted, isNew: true }) },
        },
        breakers: {
          // The part of the breaker's view that the queue reads.
          view: async () => ({ dispatch: { state: breaker.state } }) as never,
        },
      })
      built.beside = beside({ db, clock, ephemeral, queue: built.queue, runs })
      return [...operatorQueueRoutes(built.queue, agentAccess), ...built.beside.routes]
    },
  })
  const queue = built.queue ?? assert.fail('the queue was not built')
  world.area.hooks.onDeleting((tx, { agent }) => queue.agentDeleted(tx, agent.id))
  const owner = await world.person('creator', 'ann@example.org')
  const created = await world.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
  assert.equal(created.status, 200)
  const { id: agentId } = await world.row('scout')
  runs.agents.set(agentId, agentFact({ id: agentId, name: 'scout' }))
  const agentKey = await world.agentKey(agentId)

  return {
    ...world,
    runs,
    queue,
    alerts,
    breaker,
    retention,
    fakeLink: link,
    owner,
    agentId,
    agentKey,
    ask: (body: object) => world.request(agentKey, 'POST', '/api/agents/scout/operator-queue', body),
    /** As the owner. */
    get: async (path: string) => (await world.request(owner.key, 'GET', path)).json,
    respond: (id: string, body: object, key = owner.key) =>
      world.request(key, 'POST', `/api/operator-queue/${id}/respond`, body),
    share: (email: string) => world.request(owner.key, 'POST', '/api/agents/scout/share', { email }),
    switchResume: (enabled: boolean) =>
      world.request(owner.key, 'PUT', '/api/agents/scout/operator-resume', { enabled }),
    executions: async () =>
      db.withTables<{ executions: ExecutionRow }>().selectFrom('executions').selectAll().execute(),
    alert: (over: object = {}) =>
      db.atomically((tx) =>
        alerts.raise(tx, {
          agentId,
          kind: 'breaker_open',
          title: 'refused',
          priority: 'high',
          context: { n: 1 },
          ...over,
        }),
      ),
  }
}
