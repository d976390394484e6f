import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Provider } from '@roost/contracts/foundation/settings'
import { createServer } from '../../http/serve.ts'
import { secret } from '../../kit/secret.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { createThrowawayVault } from '../vault/index.ts'
import { openSettings, platformSettingRoutes } from './index.ts'

forEachDialect((_name, openDatabase) => {
  async function open() {
    const clock = createTestClock()
    const db = await openDatabase()
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
        providerKeys: {
          anthropic: secret('from-env'),
          google: null,
          openai: null,
          github: null,
          voice: null,
        },
      },
    })
    const tested: [Provider, string][] = []
    const server = createServer({
      routes: platformSettingRoutes({
        settings,
        mcpUrl: () => settings.value('mcp_url') || 'https://roost.example.org/mcp',
        async testProvider(provider, key) {
          tested.push([provider, key.reveal()])
          return { ok: true, status: 'valid', message: 'The key works.' }
        },
      }),
      guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
      checkReplies: true,
      log: silentLog,
      trustedProxies: [],
    })
    const ask = async (method: 'GET' | 'PUT' | 'POST', path: string, body?: unknown) => {
      const payload = body === undefined ? {} : { payload: JSON.stringify(body) }
      const reply = await server.inject({ method, url: `/api/settings${path}`, ...payload })
      return { status: reply.statusCode, body: reply.json() }
    }
    return { ask, settings, tested, db, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
  }

  test('quotas, disk quota, repositories and the MCP address have defaults, are stored and validated', async () => {
    await using it = await open()
    const cases: [path: string, before: object, value: object, bad: object][] = [
      ['/agent-quotas', { max_agents_creator: 10 }, { max_agents_creator: 0 }, { max_agents_creator: 1001 }],
      ['/agent-defaults/disk', { quota_bytes: 20 * 1024 ** 3 }, { quota_bytes: 0 }, { quota_bytes: 1 }],
      ['/templates', { repositories: [] }, { repositories: ['a/b', 'c/d'] }, { repositories: ['nope'] }],
      ['/mcp-url', { url: 'https://roost.example.org/mcp' }, { url: 'https://m.org/x' }, { url: 'ftp://m' }],
    ]
    for (const [path, before, value, bad] of cases) {
      assert.deepEqual((await it.ask('GET', path)).body, before)
      assert.deepEqual(await it.ask('PUT', path, value), { status: 200, body: value })
      assert.equal((await it.ask('PUT', path, bad)).status, 422)
      assert.deepEqual((await it.ask('GET', path)).body, value)
    }
    // The host would get a request for something other than a repository.
    for (const name of ['a/..', 'a/.']) {
      assert.equal((await it.ask('PUT', '/templates', { repositories: [name] })).status, 422)
    }
    assert.equal((await it.ask('PUT', '/templates', { repositories: ['a/.github'] })).status, 200)
    assert.deepEqual((await it.ask('PUT', '/mcp-url', { url: '' })).body.url, 'https://roost.example.org/mcp')
  })

  test('an unusually large sweep is held until an admin acknowledges it', async () => {
    await using it = await open()
    const key = 'execution_row_retention_days'
    const { retention } = it.settings
    const much = { rows: 3_000, total: 10_000 }
    for (const little of [
      { rows: 1_000, total: 1_000 },
      { rows: 2_000, total: 10_000 },
      { rows: 0, total: 0 },
    ])
      assert.equal((await retention.admit(key, little)).isAdmitted, true)
    assert.deepEqual(await retention.admit(key, much), { isAdmitted: false, isNew: true })
    assert.deepEqual(await retention.admit(key, much), { isAdmitted: false, isNew: false })

    const { windows } = (await it.ask('GET', '/retention')).body
    const held = windows.find((window: { key: string }) => window.key === key)
    assert.deepEqual([held.days, held.default, held.held.rows, held.held.share], [90, 90, 3_000, 0.3])

    const path = '/retention/acknowledge'
    assert.equal((await it.ask('POST', path, { key, window_days: 30 })).body.error, 'window_changed')
    assert.equal((await it.ask('POST', path, { key: 'x', window_days: 30 })).status, 404)
    const released = { success: true, key, released_rows: 3_000 }
    assert.deepEqual((await it.ask('POST', path, { key, window_days: 90 })).body, released)
    assert.deepEqual((await it.ask('POST', path, { key, window_days: 90 })).body, {
      ...released,
      released_rows: 0,
    })
    assert.equal((await retention.admit(key, much)).isAdmitted, true)
    const rest = { rows: 2_500, total: 9_500 }
    assert.equal((await retention.admit(key, rest)).isAdmitted, true, 'an interrupted sweep continues')
    assert.equal((await retention.admit(key, { rows: 0, total: 0 })).isAdmitted, true)
    assert.deepEqual(await retention.admit(key, much), { isAdmitted: false, isNew: true }, 'for one sweep')
  })

  test('an acknowledgement applies to its window only', async () => {
    await using it = await open()
    const key = 'event_retention_days'
    const { retention } = it.settings
    const much = { rows: 5_000, total: 10_000 }
    await retention.admit(key, much)
    await retention.acknowledge(key, 30)
    await it.settings.putOps({ [key]: 1 })
    assert.deepEqual(await retention.admit(key, much), { isAdmitted: false, isNew: true })
  })

  test('tests the sent key, else the configured one; stores the result for a stored key', async () => {
    await using it = await open()
    const path = '/api-keys/anthropic/test'
    await it.ask('POST', path)
    await it.ask('POST', path, { api_key: 'given-key' })
    const row = async () => it.settings.providerKeys.list().find(({ provider }) => provider === 'anthropic')
    assert.equal((await row())?.last_tested_at, null)
    await it.settings.providerKeys.put('anthropic', 'stored-key')
    await it.ask('POST', path, { api_key: 'given-key' })
    assert.equal((await row())?.last_tested_at, null)
    await it.ask('POST', path)
    assert.deepEqual((await row())?.last_test_ok, true)
    assert.deepEqual(
      it.tested.map(([, key]) => key),
      ['from-env', 'given-key', 'given-key', 'stored-key'],
    )
    assert.equal((await it.ask('POST', '/api-keys/openai/test')).status, 422)
  })
})
