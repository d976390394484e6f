/** Settings of an agent and of the platform: shapes, defaults, limits and effects. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Loose, type Platform, startPlatform } from './platform.ts'
import {
  answerOf,
  assertShape,
  beginTurn,
  createAgent,
  docker,
  isSpawned,
  stateOf,
  untilExecution,
} from './steps.ts'

const name = 'qa-settings'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const get = (setting: string) => platform.request('GET', `/api/agents/${name}/${setting}`)
const put = (setting: string, body: object) => platform.request('PUT', `/api/agents/${name}/${setting}`, body)

const defaults: Record<string, Loose> = {
  label: { label: null },
  autonomy: {
    autonomy_enabled: true,
    enabled: true,
    total_schedules: 0,
    enabled_schedules: 0,
    schedules: [],
  },
  timeout: { execution_timeout_seconds: 3600, execution_timeout_minutes: 60 },
  capacity: {
    max_parallel_tasks: 3,
    ceiling: 10,
    effective_max_parallel_tasks: 3,
    active_slots: 0,
    available_slots: 3,
    queued: 0,
    slots: [],
  },
  resources: { cpu: '2', memory: '4g', current_cpu: '2', current_memory: '4g', restart_needed: false },
  capabilities: { full_capabilities: false, current_full_capabilities: false, restart_needed: false },
  'operator-resume': { enabled: false },
  'mcp-exposed': { enabled: false, tool_name: 'chat_with_qa_settings' },
  runtime: { runtime: 'claude-code', restart_needed: false },
  instructions: { custom_instructions: null },
}
for (const [setting, expected] of Object.entries(defaults)) {
  test(`${setting}: the default`, async () => {
    const reply = await get(setting)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.json, { agent_name: name, ...expected })
  })
}

/** Accepted bodies, with fields of the response; the last body of each setting restores the default. */
const accepted: [string, object, object][] = [
  ['label', { label: '  Cafe\u0301  ' }, { label: 'Café' }],
  ['label', { label: '   ' }, { label: null }],
  ['label', { label: null }, { label: null }],
  ['autonomy', { enabled: false }, { autonomy_enabled: false, enabled: false }],
  ['autonomy', { enabled: true }, { autonomy_enabled: true }],
  ['timeout', { execution_timeout_seconds: 60 }, { execution_timeout_minutes: 1 }],
  ['timeout', { execution_timeout_seconds: 7200 }, { execution_timeout_seconds: 7200 }],
  ['capacity', { max_parallel_tasks: 10 }, { effective_max_parallel_tasks: 10, available_slots: 10 }],
  ['capacity', { max_parallel_tasks: 3 }, { max_parallel_tasks: 3 }],
  ['capabilities', { full_capabilities: true }, { full_capabilities: true, restart_needed: true }],
  ['capabilities', { full_capabilities: false }, { restart_needed: false }],
  ['operator-resume', { enabled: true }, { enabled: true }],
  ['operator-resume', { enabled: false }, { enabled: false }],
  ['mcp-exposed', { enabled: true }, { enabled: true }],
  ['mcp-exposed', { enabled: false }, { enabled: false }],
  ['runtime', { runtime: 'gemini-cli' }, { runtime: 'gemini-cli', restart_needed: true }],
  ['runtime', { runtime: 'claude-code' }, { restart_needed: false }],
  ['resources', { memory: '32g' }, { cpu: '2', memory: '32g', current_memory: '4g', restart_needed: true }],
  ['resources', { cpu: '2', memory: '4g' }, { restart_needed: false }],
  ['tags', { tags: [' Prod', 'a-1', 'prod'] }, { tags: ['a-1', 'prod'] }],
  ['tags', { tags: [] }, { tags: [] }],
]
test('accepted values are returned and read back', async () => {
  for (const [setting, body, expected] of accepted) {
    const reply = await put(setting, body)
    assert.equal(reply.status, 200, `${setting} ${JSON.stringify(body)}: ${reply.text}`)
    const read = (await get(setting)).json
    for (const [field, value] of Object.entries(expected)) {
      assert.deepEqual(reply.json[field], value, `${setting}.${field}`)
      assert.deepEqual(read[field], value, `${setting}.${field}, read`)
    }
  }
})

const refused: [string, object][] = [
  ['label', {}],
  ['label', { label: 'x'.repeat(121) }],
  ['label', { label: 'a\u0007b' }],
  ['label', { label: 'a', other: 1 }],
  ['autonomy', {}],
  ['autonomy', { enabled: 'true' }],
  ['read-only', { enabled: 1 }],
  ['read-only', { enabled: true, config: { blocked_patterns: '*' } }],
  ['timeout', { execution_timeout_seconds: 59 }],
  ['timeout', { execution_timeout_seconds: 7201 }],
  ['timeout', { execution_timeout_seconds: '600' }],
  ['timeout', { execution_timeout_seconds: 60.5 }],
  ['capacity', { max_parallel_tasks: 0 }],
  ['capacity', { max_parallel_tasks: 11 }],
  ['resources', { cpu: '3' }],
  ['resources', { cpu: 2 }],
  ['resources', { memory: '0g' }],
  ['resources', { memory: '33g' }],
  ['resources', { memory: '2048m' }],
  ['capabilities', { full_capabilities: 'yes' }],
  ['operator-resume', { enabled: null }],
  ['runtime', { runtime: 'codex' }],
  ['runtime', { runtime: 'other' }],
  ['instructions', { custom_instructions: 'x'.repeat(32 * 1024 + 1) }],
  ['tags', { tags: ['two words'] }],
  ['tags', { tags: ['x'.repeat(51)] }],
  ['tags', { tags: 'prod' }],
]
test('values out of bounds or of another type are 422, and the error names the field', async () => {
  for (const [setting, body] of refused) {
    const what = `${setting} ${JSON.stringify(body).slice(0, 80)}`
    const reply = await put(setting, body)
    assert.deepEqual([reply.status, reply.json.error], [422, 'validation_error'], `${what}: ${reply.text}`)
    assertShape(reply.json.detail[0], { loc: 'array', msg: 'string', type: 'string' }, what)
    assert.equal(reply.json.detail[0].loc[0], 'body')
  }
  assert.deepEqual((await get('resources')).json, { agent_name: name, ...defaults.resources })
})

describe('effects of the settings', () => {
  test('instructions and model apply to the next run without a restart', async () => {
    await put('instructions', { custom_instructions: 'Mention the lighthouse.' })
    assert.match(await answerOf(platform, name, '[[system]]'), /Mention the lighthouse\./)
    await put('instructions', { custom_instructions: null })
    assert.doesNotMatch(await answerOf(platform, name, '[[system]]'), /lighthouse/)
    const initial = await answerOf(platform, name, '[[model]]')
    const set = await put('model', { model: 'claude-haiku-4-5' })
    assert.deepEqual(
      [set.json.model, set.json.resolved_model, set.json.source],
      ['claude-haiku-4-5', 'claude-haiku-4-5', 'agent'],
    )
    assert.equal(await answerOf(platform, name, '[[model]]'), 'claude-haiku-4-5')
    assert.equal((await put('model', { model: null })).json.model, null)
    assert.equal(await answerOf(platform, name, '[[model]]'), initial)
    const bad = await put('model', { model: 'my-model' })
    assert.deepEqual([bad.status, bad.json.error, bad.json.value], [422, 'invalid_model', 'my-model'])
  })

  test('the platform prompt precedes the instructions of the agent', async () => {
    await platform.request('PUT', '/api/settings/platform_prompt', { value: 'House rule one.' })
    await put('instructions', { custom_instructions: 'Agent rule two.' })
    const system = await answerOf(platform, name, '[[system]]')
    assert.ok(system.includes('House rule one.'))
    assert.ok(system.indexOf('House rule one.') < system.indexOf('Agent rule two.'), 'in this order')
    await platform.request('DELETE', '/api/settings/platform_prompt')
    await put('instructions', { custom_instructions: null })
  })

  test('new resources and runtime recreate the container at the next start, and files stay', async () => {
    await platform.request('PUT', `/api/agents/${name}/files?path=keep.txt`, { content: 'kept' })
    await put('resources', { cpu: '1', memory: '1g' })
    await put('runtime', { runtime: 'gemini-cli' })
    const details = (await platform.request('GET', `/api/agents/${name}`)).json
    assert.equal(details.needs_recreate, true)
    assert.deepEqual(details.recreate_reasons.toSorted(), ['resources', 'runtime'])
    await platform.request('POST', `/api/agents/${name}/stop`)
    const start = await platform.request('POST', `/api/agents/${name}/start`)
    assert.equal(start.json.recreated, true)
    assert.ok(['resources', 'runtime'].includes(start.json.recreate_reason))
    const format = '{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}}'
    assert.equal(await docker('inspect', '-f', format, `agent-${name}`), `${1024 ** 3} 1000000000`)
    assert.match(await answerOf(platform, name, '[[model]]'), /^gemini-/)
    const file = await platform.request('GET', `/api/agents/${name}/files/download?path=keep.txt`)
    assert.equal(file.text, 'kept')
    const after = (await platform.request('GET', `/api/agents/${name}`)).json
    assert.deepEqual([after.needs_recreate, after.recreate_reasons], [false, []])
    await put('runtime', { runtime: 'claude-code' })
  })

  test('only full capabilities give sudo', async () => {
    const sudo = () => docker('exec', '-u', 'developer', `agent-${name}`, 'sudo', '-n', 'id', '-u')
    assert.notEqual(await sudo(), '0')
    await put('capabilities', { full_capabilities: true })
    await platform.request('POST', `/api/agents/${name}/stop`)
    await platform.request('POST', `/api/agents/${name}/start`)
    assert.equal(await sudo(), '0')
    await put('capabilities', { full_capabilities: false })
    await platform.request('POST', `/api/agents/${name}/stop`)
    await platform.request('POST', `/api/agents/${name}/start`)
    assert.notEqual(await sudo(), '0')
  })

  test('a stored limit above the ceiling is kept, and clamped when applied', async () => {
    await put('capacity', { max_parallel_tasks: 8 })
    const ceiling = await platform.request('PUT', '/api/settings/max-parallel-tasks-ceiling', { value: 2 })
    assert.deepEqual(ceiling.json, { value: 2, default: 10, min: 1, max: 32 })
    const { max_parallel_tasks, effective_max_parallel_tasks, available_slots } = (await get('capacity')).json
    assert.deepEqual([max_parallel_tasks, effective_max_parallel_tasks, available_slots], [8, 2, 2])
    await platform.request('PUT', '/api/settings/max-parallel-tasks-ceiling', { value: 10 })
    assert.equal((await get('capacity')).json.effective_max_parallel_tasks, 8)
  })

  test('capacity shows a run in a slot', async () => {
    const turn = await beginTurn(platform, name, 'hold a slot [[sleep:60]]')
    await untilExecution(platform, name, turn.id, isSpawned)
    const { active_slots, available_slots, slots } = (await get('capacity')).json
    assert.deepEqual([active_slots, available_slots], [1, 7], await stateOf(platform, name))
    assert.equal(slots[0].execution_id, turn.id)
    assert.match(slots[0].message_preview, /^hold a slot/)
    await platform.request('POST', `/api/agents/${name}/executions/${turn.id}/terminate`)
    await turn.ended
  })
})

describe('settings of the platform', () => {
  const setting = (method: string, path: string, body?: object) =>
    platform.request(method, `/api/settings${path}`, body)

  test('the ceiling must be between 1 and 32', async () => {
    for (const value of [0, 33, '5', 1.5])
      assert.equal((await setting('PUT', '/max-parallel-tasks-ceiling', { value })).status, 422)
    assert.equal((await setting('GET', '/max-parallel-tasks-ceiling')).json.value, 10)
  })

  test('default resources apply to new agents only', async () => {
    const before = await setting('GET', '/agent-defaults/resources')
    assert.deepEqual(before.json, {
      cpu: '2',
      memory: '4g',
      allowed_cpu: ['1', '2', '4', '8', '16'],
      min_memory: '1g',
      max_memory: '32g',
    })
    assert.equal((await setting('PUT', '/agent-defaults/resources', { cpu: '3', memory: '4g' })).status, 422)
    assert.equal((await setting('PUT', '/agent-defaults/resources', { cpu: '1', memory: '2g' })).status, 200)
    const resources = (await get('resources')).json
    const fresh = await createAgent(platform, 'qa-fresh')
    assert.deepEqual(fresh.resources, { cpu: '1', memory: '2g' })
    assert.deepEqual((await get('resources')).json, resources)
  })

  test('secrets and keys with their own route are refused, and the error names the route', async () => {
    for (const [key, error] of [
      ['my_api_key', 'secret_setting_key'],
      ['github_pat', 'secret_setting_key'],
      ['smtp_password', 'secret_setting_key'],
      ['x_credentials', 'secret_setting_key'],
      ['audit_retention_days', 'dedicated_setting_key'],
      ['max_parallel_tasks_ceiling', 'dedicated_setting_key'],
    ] as const) {
      const reply = await setting('PUT', `/${key}`, { value: '1' })
      assert.deepEqual([reply.status, reply.json.error], [422, error], key)
      assert.match(reply.json.route, /^\/api\/settings\//, key)
    }
  })

  test('a custom setting is stored, listed and removed', async () => {
    const put = await setting('PUT', '/a_note', { value: 'text' })
    assertShape(put.json, { key: 'string', value: 'string', updated_at: 'string' }, 'setting')
    assert.ok((await setting('GET', '')).json.some((row: Loose) => row.key === 'a_note'))
    assert.equal((await setting('DELETE', '/a_note')).json.key, 'a_note')
    assert.equal((await setting('GET', '/a_note')).status, 404)
    assert.equal((await setting('PUT', '/a_note', { value: 'x'.repeat(16 * 1024 + 1) })).status, 422)
  })
})

test('a reached cap ends runs with cap_reached, with the CLI in its container, until the cap is raised', async () => {
  const task = () =>
    platform.request('POST', `/api/agents/${name}/task`, { message: '[[usage:1000,1000]] [[reply:done]]' })
  assert.equal((await task()).json.response, 'done')
  const spent = (await get('spend-cap')).json
  assert.deepEqual([spent.daily_usd, spent.per_run_usd], [null, null])
  assert.ok(spent.spent_today_usd > 0)
  assert.equal((await put('spend-cap', { daily_usd: spent.spent_today_usd })).status, 200)
  const refused = await task()
  assert.deepEqual([refused.status, refused.json.error_code], [503, 'cap_reached'], refused.text)
  assert.match(refused.json.detail, /daily spend cap.*booked by Roost/)
  assert.equal((await put('spend-cap', { daily_usd: null })).status, 200)
  assert.equal((await task()).json.response, 'done')
})
