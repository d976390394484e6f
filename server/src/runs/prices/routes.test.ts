import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSettings } from '../../foundation/settings/index.ts'
import { createThrowawayVault } from '../../foundation/vault/index.ts'
import { createServer } from '../../http/serve.ts'
import type { Db } from '../../ports/database/port.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { createPrices, priceRoutes } from './index.ts'

const path = '/api/settings/model-prices'
const at = new Date('2026-11-23T12:00:00.000Z')

function tableOf(models: object[], over: object = {}): object {
  const anthropic = { as_of: '2026-12-01', source: 'Our contract', models, ...over }
  return { format: 1, providers: { anthropic } }
}

/** One API process on a shared database. */
async function openProcess(db: Db, ephemeral: Ephemeral) {
  const providerKeys = { anthropic: null, google: null, openai: null, github: null, voice: null }
  const installed = { mail: false, voip: false, paidChat: false, dispatchBreaker: false, providerKeys }
  const clock = createTestClock()
  const vault = createThrowawayVault()
  const settings = await openSettings({ db, clock, log: silentLog, ephemeral, vault, installed })
  const errors: object[] = []
  const prices = createPrices({ settings, log: { error: (about: object) => void errors.push(about) } })
  const notes: Record<string, unknown>[] = []
  const server = createServer({
    routes: priceRoutes(prices),
    guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
    onHandled: ({ roost }) => notes.push(roost.notes),
  })
  const ask = async (method: 'GET' | 'PUT' | 'DELETE', body?: unknown) => {
    const sent = { payload: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const reply = await server.inject({ method, url: path, ...(body === undefined ? {} : sent) })
    return { status: reply.statusCode, json: reply.json() }
  }
  const inputOf = (model: string) => {
    const { price, isEstimated } = prices.lookup().priceOf('anthropic', model, at)
    return isEstimated ? 'estimated' : price.input
  }
  const refresh = async () => {
    for (const loop of settings.loops) await loop.run(new AbortController().signal)
  }
  return { ask, inputOf, refresh, notes, errors, settings }
}

forEachDialect((_name, openDatabase) => {
  test('200 imports a table, which applies immediately and in other processes without a restart', async () => {
    await using db = await openDatabase()
    const ephemeral = memoryEphemeral({ clock: createTestClock(), log: silentLog })
    const one = await openProcess(db, ephemeral)
    const two = await openProcess(db, ephemeral)
    const before = await one.ask('GET')
    assert.deepEqual([before.status, before.json.custom, before.json.updated_at], [200, null, null])
    assert.equal(before.json.built_in.providers.anthropic.as_of, '2026-11-19')
    assert.deepEqual([one.inputOf('claude-next'), two.inputOf('claude-next')], ['estimated', 'estimated'])

    const imported = tableOf([{ id: 'claude-next', input: 7, output: 8 }])
    const put = await one.ask('PUT', imported)
    assert.equal(put.status, 200)
    assert.deepEqual(put.json.custom.providers.anthropic.models, [{ id: 'claude-next', input: 7, output: 8 }])
    assert.equal(put.json.updated_at, '2026-01-05T08:00:00.000Z')
    assert.equal(one.inputOf('claude-next'), 7)
    await two.refresh()
    assert.equal(two.inputOf('claude-next'), 7)
    assert.deepEqual((await two.ask('GET')).json, put.json)

    const removed = await two.ask('DELETE')
    assert.deepEqual([removed.status, removed.json.custom, removed.json.updated_at], [200, null, null])
    await one.refresh()
    assert.equal(one.inputOf('claude-next'), 'estimated')
  })

  test('422 names the field and the rule, and changes nothing', async () => {
    await using db = await openDatabase()
    const app = await openProcess(db, memoryEphemeral({ clock: createTestClock(), log: silentLog }))
    await app.ask('PUT', tableOf([{ id: 'claude-next', input: 7, output: 8 }]))
    const wrong: [object, RegExp][] = [
      [tableOf([{ id: 'claude-next', input: -1, output: 8 }]), /"models",0,"input"\].*must be at least 0/],
      [tableOf([{ id: 'claude-next', inptu: 1, input: 1, output: 8 }]), /inptu/],
      [tableOf([], { as_of: 'today' }), /"as_of"\].*YYYY-MM-DD/],
      [tableOf([], { families: [{ match: '*', input: 0, output: 0 }] }), /must be above 0/],
      [{ format: 2, providers: {} }, /"format"/],
    ]
    for (const [body, message] of wrong) {
      const { status, json } = await app.ask('PUT', body)
      assert.deepEqual([status, json.error], [422, 'validation_error'])
      assert.match(JSON.stringify(json.detail), message)
    }
    assert.equal(app.inputOf('claude-next'), 7)
  })

  test('the audit log has the source of the prices and the models', async () => {
    await using db = await openDatabase()
    const app = await openProcess(db, memoryEphemeral({ clock: createTestClock(), log: silentLog }))
    await app.ask('PUT', tableOf([{ id: 'claude-next', input: 7, output: 8 }]))
    assert.deepEqual(app.notes.at(-1), {
      anthropic: {
        as_of: '2026-12-01',
        source: 'Our contract',
        models: 1,
        families: 0,
        ids: ['claude-next'],
      },
    })
  })

  test('422 dedicated_setting_key: the generic settings route rejects a table', async () => {
    await using db = await openDatabase()
    const app = await openProcess(db, memoryEphemeral({ clock: createTestClock(), log: silentLog }))
    for (const key of ['model_prices', 'model-prices']) {
      await assert.rejects(app.settings.put(key, '{}'), { code: 'dedicated_setting_key' })
    }
  })

  test('an invalid stored table is ignored and logged', async () => {
    await using db = await openDatabase()
    const app = await openProcess(db, memoryEphemeral({ clock: createTestClock(), log: silentLog }))
    for (const text of ['{', '{"format":9}']) {
      await app.settings.modelPrices.put(text)
      assert.equal((await app.ask('GET')).json.custom, null)
      assert.equal(app.inputOf('claude-opus-5-5'), 4)
    }
    assert.equal(app.errors.length, 2)
  })
})
