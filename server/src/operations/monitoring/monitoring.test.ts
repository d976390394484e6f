import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentStore } from '../../agents/records/index.ts'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { insertRuns } from '../../test/run-rows.ts'
import { type MonitoringWorld, openMonitoringWorld } from '../test/monitoring-world.ts'

const api = '/api/monitoring'
const alertsOf = async (world: MonitoringWorld) => (await world.get('/api/ops/alerts')).alerts
/** Row of an agent after a crash that the engine's restart policy did not repair. */
async function crash(world: MonitoringWorld, name: string) {
  const { id } = await world.row(name)
  // Later than its start, whose event the platform may not have yet.
  const observed_at = timestamp(secondsLater(world.clock.now(), 1))
  await world.db.atomically(async (tx) => {
    await agentStore(tx).update(id, { status: 'exited', exit_code: 137, observed_at })
    world.area.agentRecords.changed(tx, id)
  })
}

forEachDialect((_name, open) => {
  test('the status of all accessible agents, the worst first; breakers only for admins', async () => {
    await using world = await openMonitoringWorld(open)
    const well = await world.agent('mon-well')
    await world.agent('mon-silent')
    await world.clock.advance(30)
    await world.beat(well)
    const status = await world.get(`${api}/status`)
    const shown = status.agents.filter(({ name }: { name: string }) => name.startsWith('mon-'))
    assert.deepEqual(
      shown.map((row: Record<string, unknown>) => [row.name, row.status, row.heartbeat_state]),
      [
        ['mon-silent', 'degraded', 'stale'],
        ['mon-well', 'healthy', 'alive'],
      ],
    )
    assert.deepEqual([status.enabled, status.last_check_at, status.circuit_breakers], [true, null, {}])
    const own = (await world.request(world.owner.key, 'GET', `${api}/status`)).json
    assert.deepEqual([own.summary.total_agents, own.circuit_breakers], [2, undefined])
    const stranger = await world.person()
    const none = (await world.request(stranger.key, 'GET', `${api}/status`)).json
    assert.deepEqual(none.agents, [])
    const hidden = await world.request(stranger.key, 'GET', `${api}/agents/mon-well`)
    assert.deepEqual([hidden.status, hidden.json.error], [404, 'agent_not_found'])
  })

  test('a round adds to the history; a change of health makes one event', async () => {
    await using world = await openMonitoringWorld(open)
    const id = await world.agent('mon-hist')
    await world.round()
    await world.beat(id)
    await world.round()
    await world.round()
    const history = await world.get(`${api}/agents/mon-hist/history?hours=1`)
    assert.deepEqual(
      history.map(({ status }: { status: string }) => status),
      ['degraded', 'degraded', 'degraded'],
    )
    const changes = (await world.eventTypes()).filter((type) => type === 'agent.health_changed')
    // One per agent at its first check, except with unknown health.
    assert.equal(changes.length, 1)
    const event = await world.lastEvent('agent.health_changed')
    assert.deepEqual([event.previous_status, event.current_status], ['unknown', 'degraded'])
    const detail = await world.get(`${api}/agents/mon-hist`)
    assert.deepEqual([detail.uptime_percent_24h, detail.last_check_at], [100, history[0].checked_at])
  })

  test('a round keeps its interval and pauses while monitoring is off', async () => {
    await using world = await openMonitoringWorld(open)
    await world.agent('mon-pace')
    const checks = async () => (await world.get(`${api}/agents/mon-pace/history`)).length
    const off = await world.put(`${api}/config`, { enabled: false })
    assert.equal(off.json.enabled, false)
    await world.round()
    assert.equal(await checks(), 0)
    await world.put(`${api}/config`, { enabled: true, interval_seconds: 120 })
    await world.round()
    await world.round()
    assert.equal(await checks(), 1)
    await world.round()
    assert.equal(await checks(), 2)
  })

  test('two critical checks raise one alert, which is cleared when the agent is healthy', async () => {
    await using world = await openMonitoringWorld(open)
    const id = await world.agent('mon-crit')
    await crash(world, 'mon-crit')
    await world.round()
    assert.deepEqual(await alertsOf(world), [])
    await world.round()
    await world.round()
    const [alert, ...others] = await alertsOf(world)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [alert.type, alert.severity, alert.agent_name, alert.status],
      ['agent_unhealthy', 'critical', 'mon-crit', 'pending'],
    )
    await world.request(world.owner.key, 'POST', '/api/agents/mon-crit/start')
    await world.beat(id)
    await world.round()
    assert.deepEqual(
      (await alertsOf(world)).map(({ status }: { status: string }) => status),
      ['cancelled'],
    )
  })

  test('an acknowledged alert is raised again after the cooldown, not before', async () => {
    await using world = await openMonitoringWorld(open)
    await world.agent('mon-cool')
    await crash(world, 'mon-cool')
    await world.round()
    await world.round()
    const [{ id }] = await alertsOf(world)
    const stranger = await world.person()
    const path = `/api/ops/alerts/${id}/acknowledge`
    assert.equal((await world.request(stranger.key, 'POST', path)).status, 404)
    const acks = await Promise.all(Array.from({ length: 20 }, () => world.post(path)))
    assert.equal(acks.filter(({ status }) => status === 200).length, 1)
    assert.equal(acks.filter(({ json }) => json.error === 'item_not_pending').length, 19)
    await world.round()
    assert.equal((await alertsOf(world)).length, 1)
    await world.clock.advance(900)
    await world.round()
    const statuses = (await alertsOf(world)).map(({ status }: { status: string }) => status)
    assert.deepEqual(statuses, ['pending', 'acknowledged'])
  })

  test('a silent run is counted and raises an alert; so does the daily cost', async () => {
    await using world = await openMonitoringWorld(open)
    const id = await world.agent('mon-stuck')
    const started_at = world.clock.now().toISOString()
    const over = { agent_id: id, agent_name: 'mon-stuck', created_at: started_at, started_at }
    await insertRuns(world.db, [
      { ...over, status: 'running' },
      { ...over, status: 'success', completed_at: started_at, cost_micros: 45_000_000 },
    ])
    await world.clock.advance(1800)
    await world.beat(id)
    await world.round()
    const { runtime } = await world.get(`${api}/agents/mon-stuck`)
    assert.deepEqual([runtime.stuck_execution_count, runtime.active_execution_count], [1, 1])
    assert.equal(runtime.long_running_execution_count, 1)
    const alerts = (await alertsOf(world)).map((alert: Record<string, unknown>) => [
      alert.type,
      alert.severity,
    ])
    assert.deepEqual(alerts.toSorted(), [
      ['cost_limit', 'medium'],
      ['stuck_run', 'medium'],
    ])
  })

  test('a run whose lines are left out at the limit of its transcript is not silent', async () => {
    await using world = await openMonitoringWorld(open)
    const id = await world.agent('mon-limit')
    const started_at = world.clock.now().toISOString()
    const over = { agent_id: id, agent_name: 'mon-limit', created_at: started_at, started_at }
    await world.clock.advance(1800)
    const left_out_at = world.clock.now().toISOString()
    await insertRuns(world.db, [{ ...over, status: 'running', left_out_lines: 3, left_out_at }])
    await world.beat(id)
    await world.round()
    assert.equal((await world.get(`${api}/agents/mon-limit`)).runtime.stuck_execution_count, 0)
  })

  test('a run of ten minutes is long, which is not an issue', async () => {
    await using world = await openMonitoringWorld(open)
    const id = await world.agent('mon-long')
    const long = async () => {
      await world.beat(id)
      const { runtime, issues, aggregate_status } = await world.get(`${api}/agents/mon-long`)
      assert.deepEqual([issues, aggregate_status], [[], 'healthy'])
      return [runtime.long_running_execution_count, runtime.active_execution_count]
    }
    const started_at = world.clock.now().toISOString()
    const over = { agent_id: id, agent_name: 'mon-long', created_at: started_at }
    await insertRuns(world.db, [
      { ...over, started_at, status: 'running' },
      { ...over, started_at: null, status: 'queued' },
    ])
    await world.clock.advance(599)
    assert.deepEqual(await long(), [0, 1])
    await world.clock.advance(1)
    assert.deepEqual(await long(), [1, 1])
  })

  test('a manual check calls the agent and is added to the history; for admins, audited as a write', async () => {
    await using world = await openMonitoringWorld(open)
    const id = await world.agent('mon-hand')
    const found = await world.post(`${api}/agents/mon-hand/check`)
    assert.deepEqual([found.status, found.json.aggregate_status], [200, 'healthy'])
    assert.equal(typeof found.json.link.latency_ms, 'number')
    assert.equal((await world.get(`${api}/agents/mon-hand/history`)).length, 1)
    const owners = await world.request(world.owner.key, 'POST', `${api}/agents/mon-hand/check`)
    assert.equal(owners.json.error, 'admin_required')
    assert.equal((await world.post(`${api}/agents/none/check`)).json.error, 'agent_not_found')
    await world.request(world.owner.key, 'DELETE', '/api/agents/mon-hand')
    const left = await world.db
      .withTables<{ health_checks: { agent_id: string } }>()
      .selectFrom('health_checks')
      .selectAll()
      .where('agent_id', '=', id)
      .execute()
    assert.deepEqual(left, [])
  })

  test('settings map to ops settings; 422 for a warning above its critical value', async () => {
    await using world = await openMonitoringWorld(open)
    const defaults = await world.get(`${api}/config`)
    assert.deepEqual(
      [defaults.interval_seconds, defaults.stuck_run_seconds, defaults.cooldown_seconds],
      [60, 1800, 900],
    )
    const put = await world.put(`${api}/config`, { stuck_run_seconds: 600, error_rate_critical: 0.9 })
    assert.deepEqual([put.json.stuck_run_seconds, put.json.error_rate_critical], [600, 0.9])
    assert.equal(world.settings.value('ops_idle_timeout_minutes'), 10)
    for (const bad of [{ cpu_warning: 96 }, { cooldown_seconds: 90 }, { interval_seconds: 5 }]) {
      assert.equal((await world.put(`${api}/config`, bad)).status, 422, JSON.stringify(bad))
    }
    assert.equal((await world.request(world.owner.key, 'GET', `${api}/config`)).status, 403)
  })
})
