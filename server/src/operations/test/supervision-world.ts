import assert from 'node:assert/strict'
import type { AgentsLaterAreas } from '../../agents/area-deps.ts'
import { createShared, openAgents } from '../../agents/test/world.ts'
import { createLeases } from '../../foundation/leases/index.ts'
import { createRateLimits } from '../../foundation/rate-limits/index.ts'
import { openSettings } from '../../foundation/settings/index.ts'
import { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { silentLog } from '../../ports/log.ts'
import { createAgentView } from '../../runs/agent-view/index.ts'
import { createBreakers } from '../../runs/breaker/index.ts'
import { createQueue } from '../../runs/queue/index.ts'
import type { OpenTestDb } from '../../test/dialects.ts'
import { startRunPlatform } from '../../test/run-platform.ts'
import { createSchedules, scheduleRoutes } from '../../triggers/schedules/index.ts'
import { createOperatorQueue, operatorQueueRoutes } from '../operator-queue/index.ts'
import { createSupervision } from '../supervision/index.ts'

export type SupervisionWorld = Awaited<ReturnType<typeof openSupervision>>

/** Agents with real parts on a pretended engine, runs, the operator queue, and what looks after all of them. */
export async function openSupervision(open: OpenTestDb, needs: Partial<AgentsLaterAreas> = {}) {
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
  const made: { supervision?: ReturnType<typeof createSupervision> } = {}
  const world = await openAgents(db, {
    shared,
    needs,
    routes: (agents) => {
      const { agentAccess, agentRecords } = agents
      const breakers = createBreakers({ db, clock, isPlatformEnabled })
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
        retention: { days: () => 90, admit: async () => ({ isAdmitted: true, isNew: true }) },
        breakers,
      })
      const schedules = createSchedules({
        ...runs,
        clock,
        ...agents,
        agentAccess: agentAccess.resolveAgent,
        retentionDays: () => 30,
        lastFires: async () => new Map(),
      })
      made.supervision = createSupervision({
        db,
        clock,
        log: silentLog,
        outbox: runs.events,
        settings,
        agents,
        records: { ...runs, breakers, link, view: createAgentView({ ...runs, clock }), isPlatformEnabled },
        operatorQueue,
        leases: createLeases({ db, clock }),
        runs: { halt: createQueue({ db, settle: runs.executions.settle }).cancelOpen },
        schedules,
      })
      return [
        ...operatorQueueRoutes(operatorQueue, agentAccess),
        ...scheduleRoutes(schedules, () => assert.fail('nothing is fired here')),
        ...made.supervision.routes,
      ]
    },
  })
  const { loops, close } = made.supervision ?? assert.fail('nothing was wired')
  const [owner, admin] = [await world.person('creator'), await world.person('admin')]
  const round = loops.find(({ name }) => name === 'monitoring.check') ?? assert.fail('no round')

  return {
    ...world,
    runs,
    settings,
    owner,
    admin,
    /** A running agent with a link, which has just beaten. */
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
    /** A minute later: one round of monitoring. */
    async round(): Promise<void> {
      await clock.advance(60)
      await round.run(new AbortController().signal)
    },
    /** Agents beat and sampler samples, so that nothing is stale. */
    async beat(...ids: string[]): Promise<void> {
      for (const id of ids) await world.area.health.beat(id, {})
    },
    async [Symbol.asyncDispose]() {
      close()
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
