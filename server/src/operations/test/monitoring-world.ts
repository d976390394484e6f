import assert from 'node:assert/strict'
import type { AgentsLaterAreas } from '../../agents/area-deps.ts'
import { createShared, openAgents } from '../../agents/test/world.ts'
import { createAlerts } from '../../foundation/alerts/index.ts'
import { createLeases } from '../../foundation/leases/index.ts'
import { createRateLimits } from '../../foundation/rate-limits/index.ts'
import { openSettings } from '../../foundation/settings/index.ts'
import { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { silentLog } from '../../ports/log.ts'
import { createAgentView } from '../../runs/agent-view/index.ts'
import { createBreakers } from '../../runs/breaker/index.ts'
import { createQueue } from '../../runs/dispatch/index.ts'
import type { OpenTestDb } from '../../test/dialects.ts'
import { startRunPlatform } from '../../test/run-platform.ts'
import { createSchedules, scheduleRoutes } from '../../triggers/schedules/index.ts'
import { bulkActionRoutes, createBulkActions } from '../bulk-actions/index.ts'
import { createMonitoring, monitoringRoutes } from '../monitoring/index.ts'
import { alertRoutes, createOperatorQueue, operatorQueueRoutes } from '../operator-queue/index.ts'

export type MonitoringWorld = Awaited<ReturnType<typeof openMonitoringWorld>>

/** Agents with real parts on a fake engine, runs, the operator queue, monitoring and bulk actions. */
export async function openMonitoringWorld(open: OpenTestDb, needs: Partial<AgentsLaterAreas> = {}) {
  const db = await open()
  const shared = createShared()
  const { clock, ephemeral, vault } = shared
  const link = createFakeAgentLink()
  const runs = await startRunPlatform({ db, clock, link, ephemeral })
  const isPlatformEnabled = () => false
  const settings = await openSettings({
    db,
    ephemeral,
    vault,
    clock,
    log: silentLog,
    installed: {
      mail: false,
      voip: false,
      paidChat: false,
      dispatchBreaker: false,
      providerKeys: { anthropic: null, google: null, openai: null, github: null, voice: null },
    },
  })
  const built: {
    monitoring?: ReturnType<typeof createMonitoring>
    bulkActions?: ReturnType<typeof createBulkActions>
  } = {}
  const world = await openAgents(db, {
    shared,
    needs,
    routes: (agents) => {
      const { agentAccess, agentRecords } = agents
      const breakers = createBreakers({ db, clock, isPlatformEnabled })
      const alerts = createAlerts()
      const operatorQueue = createOperatorQueue({
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
        settings,
        alerts,
        breakers,
        itemAdded: async () => {},
      })
      const schedules = createSchedules({
        ...runs,
        clock,
        ...agents,
        agentAccess: agentAccess.resolveAgent,
        retentionDays: () => 30,
        lastFires: async () => new Map(),
      })
      const parts = { ...runs, ...agents, db, clock, log: silentLog, settings, alerts, breakers, link }
      const dailyLimit = () => settings.value('ops_cost_limit_daily_usd')
      const monitoring = createMonitoring({
        ...parts,
        alertList: operatorQueue.alerts,
        contextOf: createAgentView({ ...runs, clock }).contextOf,
        isPlatformEnabled,
        monotonic: () => performance.now(),
        dailyLimit,
        longRunSeconds: () => settings.value('ops_max_execution_minutes') * 60,
      })
      agents.hooks.onDeleting((tx, { agent }) => monitoring.agentDeleted(tx, agent.id))
      const bulkActions = createBulkActions({
        ...parts,
        monitoring,
        dailyLimit,
        leases: createLeases({ db, clock }),
        haltRuns: createQueue({ db, settle: runs.executions.settle }).cancelOpen,
        schedules: schedules.admin,
        subscriptions: runs.providerSubscriptions,
      })
      Object.assign(built, { monitoring, bulkActions })
      return [
        ...operatorQueueRoutes(operatorQueue, agentAccess),
        ...scheduleRoutes(schedules, () => assert.fail('nothing is fired here')),
        ...bulkActionRoutes(bulkActions),
        ...monitoringRoutes(monitoring, agentRecords),
        ...alertRoutes(operatorQueue, clock),
      ]
    },
  })
  const { monitoring, bulkActions } = built
  assert.ok(monitoring && bulkActions, 'the routes were not built')
  const [owner, admin] = [await world.person('creator'), await world.person('admin')]
  const round = monitoring.loops.find(({ name }) => name === 'monitoring.check') ?? assert.fail('no round')

  return {
    ...world,
    runs,
    settings,
    owner,
    admin,
    /** A running, connected agent with a fresh heartbeat. */
    async agent(name: string, body: object = {}): Promise<string> {
      const reply = await world.request(owner.key, 'POST', '/api/agents', { name, ...body })
      assert.equal(reply.status, 200, JSON.stringify(reply.json))
      const { id } = await world.row(name)
      for (const each of [world.link, link]) each.link(id, { info: () => info })
      await world.area.health.beat(id, {})
      return id
    },
    schedule: (name: string, body: object) =>
      world.request(owner.key, 'POST', `/api/agents/${name}/schedules`, body),
    /** As an admin. */
    get: async (path: string) => (await world.request(admin.key, 'GET', path)).json,
    post: (path: string, body?: object) => world.request(admin.key, 'POST', path, body),
    put: (path: string, body: object) => world.request(admin.key, 'PUT', path, body),
    /** Runs a round of monitoring, a minute later. */
    async round(): Promise<void> {
      await clock.advance(60)
      await round.run(new AbortController().signal)
    },
    /** Sends heartbeats, so that no agent is stale. */
    async beat(...ids: string[]): Promise<void> {
      for (const id of ids) await world.area.health.beat(id, {})
    },
    async [Symbol.asyncDispose]() {
      bulkActions.acts.close()
      await settings.close()
      await world[Symbol.asyncDispose]()
    },
  }
}

const info = {
  template_yaml: null,
  metrics_json: null,
  runtime_version: null,
  workspace_initialized: true,
}
