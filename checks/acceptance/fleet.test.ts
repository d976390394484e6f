/** Runs of all agents in one list, their statistics, and the resource use of machine and containers. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import {
  agentKeyOf,
  answerOf,
  assertShape,
  beginTurn,
  chat,
  createAgent,
  isSpawned,
  untilExecution,
} from './steps.ts'

let platform: Platform
let agentKey: string
let opsKey: string
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, 'qa-fleet')
  await createAgent(platform, 'qa-calm')
  agentKey = await agentKeyOf('qa-fleet')
  opsKey = (await platform.request('POST', '/api/mcp/keys', { name: 'watch', scope: 'ops' })).json.key
  await answerOf(platform, 'qa-fleet', 'a secret Plum [[usage:120,30]] [[reply:kept]]')
  await chat(platform, 'qa-fleet', '[[fail:400]]')
  const own = await chat(platform, 'qa-fleet', 'plum by myself [[reply:heard]]', { token: agentKey })
  assert.equal(own.status, 200, own.text)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const get = (path: string, token = platform.token) => platform.request('GET', path, undefined, { token })
const ask = async (path: string, token?: string): Promise<Loose> => {
  const reply = await get(path, token)
  assert.equal(reply.status, 200, `${path}: ${reply.text}`)
  return reply.json
}

describe('the list', () => {
  test("contains the rows of the agent's own list, and the total", async () => {
    const whole = await get('/api/executions')
    assert.equal(whole.headers.get('x-total-count'), '3')
    assert.deepEqual(whole.json, await ask('/api/agents/qa-fleet/executions'))
    const page = await get('/api/executions?limit=1&offset=1&agent=qa-fleet')
    assert.deepEqual([page.headers.get('x-total-count'), page.json.length], ['3', 1])
    assert.equal(page.json[0].id, whole.json[1].id)
  })

  test('filters and search narrow it; unknown values are refused with the valid ones', async () => {
    const statuses = async (query: string) =>
      (await ask(`/api/executions?${query}`)).map(({ status }: Loose) => status)
    assert.deepEqual(await statuses('status=failed'), ['failed'])
    assert.deepEqual(await statuses('triggered_by=self_task&hours=0'), ['success'])
    assert.deepEqual(await statuses('search=PLUM'), ['success', 'success'])
    assert.deepEqual(await statuses('agent=qa-calm'), [])
    for (const query of ['status=odd', 'triggered_by=odd', 'agent=qa-nobody']) {
      const reply = await get(`/api/executions?${query}`)
      assert.deepEqual([reply.status, reply.json.error], [422, 'unknown_filter'], query)
      assert.ok(reply.json.offered.length > 0)
    }
  })

  test('keys see the row of a private conversation redacted, and cannot find it by its content', async () => {
    for (const token of [agentKey, opsKey]) {
      const rows = await ask('/api/executions', token)
      assert.deepEqual(
        rows.map(({ triggered_by, redacted, message }: Loose) => [triggered_by, redacted, message === null]),
        [
          ['self_task', undefined, false],
          ['chat', true, true],
          ['chat', true, true],
        ],
      )
      const found = await ask('/api/executions?search=plum', token)
      assert.deepEqual(
        found.map(({ triggered_by }: Loose) => triggered_by),
        ['self_task'],
      )
      assert.ok(!JSON.stringify(rows).includes('Plum'))
    }
  })
})

describe('statistics', () => {
  test('statistics and timeline agree', async () => {
    const stats = await ask('/api/executions/stats')
    assert.deepEqual(
      [stats.total, stats.success_count, stats.failed_count, stats.running_count, stats.hours],
      [3, 2, 1, 0, 24],
    )
    assert.equal(stats.success_rate, 2 / 3)
    assert.ok(stats.total_cost > 0)
    for (const group of ['hour', 'day', 'trigger', 'agent']) {
      const { buckets } = await ask(`/api/executions/timeline?group_by=${group}`)
      const sum = (field: string) => buckets.reduce((all: number, each: Loose) => all + each[field], 0)
      assert.deepEqual([sum('total'), sum('success'), sum('failed')], [3, 2, 1], group)
    }
    const { buckets } = await ask('/api/executions/timeline?hours=24&group_by=hour')
    assert.equal(buckets.length, 25)
  })

  test('a running run is counted in statistics, slots and context', async () => {
    const turn = await beginTurn(platform, 'qa-fleet', '[[sleep:60]]')
    await untilExecution(platform, 'qa-fleet', turn.id, isSpawned)
    assert.equal((await ask('/api/executions/stats')).running_count, 1)
    const slots = await ask('/api/agents/slots')
    assert.deepEqual(slots.agents['qa-fleet'], { max: 3, active: 1, queued: 0 })
    assert.deepEqual(slots.agents['qa-calm'], { max: 3, active: 0, queued: 0 })
    assert.equal(slots.circuit_breakers['qa-fleet'], 'closed')
    const { agents } = await ask('/api/agents/context-stats')
    const context = (name: string) => agents.find((each: Loose) => each.name === name)
    assert.deepEqual(
      [context('qa-fleet').activity_state, context('qa-calm').activity_state],
      ['active', 'idle'],
    )
    assert.ok(context('qa-fleet').context_max > 0, 'reported by the previous run')
    await platform.request('POST', `/api/agents/qa-fleet/executions/${turn.id}/terminate`)
    await turn.ended
    assert.equal((await ask('/api/agents/slots')).agents['qa-fleet'].active, 0)
  })

  test('per agent: results, autonomy, analytics, tokens', async () => {
    const { agents } = await ask('/api/agents/execution-stats?include_7d=true')
    const busy = agents.find(({ name }: Loose) => name === 'qa-fleet')
    assert.deepEqual([busy.success_count, busy.failed_count, busy.task_count_7d], [2, 1, busy.task_count])
    const calm = agents.find(({ name }: Loose) => name === 'qa-calm')
    assert.deepEqual([calm.task_count, calm.success_rate, calm.last_execution_at], [0, null, null])
    assert.deepEqual((await ask('/api/agents/autonomy-status'))['qa-calm'], {
      autonomy_enabled: true,
      total_schedules: 0,
      enabled_schedules: 0,
    })

    const analytics = await ask('/api/agents/qa-fleet/analytics?window=14d')
    assert.deepEqual(
      [analytics.window_hours, analytics.total_executions, analytics.success_count, analytics.failed_count],
      [336, busy.task_count, 2, 1],
    )
    assert.deepEqual([analytics.sampled, analytics.sample_size], [false, 2])
    assert.ok(analytics.duration_ms.p50 > 0 && analytics.duration_ms.p95 >= analytics.duration_ms.p50)
    assert.equal(analytics.timeline.at(-1).date, new Date().toISOString().slice(0, 10))
    const ofType = (bucket: string) => analytics.by_type.find((each: Loose) => each.bucket === bucket).total
    assert.deepEqual([ofType('agents'), ofType('chats_tasks')], [1, busy.task_count - 1])
    assert.equal((await get('/api/agents/qa-fleet/analytics?window=1d')).status, 422)

    const tokens = await ask('/api/agents/qa-fleet/token-stats')
    assert.equal(tokens.daily.length, 7)
    assert.ok(tokens.lifetime.input_tokens >= 120 && tokens.lifetime.output_tokens >= 30)
    assert.deepEqual(tokens.last_24h, tokens.lifetime)
  })
})

describe('telemetry', () => {
  test('the machine reports plausible levels', async () => {
    const host = await ask('/api/telemetry/host')
    assertShape(
      host,
      { timestamp: 'string', cpu: 'object', memory: 'object', disk: 'object', load: 'array' },
      'host',
    )
    assert.ok(host.cpu.count >= 1 && host.cpu.percent >= 0 && host.cpu.percent <= 100)
    for (const { percent, used_gb, total_gb } of [host.memory, host.disk]) {
      assert.ok(percent > 0 && percent <= 100 && used_gb <= total_gb)
    }
  })

  test('containers are reported after the first sample', async () => {
    const telemetry = await eventually(
      () => ask('/api/telemetry/containers', opsKey),
      ({ containers }) => containers.length === 2 && containers.every((each: Loose) => !each.error),
    )
    assert.deepEqual([telemetry.running_count, telemetry.stale, telemetry.no_data], [2, false, false])
    assert.ok(
      telemetry.total_memory_mb > 0 && telemetry.containers.every((each: Loose) => each.memory_mb > 0),
    )
    const own = await ask('/api/telemetry/containers', agentKey)
    assert.deepEqual(
      own.containers.map(({ name }: Loose) => name),
      ['qa-fleet'],
    )
  })
})

test('an ops key reads only what its scope allows', async () => {
  const open = [
    '/api/agents',
    '/api/agents/execution-stats',
    '/api/agents/slots',
    '/api/executions',
    '/api/executions/stats',
    '/api/costs',
    '/api/agents/qa-fleet/executions',
    '/api/agents/qa-fleet/executions/running',
    '/api/telemetry/host',
    '/api/telemetry/containers',
    '/api/version',
  ]
  for (const path of open) await ask(path, opsKey)
  const closed = [
    '/api/executions/timeline',
    '/api/agents/context-stats',
    '/api/agents/autonomy-status',
    '/api/agents/qa-fleet/analytics',
    '/api/agents/qa-fleet/token-stats',
    '/api/agents/qa-fleet/activity',
  ]
  for (const path of closed) {
    const reply = await get(path, opsKey)
    assert.deepEqual([reply.status, reply.json.error], [403, 'scope_not_allowed'], path)
  }
})

test('admins keep the history of a deleted agent, marked; a new agent of its name has none of it', async () => {
  await createAgent(platform, 'qa-brief')
  await answerOf(platform, 'qa-brief', '[[reply:once]]')
  const { id } = (await ask('/api/executions?agent=qa-brief'))[0]
  assert.equal((await platform.request('DELETE', '/api/agents/qa-brief')).status, 200)
  const [row] = await ask('/api/executions?agent=qa-brief')
  assert.deepEqual([row.id, row.agent_deleted], [id, true])
  const visible = await ask('/api/executions', opsKey)
  assert.ok(!visible.some((each: Loose) => each.id === id))
  const { buckets } = await ask('/api/executions/timeline?group_by=agent')
  assert.equal(buckets.find(({ bucket }: Loose) => bucket === 'qa-brief (deleted)').total, 1)
  await createAgent(platform, 'qa-brief')
  assert.deepEqual(await ask('/api/executions?agent=qa-brief'), [])
  assert.equal((await ask('/api/agents/qa-brief/analytics')).total_executions, 0)
})

describe('the fleet as a whole', () => {
  test('an ops key reads the state of all agents, and changes nothing', async () => {
    const paths = ['fleet/status', 'fleet/health', 'alerts', 'costs', 'auth-report', 'schedules']
    for (const path of paths) await ask(`/api/ops/${path}`, opsKey)
    const { agents } = await ask('/api/monitoring/status', opsKey)
    const found = agents.find(({ name }: Loose) => name === 'qa-calm')
    assert.deepEqual([found.container_status, found.link_connected], ['running', true])
    const refused = await platform.request('POST', '/api/ops/fleet/restart', {}, { token: opsKey })
    assert.deepEqual([refused.status, refused.json.error], [403, 'scope_not_allowed'])
  })

  test('a restart keeps the container, which reconnects; a manual check measures its link', async () => {
    const body = { name_prefix: 'qa-calm' }
    const restarted = await platform.request('POST', '/api/ops/fleet/restart', body)
    assert.deepEqual([restarted.status, restarted.json.summary.successes], [200, 1], restarted.text)
    const check = async (): Promise<Loose> =>
      (await platform.request('POST', '/api/monitoring/agents/qa-calm/check')).json
    const found = await eventually(check, ({ link }) => link.latency_ms !== null)
    assert.deepEqual([found.container.status, found.container.restart_count], ['running', 0])
  })

  test('an emergency stop ends everything running, queued or due for a retry', async () => {
    await createAgent(platform, 'qa-halt')
    const of = (path: string) => `/api/agents/qa-halt/${path}`
    const post = async (path: string, body?: object): Promise<Loose> => {
      const { status, json, text } = await platform.request('POST', path, body)
      assert.ok(status < 300, `${path}: ${text}`)
      return json
    }
    const untilLoop = (id: string, accept: (loop: Loose) => boolean): Promise<Loose> =>
      eventually(() => ask(`/api/loops/${id}`), accept, 60_000)
    const busy = '[[sleep:600]]'
    const retried = { name: 'again', cron_expression: '0 0 1 1 *', message: '[[fail:400]]' }
    const schedule = await post(of('schedules'), { ...retried, max_retries: 1, retry_delay_seconds: 600 })
    await post(of(`schedules/${schedule.id}/trigger`))
    const idle = await post(of('loops'), { message: '[[reply:one]]', max_runs: 5, delay_seconds: 600 })
    await untilLoop(idle.loop_id, ({ runs_completed }) => runs_completed === 1)
    const rows = (status: string) => ask(of(`executions?status=${status}`))
    await eventually(
      () => rows('pending_retry'),
      ({ length }) => length === 1,
    )
    const [turn, loop] = [
      await beginTurn(platform, 'qa-halt', busy),
      await post(of('loops'), { message: busy, max_runs: 5 }),
    ]
    const tasks = [1, 2, 3].map(() => ({ message: busy }))
    const fanOut = await post(of('fan-out'), { tasks, max_concurrency: 1, async_mode: true })
    await eventually(
      () => rows('running'),
      ({ length }) => length === 3,
      60_000,
    )
    await post(of('task'), { message: busy, async_mode: true })
    const before = (await ask(of('executions'))).length

    const stopResult = await post('/api/ops/emergency-stop')
    assert.deepEqual(stopResult, {
      success: true,
      message: stopResult.message,
      // The retry, the turn, the loop's run, three of the fan-out, the task.
      ...{ schedules_paused: 1, executions_cancelled: 7, agents_stopped: 4, errors: [] },
    })
    await turn.ended
    await post(of('start'))
    for (const { loop_id } of [idle, loop]) {
      const ended = await untilLoop(loop_id, ({ status }) => status === 'stopped')
      assert.equal(ended.stop_reason, 'user_stopped')
    }
    assert.deepEqual(
      (await ask(of(`fan-out/${fanOut.fan_out_id}`))).results.map(({ status }: Loose) => status),
      ['cancelled', 'cancelled', 'cancelled'],
    )
    assert.equal((await ask(of(`schedules/${schedule.id}`))).enabled, false)
    const agent = await eventually(
      () => ask('/api/agents/slots'),
      ({ agents }) => 'qa-halt' in agents,
    )
    assert.deepEqual(agent.agents['qa-halt'], { max: 3, active: 0, queued: 0 })
    assert.equal((await ask(of('executions'))).length, before)
  })
})
