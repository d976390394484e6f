import assert from 'node:assert/strict'
import { createShared, openAgents } from '../../agents/test/world.ts'
import { createRateLimits } from '../../foundation/rate-limits/index.ts'
import type { FakeOptions } from '../../ports/containers/fake.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import type { OpenTestDb } from '../../test/dialects.ts'
import { accept, agentFact, startRunPlatform } from '../../test/run-platform.ts'
import { createEvaluations, evaluationRoutes } from '../evaluations/index.ts'
import { agentMetricsRoutes, createAgentMetrics } from '../metrics/index.ts'
import { createNotifications, notificationRoutes } from '../notifications/index.ts'
import { createReports, reportRoutes } from '../reports/index.ts'

export type MessagesWorld = Awaited<ReturnType<typeof openMessagesWorld>>

/** Agents `scout` of the creator `ann` and `other` of `ben`, with their notifications, reports, evaluations and metrics. */
export async function openMessagesWorld(open: OpenTestDb, options: Pick<FakeOptions, 'program'> = {}) {
  const db = await open()
  const shared = createShared(options)
  const { clock, ephemeral } = shared
  const runs = await startRunPlatform({ db, clock, ephemeral })
  const retention = { isAdmitted: true }
  const { alerts, raised } = createTestAlerts()
  const deps = {
    db,
    clock,
    log: silentLog,
    events: runs.events,
    limits: createRateLimits({ ephemeral, clock }),
    settings: {
      value: () => 90,
      retention: { admit: async () => ({ isAdmitted: retention.isAdmitted, isNew: !retention.isAdmitted }) },
    },
    alerts,
  }
  const built: { loops: ReturnType<typeof createReports>['loops'] } = { loops: [] }
  const world = await openAgents(db, {
    shared,
    routes({ agentAccess, agentRecords, agentManagement }) {
      const notifications = createNotifications({ ...deps, agentAccess })
      const reports = createReports({ ...deps, agentAccess })
      built.loops = [...notifications.loops, ...reports.loops]
      return [
        ...notificationRoutes(notifications, agentAccess),
        ...reportRoutes(reports),
        ...evaluationRoutes(createEvaluations(deps)),
        ...agentMetricsRoutes(
          createAgentMetrics({ clock, describe: agentManagement.describe }),
          agentRecords,
        ),
      ]
    },
  })
  const person = async (role: 'user' | 'creator' | 'admin', email: string) => {
    const account = await world.identity.addUser(role, email)
    const { access_token: session } = await world.identity.sessions.issue(account, { mode: 'email' })
    return { email, account, session }
  }
  const ann = await person('creator', 'ann@example.org')
  const ben = await person('creator', 'ben@example.org')
  const agent = async (owner: { session: string }, name: string) => {
    const created = await world.request(owner.session, 'POST', '/api/agents', { name })
    assert.equal(created.status, 200, JSON.stringify(created.json))
    const { id } = await world.row(name)
    runs.agents.set(id, agentFact({ id, name }))
    return { id, name, key: await world.agentKey(id) }
  }

  return {
    ...world,
    retention,
    raised,
    ann,
    ben,
    newPerson: person,
    scout: await agent(ann, 'scout'),
    other: await agent(ben, 'other'),
    /** As ann. */
    get: async (path: string) => (await world.request(ann.session, 'GET', path)).json,
    /** An execution of the agent. */
    run: (agentId: string) => accept(runs, { agentId }),
    loop(name: string) {
      const loop = built.loops.find((each) => each.name === name) ?? assert.fail(`there is no loop ${name}`)
      return loop.run(AbortSignal.any([]))
    },
  }
}
