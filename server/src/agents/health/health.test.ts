import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'

type Options = Parameters<typeof openAgents>[1]
async function open(options: Options = {}) {
  const world = await openAgents(await openTestDatabase(), options)
  const owner = await world.person()
  await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  const agent = await world.row('helper')
  const get = async (path: string) => (await world.request(owner.key, 'GET', path)).json
  return { ...world, owner, agent, get }
}

describe('health', () => {
  test("200 a heartbeat with the agent's own key is stored and renews leases; it becomes stale", async () => {
    const renewed: unknown[] = []
    await using world = await open({
      needs: { renewLeases: async (id, beat) => void renewed.push([id, beat.executions]) },
    })
    const state = async () => (await world.get('/api/agents/helper')).heartbeat_state
    assert.equal(await state(), 'unsupported')
    const key = await world.agentKey(world.agent.id)
    const body = { memory_mb: 100, executions: [{ execution_id: 'e1' }] }
    const reply = await world.request(key, 'POST', '/api/agents/helper/heartbeat', body)
    assert.deepEqual(reply.json, { ok: true, stored: true })
    assert.deepEqual(renewed, [[world.agent.id, body.executions]])
    assert.equal(await state(), 'alive')
    assert.equal((await world.get('/api/agents/helper/stats')).memory_used_bytes, 100 * 1024 * 1024)
    await world.clock.advance(20)
    assert.equal(await state(), 'alive')
    await world.clock.advance(1)
    assert.equal(await state(), 'stale')
    assert.equal((await world.request(key, 'POST', '/api/agents/helper/heartbeat')).status, 200)
    assert.equal(await state(), 'alive')
    const run = { execution_id: 'e2', tool: null, summary: null, since: null }
    for (const body of [{ memory_mb: null, uptime_s: null, executions: null }, { executions: [run] }]) {
      const empty = await world.request(key, 'POST', '/api/agents/helper/heartbeat', body)
      assert.equal(empty.status, 200, 'null means the same as a missing field')
    }
    assert.equal((await world.get('/api/agents/helper/stats')).memory_used_bytes, null)
    assert.deepEqual(renewed.at(-1), [world.agent.id, [{ execution_id: 'e2' }]])
  })

  test('403 agent_identity_required for people and other agents; 422 for more than twenty runs', async () => {
    await using world = await open()
    await world.request(world.owner.key, 'POST', '/api/agents', { name: 'other' })
    const others = await world.agentKey((await world.row('other')).id)
    const post = (key: string, body: object = {}) =>
      world.request(key, 'POST', '/api/agents/helper/heartbeat', body)
    assert.equal((await post(world.owner.key)).json.error, 'agent_identity_required')
    assert.equal((await post(others)).status, 403)
    const key = await world.agentKey(world.agent.id)
    const executions = Array.from({ length: 21 }, (_, index) => ({ execution_id: `e${index}` }))
    assert.equal((await post(key, { executions })).status, 422)
  })

  test('stats come from the sampler, never from the engine', async () => {
    await using world = await open()
    const sampler = world.area.loops.find((loop) => loop.name === 'agents.sample')
    await sampler?.run(AbortSignal.timeout(10_000))
    world.engine.use(world.agent.container_id ?? '', { cpuSeconds: 5, memoryBytes: 1024 ** 3 })
    await world.clock.advance(10)
    await sampler?.run(AbortSignal.timeout(10_000))
    await world.clock.advance(3)
    world.engine.refuse(true)
    const stats = await world.get('/api/agents/helper/stats')
    assert.deepEqual(
      [stats.cpu_percent, stats.memory_percent, stats.uptime_seconds, stats.age_seconds],
      [50, 25, 13, 3],
    )
    await sampler?.run(AbortSignal.timeout(10_000))
    assert.equal((await world.get('/api/agents/helper/stats')).age_seconds, 3)
    world.engine.refuse(false)
    await world.request(world.owner.key, 'POST', '/api/agents/helper/stop')
    assert.equal((await world.get('/api/agents/helper/stats')).memory_used_bytes, null)
  })

  test('the engine is asked only for agents that do not report their own use', async () => {
    await using world = await open()
    const sampler = world.area.loops.find((loop) => loop.name === 'agents.sample')
    const sample = () => sampler?.run(AbortSignal.timeout(10_000))
    const stats = async () => {
      const { source, cpu_percent, age_seconds } = await world.get('/api/agents/helper/stats')
      return [source, cpu_percent, age_seconds]
    }
    const use = { cpu_percent: 30, memory_bytes: 1024, network_rx_bytes: null, network_tx_bytes: null }
    world.engine.use(world.agent.container_id ?? '', { cpuSeconds: 0 })
    await sample()
    await world.area.health.beat(world.agent.id, { use })
    world.engine.use(world.agent.container_id ?? '', { cpuSeconds: 5 })
    await world.clock.advance(10)
    await sample()
    // A later heartbeat without a report, for example over HTTP, does not end it.
    await world.area.health.beat(world.agent.id, {})
    assert.deepEqual(await stats(), ['agent', 30, 10])
    await world.clock.advance(11)
    assert.deepEqual(await stats(), ['engine', null, 21])
    await sample()
    assert.deepEqual(await stats(), ['engine', 23.8, 0])
  })

  test('context use and autonomy of all agents the caller can access', async () => {
    const use = { busy: true, context_used: 50, context_max: 200, last_activity_at: null }
    await using world = await open({
      needs: {
        contextOf: async (ids) => new Map(ids.map((id) => [id, use])),
        scheduleCounts: async (ids) => new Map(ids.map((id) => [id, { total: 3, enabled: 2 }])),
      },
    })
    const context = await world.get('/api/agents/context-stats')
    assert.deepEqual(
      [context.agents[0].name, context.agents[0].context_percent, context.agents[0].activity_state],
      ['helper', 25, 'active'],
    )
    assert.deepEqual(await world.get('/api/agents/autonomy-status'), {
      helper: { autonomy_enabled: true, total_schedules: 3, enabled_schedules: 2 },
    })
    const stranger = await world.person()
    const none = await world.request(stranger.key, 'GET', '/api/agents/context-stats')
    assert.deepEqual(none.json, { agents: [] })
  })

  test('activity, info and logs answer in every state', async () => {
    await using world = await open()
    assert.equal((await world.get('/api/agents/helper/activity')).status, 'idle')
    assert.deepEqual(await world.get('/api/agents/helper/logs?tail=10'), { agent_name: 'helper', logs: '' })
    assert.equal((await world.get('/api/agents/helper/info')).has_template, false)
    world.link.link(world.agent.id, {
      info: () => ({
        template_yaml: 'name: own\ndisplay_name: Own\ndescription: mine\nmetrics: []\n',
        metrics_json: null,
        runtime_version: null,
        workspace_initialized: true,
      }),
    })
    const info = await world.get('/api/agents/helper/info')
    assert.deepEqual([info.has_template, info.display_name, info.status], [true, 'Own', 'running'])
    await world.request(world.owner.key, 'POST', '/api/agents/helper/stop')
    const stopped = await world.get('/api/agents/helper/info')
    assert.deepEqual([stopped.status, stopped.resources], ['stopped', { cpu: '2', memory: '4g' }])
    assert.equal((await world.get('/api/agents/helper/logs')).logs, '')
    assert.equal((await world.get('/api/agents/helper/activity')).status, 'offline')
  })

  test('info of an agent from a template shows the template until the agent answers', async () => {
    await using world = await open()
    const body = { name: 'made', template: 'business-assistant' }
    assert.equal((await world.request(world.owner.key, 'POST', '/api/agents', body)).status, 200)
    assert.equal((await world.get('/api/agents/made/info')).display_name, 'Business assistant')
    const templates = await world.get('/api/templates')
    assert.ok(templates.some((each: { id: string }) => each.id === 'local:business-assistant'))
    const id = encodeURIComponent('local:codex-assistant')
    assert.equal((await world.get(`/api/templates/${id}`)).runtime, 'codex')
    const env = await world.request(world.owner.key, 'GET', `/api/templates/${id}/env`)
    assert.equal(env.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal((await world.get('/api/templates/none')).error, 'template_not_found')
    assert.equal(
      (await world.request(world.owner.key, 'POST', '/api/templates/refresh')).json.error,
      'admin_required',
    )
  })
})
