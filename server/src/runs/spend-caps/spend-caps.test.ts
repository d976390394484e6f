import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { startAgentsPlatform } from '../../test/agents-platform.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { accept, linked, person, resultOf } from '../../test/run-platform.ts'
import { executionStore } from '../executions/index.ts'
import { fanOutStore } from '../fan-out/index.ts'
import { spendCapRoutes } from './routes.ts'
import { dayOf, microsOf, reachedCap } from './rules.ts'

const usage = {
  ...{ requests: 1, input_tokens: 0, output_tokens: 0, cache_creation_tokens: 0, cache_read_tokens: 0 },
  ...{ context_used: 0, context_max: 0, model: null, is_cost_estimated: false },
}

forEachDialect((_, open) => {
  async function start() {
    const clock = createTestClock()
    const platform = await startAgentsPlatform({ db: await open(), clock })
    const server = createServer((request, response) => void platform.broker.handle(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    after(() => {
      server.closeAllConnections()
      server.close()
      platform.broker.close()
    })
    const app = routesApp(spendCapRoutes(platform.spendCaps), {
      ann: { caller: person(), relation: 'owner' },
      bob: { caller: person({ id: 'u2', username: 'bob', email: null }), relation: 'shared' },
    })
    const url = '/api/agents/scout/spend-cap'
    const get = async () => (await app.inject({ method: 'GET', url, headers: as('ann') })).json()
    const put = async (payload: object, who = 'ann') => {
      const reply = await app.inject({ method: 'PUT', url, payload, headers: as(who) })
      return { status: reply.statusCode, json: reply.json() }
    }
    /** A running run that has spent this amount. */
    async function run(usd: number) {
      const { id } = await accept(platform)
      const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
      const claimed = runs[0] ?? assert.fail('no run was claimed')
      await spend(id, usd)
      return claimed
    }
    const spend = (id: string, usd: number, over = {}) =>
      executionStore(platform.db).addUsage(id, { ...usage, cost_micros: usd * 1_000_000, ...over })
    /** The broker's reply to the run's next request; without a reached cap it finds no provider. */
    async function sendRequest(claimed: { broker: { token: string } }) {
      const { port } = server.address() as AddressInfo
      const reply = await fetch(`http://127.0.0.1:${port}/broker/anthropic/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': claimed.broker.token, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'claude-x', messages: [] }),
      })
      return {
        status: reply.status,
        shouldRetry: reply.headers.get('x-should-retry'),
        text: await reply.text(),
      }
    }
    return { platform, clock, get, put, run, spend, sendRequest }
  }

  test('an agent has no cap by default, and each cap is set and removed separately', async () => {
    const { get, put } = await start()
    const zero = { spent_today_usd: 0, cost_estimated: false }
    const none = { agent_name: 'scout', daily_usd: null, per_run_usd: null, ...zero }
    assert.deepEqual(await get(), none)
    assert.deepEqual((await put({ daily_usd: 5 })).json, { ...none, daily_usd: 5 })
    assert.deepEqual((await put({ per_run_usd: 0.5 })).json, { ...none, daily_usd: 5, per_run_usd: 0.5 })
    assert.deepEqual((await put({ daily_usd: null })).json, { ...none, per_run_usd: 0.5 })
    assert.deepEqual(await get(), { ...none, per_run_usd: 0.5 })
  })

  test('422 for a missing, zero, negative or non-numeric cap; 403 for a shared user', async () => {
    const { put } = await start()
    for (const body of [{}, { daily_usd: 0 }, { per_run_usd: -1 }, { daily_usd: '5' }, { daily: 5 }])
      assert.equal((await put(body)).status, 422, JSON.stringify(body))
    assert.deepEqual((await put({ daily_usd: 5 }, 'bob')).json.error, 'owner_required')
  })

  test('402 cap_reached once a run has spent its cap; the next run may start', async () => {
    const { put, run, spend, sendRequest } = await start()
    await put({ per_run_usd: 1 })
    const first = await run(0.5)
    assert.notEqual((await sendRequest(first)).status, 402)
    await spend(first.execution_id, 0.5)
    const refused = await sendRequest(first)
    assert.deepEqual([refused.status, refused.shouldRetry], [402, 'false'])
    assert.match(
      refused.text,
      /"type":"cap_reached".*cap_reached: This run has reached the agent's spend cap per run: 1 of 1 USD\. Caps act on the cost booked/,
    )
    assert.notEqual((await sendRequest(await run(0))).status, 402)
  })

  test('402 when an estimated cost reaches a cap', async () => {
    const { get, put, run, spend, sendRequest } = await start()
    await put({ per_run_usd: 1, daily_usd: 9 })
    const claimed = await run(0)
    await spend(claimed.execution_id, 1.5, { is_cost_estimated: true })
    assert.match((await sendRequest(claimed)).text, /1\.5 of 1 USD\. .*estimates included/)
    const { spent_today_usd, cost_estimated } = await get()
    assert.deepEqual([spent_today_usd, cost_estimated], [1.5, true])
  })

  test('402 for every run once the daily cap is spent, until the next day', async () => {
    const { platform, clock, get, put, run, sendRequest } = await start()
    await put({ daily_usd: 2 })
    const done = await run(1.5)
    await platform.dispatch.handlers.result(linked, resultOf(done))
    const next = await run(0)
    assert.notEqual((await sendRequest(next)).status, 402)
    const last = await run(0.5)
    assert.equal((await get()).spent_today_usd, 2)
    for (const claimed of [next, last]) {
      const refused = await sendRequest(claimed)
      assert.equal(refused.status, 402)
      assert.match(refused.text, /daily spend cap: 2 of 2 USD/)
    }
    await put({ daily_usd: 3 })
    assert.notEqual((await sendRequest(next)).status, 402)
    await put({ daily_usd: 2 })
    for (const claimed of [next, last]) await platform.dispatch.handlers.result(linked, resultOf(claimed))
    await clock.advance(86_400)
    assert.equal((await get()).spent_today_usd, 0)
    assert.notEqual((await sendRequest(await run(0))).status, 402)
  })

  test('a held task of a fan-out counts on the day on which it works, days after its creation', async () => {
    const { platform, clock, get, spend } = await start()
    const created_at = clock.now().toISOString()
    const fanOut = { id: 'f1', agent_id: 'a1', max_concurrency: 1, source_mcp_key_id: null, created_at }
    await fanOutStore(platform.db).insert({ ...fanOut, completed_at: null })
    const row = await accept(platform, { triggeredBy: 'fan_out', links: { fanOutId: 'f1' } })
    await clock.advance(3 * 86_400)
    await spend(row.id, 5)
    assert.equal((await get()).spent_today_usd, 5)
  })
})

test('a cap is reached when the spend equals it', () => {
  const caps = { daily_micros: 10, per_run_micros: 5 }
  assert.equal(reachedCap(caps, { today: 9, run: 4 }), null)
  assert.equal(reachedCap(caps, { today: 9, run: 5 }), 'run')
  assert.equal(reachedCap(caps, { today: 10, run: 4 }), 'daily')
  assert.equal(reachedCap({ daily_micros: null, per_run_micros: null }, { today: 1e9, run: 1e9 }), null)
})

test('days are UTC, and the smallest cap is one micro-dollar', () => {
  assert.equal(dayOf(new Date('2026-03-01T23:59:59.999Z')).toISOString(), '2026-03-01T00:00:00.000Z')
  assert.deepEqual([microsOf(null), microsOf(0.5), microsOf(1e-9)], [null, 500_000, 1])
})
