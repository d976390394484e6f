import assert from 'node:assert/strict'
import { test } from 'node:test'
import { featureFlags } from '@roost/contracts/foundation/settings'
import { createServer } from '../../http/serve.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { createThrowawayVault } from '../vault/index.ts'
import { openSettings, settingsRoutes } from './index.ts'

async function open() {
  const clock = createTestClock()
  const db = await openTestDatabase()
  const settings = await openSettings({
    db,
    clock,
    log: silentLog,
    ephemeral: memoryEphemeral({ clock, log: silentLog }),
    vault: createThrowawayVault(),
    installed: {
      mail: false,
      voip: false,
      paidChat: false,
      dispatchBreaker: false,
      providerKeys: { anthropic: null, google: null, openai: null, github: null, voice: null },
    },
  })
  const notes: Record<string, unknown>[] = []
  const server = createServer({
    routes: settingsRoutes(settings),
    guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
    onHandled: ({ roost }) => notes.push(roost.notes),
  })
  const ask = async (method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, body?: unknown) => {
    const reply = await server.inject({
      method,
      url: `/api/settings${path}`,
      ...(body === undefined
        ? {}
        : { payload: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: reply.statusCode, body: reply.json() }
  }
  return { ask, notes, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
}

test('200 stores, reads, lists and removes a plain setting', async () => {
  await using app = await open()
  const stored = { key: 'platform_prompt', value: 'Be kind.', updated_at: '2026-01-05T08:00:00.000Z' }
  assert.deepEqual(await app.ask('PUT', '/platform_prompt', { value: 'Be kind.' }), {
    status: 200,
    body: stored,
  })
  assert.deepEqual(await app.ask('GET', '/platform_prompt'), { status: 200, body: stored })
  const { body: list } = await app.ask('GET', '')
  assert.deepEqual(
    list.find(({ key }: { key: string }) => key === 'platform_prompt'),
    stored,
  )
  const removed = await app.ask('DELETE', '/platform_prompt')
  assert.deepEqual([removed.status, removed.body.key], [200, 'platform_prompt'])
  assert.equal((await app.ask('GET', '/platform_prompt')).body.value, '')
})

test('404 for an unknown key that is not stored', async () => {
  await using app = await open()
  for (const method of ['GET', 'DELETE'] as const) {
    const { status, body } = await app.ask(method, '/theme')
    assert.deepEqual([status, body.error], [404, 'setting_not_found'])
  }
})

test('422 with the right route for a secret or dedicated key', async () => {
  await using app = await open()
  const secret = await app.ask('PUT', '/anthropic_api_key', { value: 'sk-ant-hunter2' })
  assert.deepEqual([secret.status, secret.body.error], [422, 'secret_setting_key'])
  assert.equal(secret.body.route, '/api/settings/api-keys/{provider}')
  assert.doesNotMatch(JSON.stringify(secret.body), /hunter2/)
  for (const method of ['PUT', 'DELETE'] as const) {
    const sent = method === 'PUT' ? { value: '400' } : undefined
    const { status, body } = await app.ask(method, '/audit_retention_days', sent)
    assert.deepEqual([status, body.error], [422, 'dedicated_setting_key'])
    assert.equal(body.route, '/api/settings/ops/config')
  }
})

test('422 for a value that is too long, of the wrong type, or not a model', async () => {
  await using app = await open()
  const long = await app.ask('PUT', '/theme', { value: 'é'.repeat(8193) })
  assert.deepEqual([long.status, long.body.error], [422, 'validation_error'])
  const number = await app.ask('PUT', '/theme', { value: 5 })
  assert.deepEqual([number.status, number.body.detail[0].loc], [422, ['body', 'value']])
  const flag = await app.ask('PUT', '/email_auth_enabled', { value: 'maybe' })
  assert.deepEqual([flag.status, flag.body.detail[0].loc], [422, ['body', 'value']])
  const model = await app.ask('PUT', '/platform_default_model', { value: 'llama' })
  assert.deepEqual([model.status, model.body.error, model.body.value], [422, 'invalid_model', 'llama'])
  const key = await app.ask('PUT', '/%20x', { value: 'a' })
  assert.deepEqual([key.status, key.body.error], [422, 'validation_error'])
})

test('static routes are not keys', async () => {
  await using app = await open()
  const flags = await app.ask('GET', '/feature-flags')
  assert.deepEqual(Object.keys(flags.body), [...featureFlags])
  const ceiling = await app.ask('PUT', '/max-parallel-tasks-ceiling', { value: 7 })
  assert.deepEqual(ceiling.body, { value: 7, default: 10, min: 1, max: 32 })
  assert.deepEqual((await app.ask('GET', '/max-parallel-tasks-ceiling')).body, ceiling.body)
  assert.equal((await app.ask('PUT', '/max-parallel-tasks-ceiling', { value: 33 })).status, 422)
  const resources = await app.ask('PUT', '/agent-defaults/resources', { cpu: '4', memory: '8g' })
  assert.deepEqual(resources.body, {
    cpu: '4',
    memory: '8g',
    allowed_cpu: ['1', '2', '4', '8', '16'],
    min_memory: '1g',
    max_memory: '32g',
  })
  assert.equal((await app.ask('PUT', '/agent-defaults/resources', { cpu: '3' })).status, 422)
})

test('ops values are listed, changed all or none, and reset except retention', async () => {
  await using app = await open()
  const put = await app.ask('PUT', '/ops/config', {
    settings: { ops_idle_timeout_minutes: 45, colour: 'red' },
  })
  assert.deepEqual(put.body, { success: true, updated: ['ops_idle_timeout_minutes'], ignored: ['colour'] })
  const { body } = await app.ask('GET', '/ops/config')
  assert.deepEqual(body.settings.ops_idle_timeout_minutes, {
    value: 45,
    default: 30,
    description: 'Minutes without output after which a run is listed as stuck.',
    min: 1,
    max: 1440,
    is_default: false,
  })
  const bad = await app.ask('PUT', '/ops/config', { settings: { ops_idle_timeout_minutes: 0 } })
  assert.deepEqual([bad.status, bad.body.error], [422, 'invalid_ops_value'])
  assert.deepEqual(bad.body.errors, [
    { key: 'ops_idle_timeout_minutes', message: 'must be an integer from 1 to 1440' },
  ])
  const reset = await app.ask('POST', '/ops/reset')
  assert.equal(reset.status, 200)
  assert.ok(reset.body.skipped.includes('audit_retention_days'))
})

test('provider keys are stored and listed, never shown or logged', async () => {
  await using app = await open()
  const key = 'sk-ant-hunter2-abcd'
  const put = await app.ask('PUT', '/api-keys/anthropic', { api_key: key })
  assert.deepEqual([put.status, put.body.source, put.body.hint], [200, 'stored', 'abcd'])
  const list = await app.ask('GET', '/api-keys')
  assert.equal(list.body.providers.length, 5)
  assert.doesNotMatch(JSON.stringify([put.body, list.body, app.notes]), /hunter2/)
  assert.deepEqual((await app.ask('DELETE', '/api-keys/anthropic')).body.source, 'none')
  assert.equal((await app.ask('PUT', '/api-keys/acme', { api_key: key })).status, 422)
  const bad = await app.ask('PUT', '/api-keys/openai', { api_key: 'two words' })
  assert.equal(bad.status, 422)
  assert.ok(app.notes.some(({ provider }) => provider === 'anthropic'))
})
