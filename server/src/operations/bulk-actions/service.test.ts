import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { insertRuns } from '../../test/run-rows.ts'
import { type MonitoringWorld, openMonitoringWorld } from '../test/monitoring-world.ts'

type Loose = Record<string, unknown>
const ops = '/api/ops'
const statusOf = async (world: MonitoringWorld, name: string) => (await world.row(name)).status
const byAgent = (results: Loose[]) => Object.fromEntries(results.map(({ agent, result }) => [agent, result]))

forEachDialect((_name, open) => {
  test('status and health of all agents, the system agent included', async () => {
    await using world = await openMonitoringWorld(open)
    const [full, waiting] = [await world.agent('fl-full'), await world.agent('fl-idle')]
    const created_at = world.clock.now().toISOString()
    await insertRuns(world.db, [
      { agent_id: full, created_at, context_used: 95, context_max: 100, completed_at: created_at },
      { agent_id: waiting, created_at, status: 'queued', started_at: null },
    ])
    const status = await world.get(`${ops}/fleet/status`)
    assert.deepEqual(status.summary, { total: 3, running: 2, stopped: 1, exited: 0, high_context: 1 })
    const shown = status.agents.find(({ name }: Loose) => name === 'fl-full')
    assert.deepEqual(shown.context, { context_tokens: 95, context_window: 100, context_percent: 95 })
    const idle = status.agents.find(({ name }: Loose) => name === 'fl-idle')
    assert.deepEqual([idle.queued_executions, idle.context], [1, null])
    const health = await world.get(`${ops}/fleet/health`)
    assert.deepEqual([health.overall, health.healthy_agents], ['critical', ['fl-idle']])
    assert.match(health.critical_issues[0].issue, /95 % full/)
    assert.equal((await world.request(world.owner.key, 'GET', `${ops}/fleet/status`)).status, 403)
  })

  test('a restart keeps or recreates the container, does not count as a crash and cancels runs', async () => {
    await using world = await openMonitoringWorld(open)
    const id = await world.agent('fl-again')
    await world.agent('other')
    const before = await world.row('fl-again')
    const [run] = await insertRuns(world.db, [{ agent_id: id, status: 'running' }])
    world.area.lifecycle.hooks.onStopping(async (tx, agent) => world.runs.dispatch.agentStopped(tx, agent.id))
    const { stop } = world.containers
    // The engine may report the stop only after the restart.
    world.containers.stop = async (...of) => {
      await stop(...of)
      await world.clock.advance(5)
    }
    await world.clock.advance(5)
    const reply = await world.post(`${ops}/fleet/restart`, { name_prefix: 'fl-' })
    assert.deepEqual(reply.json.summary, { total: 1, successes: 1, failures: 0, skipped: 0, recreated: 0 })
    const after = await world.row('fl-again')
    assert.deepEqual([after.status, after.container_id], ['running', before.container_id])
    assert.equal((await world.containers.inspect(after.container_id ?? ''))?.status, 'running')
    assert.equal((await world.runs.row(run?.id ?? '')).error_code, 'agent_stopped')
    const recreated = await world.post(`${ops}/fleet/restart`, { name_prefix: 'fl-', recreate: true })
    assert.deepEqual(recreated.json.summary.recreated, 1)
    assert.notEqual((await world.row('fl-again')).container_id, before.container_id)
    const types = await world.eventTypes()
    assert.equal(types.includes('agent.exited'), false)
    assert.equal(types.filter((type) => type === 'agent.started').length, 2)
  })

  test('409 for twenty restarts and stops during another; then the next succeeds', async () => {
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using world = await openMonitoringWorld(open, {
      async skillsAtStart() {
        started.resolve()
        await gate.promise
        return null
      },
    })
    await world.agent('fl-once')
    const first = world.post(`${ops}/fleet/restart`, { name_prefix: 'fl-' })
    await started.promise
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, n) => world.post(`${ops}/fleet/${n % 2 ? 'restart' : 'stop'}`)),
    )
    gate.resolve()
    assert.deepEqual(
      [...new Set(others.map(({ status, json }) => `${status} ${json.error}`))],
      ['409 fleet_restart_in_progress'],
    )
    assert.equal((await first).json.summary.successes, 1)
    assert.equal((await world.post(`${ops}/fleet/restart`, { name_prefix: 'none' })).status, 200)
  })

  test('an emergency stop ends a running restart: the remaining agents are unchanged', async () => {
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using world = await openMonitoringWorld(open, {
      async skillsAtStart() {
        started.resolve()
        await gate.promise
        return null
      },
    })
    for (const name of ['fl-1', 'fl-2']) await world.agent(name)
    const restart = world.post(`${ops}/fleet/restart`)
    await started.promise
    const stopped = await world.post(`${ops}/emergency-stop`)
    gate.resolve()
    assert.deepEqual([stopped.json.success, stopped.json.agents_stopped], [true, 2])
    assert.deepEqual(byAgent((await restart).json.results), { 'fl-1': 'success', 'fl-2': 'skipped' })
    for (const name of ['fl-1', 'fl-2']) assert.equal(await statusOf(world, name), 'stopped')
  })

  test('a stop skips the system agent, ephemeral and stopped agents, and reports an unavailable engine', async () => {
    await using world = await openMonitoringWorld(open)
    await world.agent('fl-a')
    await world.agent('fl-b')
    await world.agent('fl-short', { ephemeral: { max_executions: 5, ttl_seconds: 3600 } })
    await world.request(world.owner.key, 'POST', '/api/agents/fl-b/stop')
    const { json } = await world.post(`${ops}/fleet/stop`, { filter_status: 'all' })
    assert.deepEqual(byAgent(json.results), {
      'fl-a': 'success',
      'fl-b': 'skipped',
      'fl-short': 'skipped',
      'roost-system': 'skipped',
    })
    assert.equal(await statusOf(world, 'fl-short'), 'running')
    world.engine.refuse(true)
    const failed = await world.post(`${ops}/fleet/restart`, { filter_status: 'all', name_prefix: 'fl-a' })
    assert.deepEqual(byAgent(failed.json.results), { 'fl-a': 'failed' })
    assert.match(failed.json.results[0].reason, /engine/)
    world.engine.refuse(false)
    assert.equal(await statusOf(world, 'fl-a'), 'stopped')
    assert.equal((await world.post(`${ops}/fleet/stop`, { filter_status: 'some' })).status, 422)
  })

  test('an emergency stop pauses, cancels and stops everything, and collects the failures', async () => {
    await using world = await openMonitoringWorld(open)
    const ids = [await world.agent('fl-one'), await world.agent('fl-two')]
    for (const name of ['fl-one', 'fl-two']) {
      const body = { name: 'each hour', cron_expression: '0 * * * *', message: 'go' }
      assert.equal((await world.schedule(name, body)).status, 201)
    }
    const runs = await insertRuns(
      world.db,
      ids.flatMap((agent_id) => [
        { agent_id, status: 'running' as const },
        { agent_id, status: 'queued' as const, started_at: null },
        { agent_id, status: 'pending_retry' as const, started_at: null, completed_at: null },
      ]),
    )
    const narrow = await world.post(`${ops}/emergency-stop`, { agent_name: 'fl-one' })
    assert.deepEqual(
      [narrow.json.success, narrow.json.schedules_paused, narrow.json.executions_cancelled],
      [true, 1, 3],
    )
    assert.equal(await statusOf(world, 'fl-two'), 'running')
    world.engine.refuse(true)
    const { status, json } = await world.post(`${ops}/emergency-stop`)
    assert.deepEqual(
      [status, json.success, json.schedules_paused, json.executions_cancelled, json.agents_stopped],
      [200, false, 1, 3, 0],
    )
    assert.deepEqual(
      json.errors.map(({ step, agent_name }: Loose) => [step, agent_name]),
      [['stop_agent', 'fl-two']],
    )
    world.engine.refuse(false)
    for (const { id } of runs) assert.equal((await world.runs.row(id)).status, 'cancelled')
    const none = await world.post(`${ops}/emergency-stop`, { agent_name: 'none' })
    assert.deepEqual([none.status, none.json.error], [404, 'agent_not_found'])
    assert.equal((await world.request(world.owner.key, 'POST', `${ops}/emergency-stop`)).status, 403)
  })

  test('costs by model and agent, and the used share of the daily limit', async () => {
    await using world = await openMonitoringWorld(open)
    const id = await world.agent('fl-dear')
    const created_at = world.clock.now().toISOString()
    const old = new Date(world.clock.now().getTime() - 30 * 3_600_000).toISOString()
    const over = { agent_id: id, agent_name: 'fl-dear', model_used: 'm1', input_tokens: 10, output_tokens: 5 }
    await insertRuns(world.db, [
      { ...over, created_at, cost_micros: 50_000_000 },
      {
        ...over,
        created_at,
        cost_micros: 10_000_000,
        cost_estimated: 1,
        model_used: 'm2',
        cache_read_tokens: 7,
      },
      { ...over, created_at: old, cost_micros: 5_000_000 },
      { agent_id: id, agent_name: 'fl-dear', created_at },
    ])
    const costs = await world.get(`${ops}/costs`)
    assert.deepEqual(costs.summary, {
      total_cost: 60,
      cost_estimated: true,
      total_tokens: 37,
      daily_limit: 50,
      cost_today: 60,
      cost_percent_of_limit: 120,
    })
    assert.deepEqual(
      costs.cost_by_model.map(({ model, cost, cost_estimated }: Loose) => [model, cost, cost_estimated]),
      [
        ['m1', 50, false],
        ['m2', 10, true],
      ],
    )
    assert.deepEqual(costs.cost_by_agent, [
      { agent_name: 'fl-dear', cost: 60, cost_estimated: true, executions: 3 },
    ])
    assert.deepEqual(costs.alerts[0].severity, 'high')
    assert.equal((await world.get(`${ops}/costs?hours=48`)).summary.total_cost, 65)
  })

  test('the provider credential of each agent', async () => {
    await using world = await openMonitoringWorld(open)
    await world.agent('fl-key')
    const report = await world.get(`${ops}/auth-report`)
    assert.deepEqual(
      [report.summary.total_agents, report.summary.using_api_key, report.subscriptions],
      [2, 2, []],
    )
    assert.equal(report.by_auth_mode.api_key.length, 2)
  })
})
