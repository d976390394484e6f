import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { as, type Callers, routesApp } from '../../test/routes-app.ts'
import { createLeases } from '../leases/index.ts'
import {
  createReplicas,
  internalReplicaRoutes,
  type ReplicaDescription,
  replicaRoutes,
  startHeartbeat,
} from './index.ts'

const callers: Callers = Object.fromEntries(
  (['admin', 'creator'] as const).map((role) => [
    role,
    {
      caller: {
        kind: 'session',
        user: { id: role, username: role, email: null, role },
        session: { jti: role, mode: 'admin', expires_at: '2030-02-01T00:00:00.000Z' },
      },
      relation: null,
    },
  ]),
)

forEachDialect((_dialect, open) => {
  test('a running process is listed with the leases that it holds', async () => {
    await using world = await openWorld(open)
    const { clock, leases } = world
    const heartbeat = world.start({ id: 'one', host_name: 'host-a' })
    await clock.waitingFor(5)
    const since = timestamp(clock.now())
    await leases.take('sweep', 'one', 15)
    await leases.take('other', 'a stranger', 15)
    await clock.advance(5)
    await clock.waitingFor(5)
    const { versions, replicas } = await world.replicas.list()
    assert.deepEqual(versions, ['1.0.0'])
    const { started_at: _, ...found } = replicas[0] ?? assert.fail('no replica')
    assert.deepEqual(found, {
      ...{ id: 'one', role: 'api', host_name: 'host-a', process_id: 7, version: '1.0.0', git_commit: null },
      ...{
        schema_version: '0089-replicas',
        agent_address: null,
        engine_id: 'docker:a',
        is_current: true,
        state: 'live',
      },
      last_heartbeat_at: timestamp(clock.now()),
      leases: [{ name: 'sweep', since, until: timestamp(secondsLater(new Date(Date.parse(since)), 15)) }],
    })
    await heartbeat.stop()
    assert.deepEqual((await world.replicas.list()).replicas, [])
  })

  test('a killed process is silent when its leases expire, and is removed after ten minutes', async () => {
    await using world = await openWorld(open)
    const { clock, replicas } = world
    await replicas.report(describe({ id: 'killed' }))
    const stateAfter = async (seconds: number) => {
      clock.set(secondsLater(world.begin, seconds))
      return (await replicas.list()).replicas[0]?.state
    }
    assert.equal(await stateAfter(14), 'live')
    assert.equal(await stateAfter(15), 'silent')
    assert.deepEqual(await replicas.live(), [])
    await world.watch()
    assert.equal(await stateAfter(600), 'silent')
    clock.set(secondsLater(world.begin, 601))
    await world.watch()
    assert.deepEqual((await replicas.list()).replicas, [])
    // It was only stopped, and continues.
    await replicas.report(describe({ id: 'killed' }))
    assert.equal((await replicas.list()).replicas[0]?.state, 'live')
  })

  test('a process that stops removes those that reported to it, unless they report to another one', async () => {
    await using world = await openWorld(open)
    const { replicas } = world
    const ids = async () => (await replicas.list()).replicas.map(({ id }) => id)
    const other = world.other()
    await other.report(describe({ id: 'beside the other' }))
    for (const id of ['beside', 'gone']) await replicas.report(describe({ id }))
    await replicas.remove('gone')
    await replicas.close()
    await replicas.report(describe({ id: 'beside' }))
    assert.deepEqual(await ids(), ['beside the other'])
    await other.report(describe({ id: 'beside' }))
    assert.deepEqual((await ids()).sort(), ['beside', 'beside the other'])
  })

  test('different versions raise an alert after an hour, which ends with the older replica', async () => {
    await using world = await openWorld(open)
    const { clock, replicas, alerts } = world
    const beat = async (seconds: number, versions: string[]) => {
      clock.set(secondsLater(world.begin, seconds))
      for (const version of versions)
        await replicas.report(
          describe({
            ...{ id: version, version },
            started_at: timestamp(secondsLater(world.begin, version === '1.0.0' ? -90_000 : 0)),
          }),
        )
      await world.watch()
    }
    await beat(3599, ['1.0.0', '1.1.0'])
    assert.equal(alerts.raised.length, 0)
    await beat(3600, ['1.0.0', '1.1.0'])
    assert.deepEqual(
      alerts.raised.map(({ kind, title, context }) => [
        kind,
        /1\.0\.0, 1\.1\.0/.test(title),
        context.versions,
      ]),
      [['versions_differ', true, ['1.0.0', '1.1.0']]],
    )
    await beat(3620, ['1.1.0'])
    assert.deepEqual(alerts.cleared.at(-1), { agentId: null, kind: 'versions_differ' })
    assert.equal(alerts.raised.length, 1)
  })

  test('403 for people who are not admins; only the internal secret reports a process', async () => {
    await using world = await openWorld(open)
    const routes = [...replicaRoutes(world.replicas), ...internalReplicaRoutes(world.replicas)]
    const app = routesApp(routes, callers)
    const list = (who: string) => app.inject({ method: 'GET', url: '/api/ops/replicas', headers: as(who) })
    assert.equal((await list('creator')).statusCode, 403)
    const { id: _, schema_version: __, agent_address: ___, engine_id: ____, ...body } = describe({})
    const report = (who: string, over: object = {}) =>
      app.inject({
        method: 'PUT',
        url: '/api/internal/replicas/m1',
        headers: as(who),
        payload: { ...body, role: 'mcp', ...over },
      })
    assert.equal((await report('admin')).statusCode, 401)
    assert.equal((await report('platform', { role: 'api' })).statusCode, 422)
    const reported = await report('platform')
    assert.deepEqual([reported.statusCode, reported.json()], [200, { next_seconds: 5 }])
    const listed = await list('admin')
    assert.equal(listed.statusCode, 200, listed.body)
    assert.deepEqual(
      listed
        .json()
        .replicas.map(({ id, role, is_current }: Record<string, unknown>) => [id, role, is_current]),
      [['m1', 'mcp', false]],
    )
    const remove = (who: string) =>
      app.inject({ method: 'DELETE', url: '/api/internal/replicas/m1', headers: as(who) })
    assert.equal((await remove('admin')).statusCode, 401)
    assert.equal((await remove('platform')).statusCode, 200)
    assert.deepEqual((await list('admin')).json().replicas, [])
  })
})

function describe(over: Partial<ReplicaDescription>): ReplicaDescription {
  return {
    ...{ id: 'one', role: 'api', host_name: 'host', process_id: 7, version: '1.0.0', git_commit: null },
    ...{
      schema_version: '0089-replicas',
      agent_address: null,
      engine_id: null,
      started_at: '2030-01-01T00:00:00.000Z',
    },
    ...over,
  }
}

async function openWorld(open: OpenTestDb) {
  const db = await open()
  const clock = createTestClock('2030-01-01T00:00:00.000Z')
  const leases = createLeases({ db, clock })
  const alerts = createTestAlerts()
  const replicas = createReplicas({ db, clock, leases, alerts: alerts.alerts, replicaId: 'one' })
  return {
    ...{ clock, leases, alerts, replicas, begin: clock.now() },
    /** Another API process. */
    other: () => createReplicas({ db, clock, leases, alerts: alerts.alerts, replicaId: 'other' }),
    start: (over: Partial<ReplicaDescription>) =>
      startHeartbeat({
        ...{ db, clock, log: silentLog, replica: describe(over) },
        engineId: () => 'docker:a',
      }),
    watch: () => replicas.loops[0]?.run(new AbortController().signal),
    [Symbol.asyncDispose]: () => db.close(),
  }
}
