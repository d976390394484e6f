/** Schedules: stored fields, permissions, triggered runs, and what remains after deletion. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import { agentKeyOf, assertShape, createAgent, isOver, untilExecution } from './steps.ts'

const name = 'qa-schedules'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const api = (method: string, path: string, body?: object, token?: string) =>
  platform.request(method, `/api/agents/${name}/schedules${path}`, body, token ? { token } : {})
const create = async (over: object = {}): Promise<Loose> => {
  const body = { name: 'nightly', cron_expression: '0 3 * * *', message: '[[reply:done]]', ...over }
  const reply = await api('POST', '', body)
  assert.equal(reply.status, 201, reply.text)
  return reply.json
}
const trigger = async (id: string): Promise<Loose> => {
  const reply = await api('POST', `/${id}/trigger`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}

test('a schedule has its documented shape, a next time in its zone, and can be read back', async () => {
  const made = await create({ timezone: 'Asia/Kolkata', description: 'every night', max_retries: 2 })
  assertShape(
    made,
    {
      ...{ id: 'string', agent_name: 'string', name: 'string', description: 'string', message: 'string' },
      ...{ cron_expression: 'string', enabled: 'boolean', timezone: 'string', max_retries: 'number' },
      ...{ retry_delay_seconds: 'number', validation_enabled: 'boolean', validation_prompt: 'string?' },
      ...{ validation_timeout_seconds: 'number', next_run_at: 'string', last_run_at: 'string?' },
      ...{ webhook_enabled: 'boolean', created_by: 'string', created_at: 'string', updated_at: 'string' },
      ...{
        timeout_seconds: 'number?',
        allowed_tools: 'array?',
        model: 'string?',
        registration_error: 'string?',
      },
    },
    'schedule',
  )
  assert.equal(made.next_run_at.slice(11), '21:30:00.000Z')
  assert.deepEqual((await api('GET', `/${made.id}`)).json, made)
  assert.deepEqual((await api('GET', '')).json, [made])
  const { next } = (await api('GET', `/${made.id}/next?count=3`)).json
  assert.deepEqual([next.length, next[0]], [3, made.next_run_at])
})

test('a triggered schedule creates its own run, with its limits, listed and counted', async () => {
  const made = await create({ timeout_seconds: 120, allowed_tools: ['Read'], enabled: false })
  const triggered = await trigger(made.id)
  assert.deepEqual(
    [triggered.status, triggered.schedule_id, triggered.schedule_name, triggered.agent_name],
    ['triggered', made.id, 'nightly', name],
  )
  const row = await untilExecution(platform, name, triggered.execution_id, isOver)
  assert.deepEqual(
    [row.status, row.response, row.triggered_by, row.schedule_id, row.timeout_seconds, row.allowed_tools],
    ['success', 'done', 'manual', made.id, 120, ['Read']],
  )
  const runs = await api('GET', `/${made.id}/executions`)
  assert.deepEqual(
    [runs.json.map(({ id }: Loose) => id), runs.headers.get('x-total-count')],
    [[triggered.execution_id], '1'],
  )
  const figures = (await api('GET', `/${made.id}/analytics?window_hours=24`)).json
  assert.deepEqual([figures.total_executions, figures.success_count, figures.success_rate], [1, 1, 1])
  const summary = (await api('GET', '/analytics-summary')).json
  const ownSchedule = summary.schedules.find(({ schedule_id }: Loose) => schedule_id === made.id)
  assert.deepEqual([ownSchedule.run_count, ownSchedule.last_run_status], [1, 'success'])
  const seen = (await api('GET', `/${made.id}`)).json
  assert.deepEqual([seen.last_run_status, seen.enabled, seen.next_run_at], ['success', false, null])
})

test('an agent manages its own schedules with its key, and no others', async () => {
  await createAgent(platform, 'qa-schedules-other')
  const key = await agentKeyOf(name)
  const made = await api('POST', '', { name: 'own', cron_expression: '0 4 * * *', message: 'x' }, key)
  assert.deepEqual([made.status, made.json.created_by], [201, name])
  assert.equal((await api('POST', `/${made.json.id}/disable`, undefined, key)).json.status, 'disabled')
  const other = { name: 'x', cron_expression: '0 4 * * *', message: 'x' }
  const refused = await platform.request('POST', '/api/agents/qa-schedules-other/schedules', other, {
    token: key,
  })
  assert.equal(refused.status, 403)
  assert.equal((await api('DELETE', `/${made.json.id}`, undefined, key)).status, 204)
})

test('errors name bad input: cron, zone, recipient, timeout above the cap', async () => {
  const table: [object, number, string][] = [
    [{ cron_expression: 'every day' }, 400, 'invalid_cron_expression'],
    [{ timezone: 'Nowhere/City' }, 400, 'invalid_timezone'],
    [{ deliver_to_workspace_email: 'nobody' }, 400, 'invalid_recipient'],
    [{ timeout_seconds: 7201 }, 400, 'schedule_timeout_exceeds_agent_cap'],
    [{ model: 'unknown-model' }, 422, 'invalid_model'],
    [{ max_retries: 9 }, 422, 'validation_error'],
  ]
  for (const [over, status, error] of table) {
    const reply = await api('POST', '', { name: 'x', cron_expression: '* * * * *', message: 'x', ...over })
    assert.deepEqual([reply.status, reply.json.error], [status, error], JSON.stringify(over))
  }
})

test('a deleted schedule is unknown, its runs stay readable, and an admin recovers it after a restart', async () => {
  const made = await create()
  const { execution_id } = await trigger(made.id)
  await untilExecution(platform, name, execution_id, isOver)
  assert.equal((await api('DELETE', `/${made.id}`)).status, 204)
  for (const path of ['', '/executions', '/analytics', '/next', '/fires', '/webhook']) {
    assert.equal((await api('GET', `/${made.id}${path}`)).status, 404, path)
  }
  assert.equal((await api('POST', `/${made.id}/trigger`)).status, 404)
  await platform.killApi()
  await platform.startApi()
  platform.token = await signIn(platform)
  const run = await platform.request('GET', `/api/agents/${name}/executions/${execution_id}`)
  assert.equal(run.json.schedule_id, made.id)
  const deleted = (await platform.request('GET', '/api/admin/soft-deleted/schedules')).json
  assert.ok(deleted.some(({ id }: Loose) => id === made.id))
  const back = await platform.request('POST', `/api/admin/soft-deleted/schedules/${made.id}/recover`)
  assert.deepEqual([back.status, back.json.enabled], [200, false])
  assert.equal((await api('GET', `/${made.id}/executions`)).json.length, 1)
})

test('a stopped agent responds 503, and no run is recorded', async () => {
  const made = await create()
  await platform.request('POST', `/api/agents/${name}/stop`)
  const refused = await api('POST', `/${made.id}/trigger`)
  assert.deepEqual([refused.status, refused.json.error], [503, 'agent_not_running'])
  assert.deepEqual((await api('GET', `/${made.id}/executions`)).json, [])
})
