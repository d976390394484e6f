import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { createShared } from '../../agents/test/world.ts'
import { createIdempotency } from '../../foundation/idempotency/index.ts'
import { createRateLimits } from '../../foundation/rate-limits/index.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import { silentLog } from '../../ports/log.ts'
import { executionStore } from '../../runs/executions/index.ts'
import { forEachDialect, type OpenTestDb, openTestDatabase } from '../../test/dialects.ts'
import { runRow } from '../../test/run-rows.ts'
import { openHelper } from '../test/schedules-world.ts'
import { type CallDeps, createCallWebhook, createManageWebhooks, webhookRoutes } from './index.ts'

type Asked = { context: string | null; metadata: Record<string, unknown> | null; executionId: string }

/** Webhooks whose calls only record a run. */
async function start(
  db: Awaited<ReturnType<OpenTestDb>>,
  options: { rates?: CallDeps['rates']; ephemeral?: Partial<Ephemeral> } = {},
) {
  const shared = createShared()
  const { clock, vault } = shared
  const fires: Asked[] = []
  const refuse: { with: Fault | null } = { with: null }
  const ephemeral = { ...shared.ephemeral, ...options.ephemeral }
  const it = await openHelper(db, {
    shared,
    more(_schedules, area) {
      const call = createCallWebhook({
        db,
        clock,
        vault,
        limits: createRateLimits({ ephemeral, clock }),
        idempotency: createIdempotency({
          db,
          clock,
          log: silentLog,
          workState: async () => ({ state: 'open' }),
        }),
        agentRecords: area.agentRecords,
        rates: options.rates ?? { perToken: 1000, perAddress: 1000 },
        async fire(schedule, { context, metadata, keep }) {
          if (refuse.with) throw refuse.with
          const executionId = newId()
          await db.atomically(async (tx) => {
            await keep(tx, executionId)
            await executionStore(tx).insert(runRow({ id: executionId, schedule_id: schedule.id }))
          })
          fires.push({ context, metadata, executionId })
        },
      })
      const manage = createManageWebhooks({ db, clock, vault, baseUrl: 'https://roost.example.com' })
      return webhookRoutes({ manage, call })
    },
  })
  const schedule = await it.create()
  const url = `/api/agents/helper/schedules/${schedule.id}/webhook`
  const manage = (method: string, path = '', body?: unknown, key = it.owner.key) =>
    it.request(key, method, `${url}${path}`, body)
  const post = (address: string, body?: string, headers: Record<string, string> = {}) =>
    it.request('', 'POST', new URL(address).pathname, body, headers)
  const make = async () => (await manage('POST')).json.webhook_url as string
  return { ...it, url, schedule, fires, refuse, manage, post, make }
}

const sign = (secret: string, body: string) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

forEachDialect((_dialect, open) => {
  test('a token is shown as an address, rotated and revoked; 404 for old addresses', async () => {
    await using it = await start(await open())
    const none = (await it.manage('GET')).json
    assert.deepEqual(none, {
      schedule_id: it.schedule.id,
      has_token: false,
      webhook_enabled: false,
      webhook_url: null,
      auth_enabled: false,
      has_secret: false,
      signature_header: 'X-Svc-Signature',
      requires_timestamp: false,
      timestamp_header: 'X-Svc-Timestamp',
      created_at: null,
      last_called_at: null,
    })
    const first = await it.make()
    assert.match(first, /^https:\/\/roost\.example\.com\/api\/webhooks\/[A-Za-z0-9_-]{43}$/)
    const shown = (await it.manage('GET')).json
    assert.deepEqual([shown.has_token, shown.webhook_url], [true, first])
    assert.equal(shown.created_at, '2030-01-01T00:00:00.000Z')
    const listed = await it.request(it.owner.key, 'GET', '/api/agents/helper/schedules')
    assert.equal(listed.json[0].webhook_enabled, true)

    const second = await it.make()
    assert.notEqual(second, first)
    assert.equal((await it.post(first)).status, 404)
    assert.equal((await it.post(second)).status, 202)
    assert.equal((await it.manage('DELETE')).status, 204)
    assert.equal((await it.post(second)).status, 404)
    assert.equal((await it.manage('GET')).json.webhook_url, null)
  })

  test('the database holds neither token nor secret', async () => {
    const db = await open()
    await using it = await start(db)
    const address = await it.make()
    const secret: string = (await it.manage('POST', '/secret')).json.signing_secret
    const row = await db
      .withTables<{ schedules: Record<string, unknown> }>()
      .selectFrom('schedules')
      .selectAll()
      .executeTakeFirstOrThrow()
    const text = JSON.stringify(row)
    for (const hidden of [address.slice(-43), secret, secret.slice(6)]) assert.ok(!text.includes(hidden))
  })

  test('a secret is shown once, and a rotation deletes it', async () => {
    await using it = await start(await open())
    assert.equal((await it.manage('POST', '/secret')).json.error, 'secret_without_token')
    await it.make()
    const made = (await it.manage('POST', '/secret')).json
    assert.match(made.signing_secret, /^whsec_[A-Za-z0-9_-]{43}$/)
    assert.equal(made.auth_enabled, true)
    const shown = (await it.manage('GET')).json
    assert.deepEqual([shown.has_secret, 'signing_secret' in shown], [true, false])
    const again = (await it.manage('POST', '/secret')).json
    assert.notEqual(again.signing_secret, made.signing_secret)
    await it.make()
    assert.equal((await it.manage('GET')).json.has_secret, false)
    await it.manage('POST', '/secret')
    const off = await it.manage('DELETE', '/secret')
    assert.deepEqual([off.status, off.json.has_secret, off.json.has_token], [200, false, true])
  })

  test('only the owner manages a webhook; others get 403 or 404', async () => {
    await using it = await start(await open())
    const table: [key: string, method: string, path: string, status: number, error?: string][] = [
      [it.stranger.key, 'POST', '', 404, 'agent_not_found'],
      [it.stranger.key, 'GET', '', 404, 'agent_not_found'],
      [it.stranger.key, 'DELETE', '/secret', 404, 'agent_not_found'],
      [it.shared.key, 'POST', '', 403, 'owner_required'],
      [it.shared.key, 'GET', '', 403, 'owner_required'],
      [it.agentKey, 'POST', '', 403, 'scope_not_allowed'],
      [it.agentKey, 'GET', '', 200],
      [it.admin.key, 'POST', '', 200],
    ]
    for (const [key, method, path, status, error] of table) {
      const reply = await it.manage(method, path, undefined, key)
      assert.deepEqual([reply.status, reply.json?.error], [status, error], `${method} ${path}`)
    }
    await it.request(it.owner.key, 'DELETE', `/api/agents/helper/schedules/${it.schedule.id}`)
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['DELETE', ''],
      ['POST', '/secret'],
      ['DELETE', '/secret'],
    ] as const) {
      assert.equal((await it.manage(method, path)).json.error, 'schedule_not_found', `${method} ${path}`)
    }
  })

  test('202 with the run, context and metadata, also without a body', async () => {
    await using it = await start(await open())
    const address = await it.make()
    const reply = await it.post(address, '{"context":"disk is full","metadata":{"host":"a"}}')
    assert.equal(reply.status, 202)
    assert.deepEqual(reply.json, {
      status: 'triggered',
      schedule_id: it.schedule.id,
      agent_name: 'helper',
      execution_id: it.fires[0]?.executionId,
      message: 'Schedule "nightly" was triggered.',
    })
    assert.deepEqual([it.fires[0]?.context, it.fires[0]?.metadata], ['disk is full', { host: 'a' }])
    for (const _ of [1, 2]) assert.equal((await it.post(address)).status, 202)
    assert.equal(it.fires.length, 3)
    assert.equal((await it.manage('GET')).json.last_called_at, '2030-01-01T00:00:00.000Z')
  })

  test('the same key, or the same body without one, fires once; another key fires again', async () => {
    await using it = await start(await open())
    const address = await it.make()
    const body = '{"context":"once"}'
    const first = await it.post(address, body)
    const again = await it.post(address, body)
    assert.deepEqual(
      [again.status, again.json, again.headers['x-idempotent-replay']],
      [202, first.json, 'true'],
    )
    await it.post(address, body, { 'idempotency-key': 'k1' })
    await it.post(address, '{"context":"other"}', { 'idempotency-key': 'k1' })
    assert.equal(it.fires.length, 2)
    const other = await it.create()
    const otherUrl = `/api/agents/helper/schedules/${other.id}/webhook`
    const otherAddress = (await it.request(it.owner.key, 'POST', otherUrl)).json.webhook_url
    await it.post(otherAddress, body, { 'idempotency-key': 'k1' })
    assert.equal(it.fires.length, 3)
  })

  test('twenty equal concurrent calls fire once and get the same run', async () => {
    await using it = await start(await open())
    const address = await it.make()
    const replies = await Promise.all(Array.from({ length: 20 }, () => it.post(address, '{"context":"x"}')))
    assert.equal(it.fires.length, 1)
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([202]))
    assert.equal(new Set(replies.map(({ json }) => json.execution_id)).size, 1)
  })

  test('a refused fire stores no idempotency key', async () => {
    await using it = await start(await open())
    const address = await it.make()
    for (const code of ['agent_not_running', 'queue_full', 'circuit_open'] as const) {
      it.refuse.with = new Fault(code)
      assert.equal((await it.post(address, '{"context":"x"}')).json.error, code)
    }
    it.refuse.with = null
    assert.equal((await it.post(address, '{"context":"x"}')).status, 202)
    assert.equal(it.fires.length, 1)
  })

  test('deleting the schedule or agent deletes the webhook, and recovery does not restore it', async () => {
    await using it = await start(await open())
    const address = await it.make()
    await it.request(it.owner.key, 'DELETE', `/api/agents/helper/schedules/${it.schedule.id}`)
    assert.equal((await it.post(address)).json.error, 'webhook_not_found')
    await it.schedules.admin.recover(it.schedule.id)
    assert.equal((await it.post(address)).status, 404)
    const fresh = await it.make()
    await it.request(it.owner.key, 'DELETE', '/api/agents/helper')
    assert.equal((await it.post(fresh)).json.error, 'webhook_not_found')
  })
})

test('signed calls: 202 for the raw body with any spelling of the header; 401 otherwise', async () => {
  await using it = await start(await openTestDatabase())
  const address = await it.make()
  const secret: string = (await it.manage('POST', '/secret')).json.signing_secret
  const body = '{ "context" : "é" }'
  const table: [title: string, body: string | undefined, signature: string | undefined, status: number][] = [
    ['none', body, undefined, 401],
    ['good', body, sign(secret, body), 202],
    ['good, in capitals', body, sign(secret, body).toUpperCase().replace('SHA256', 'sha256'), 202],
    ['of the empty body', undefined, sign(secret, ''), 202],
    ['of other bytes', body, sign(secret, '{"context":"é"}'), 401],
    ['with another secret', body, sign('whsec_other', body), 401],
    ['without its prefix', body, sign(secret, body).slice(7), 401],
    ['too short', body, 'sha256=abcd', 401],
    ['too long', body, `${sign(secret, body)}00`, 401],
    ['not hex', body, `sha256=${'z'.repeat(64)}`, 401],
  ]
  for (const [title, text, signature, status] of table) {
    const reply = await it.post(address, text, signature ? { 'x-svc-signature': signature } : {})
    assert.equal(reply.status, status, title)
    if (status === 401) assert.equal(reply.json.error, 'invalid_signature', title)
  }
  await it.manage('DELETE', '/secret')
  assert.equal((await it.post(address, '{"context":"unsigned"}')).status, 202)
})

test('with require_timestamp, the signature covers time and body, and the time must be near', async () => {
  await using it = await start(await openTestDatabase())
  const address = await it.make()
  const { json } = await it.manage('POST', '/secret', { require_timestamp: true })
  assert.equal(json.requires_timestamp, true)
  const now = Math.floor(it.clock.now().getTime() / 1000)
  const call = (time: string, body: string, signed = `${time}.${body}`) =>
    it.post(address, body, {
      'x-svc-timestamp': time,
      'x-svc-signature': sign(json.signing_secret, signed),
    })
  const body = '{"context":"x"}'
  assert.equal((await call(String(now), body)).status, 202)
  assert.equal((await call(String(now - 300), body)).status, 202)
  for (const time of [String(now - 301), String(now + 301), 'soon', '']) {
    assert.equal((await call(time, body)).status, 401, time)
  }
  assert.equal((await call(String(now), body, body)).status, 401)
  assert.equal(
    (await it.post(address, body, { 'x-svc-signature': sign(json.signing_secret, body) })).status,
    401,
  )
})

test('refusals come in order: address, token, its rate, size, signature, shape', async () => {
  await using it = await start(await openTestDatabase(), { rates: { perToken: 8, perAddress: 12 } })
  const address = await it.make()
  const unknown = `https://x/api/webhooks/${'a'.repeat(43)}`
  const errors: string[] = []
  const say = async (of: string, body?: string) => {
    const { status, json } = await it.post(of, body)
    errors.push(`${status} ${json.error ?? json.status}`)
  }
  const big = JSON.stringify({ context: 'x', metadata: { pad: 'y'.repeat(17_000) } })
  await say(address, big)
  await say(address, '{nonsense')
  await say(address, '[1]')
  await say(address, JSON.stringify({ context: 'x'.repeat(4001) }))
  await say(address, '{"context":5}')
  await say(address, JSON.stringify({ metadata: { pad: 'y'.repeat(8200) } }))
  await say(address, '{"metadata":[]}')
  await say(address, JSON.stringify({ context: 'x'.repeat(4000) }))
  await say(address, big)
  await say(unknown, 'y'.repeat(1_000_000))
  await say('https://x/api/webhooks/short')
  await say(unknown)
  await say(address)
  await say(unknown)
  assert.deepEqual(errors, [
    '413 body_too_large',
    '422 invalid_json',
    '422 invalid_json',
    '422 validation_error',
    '422 validation_error',
    '422 validation_error',
    '422 validation_error',
    '202 triggered',
    '429 rate_limited',
    '404 webhook_not_found',
    '404 webhook_not_found',
    '404 webhook_not_found',
    '429 rate_limited',
    '429 rate_limited',
  ])
})

test('429 for the eleventh call of a token within a minute', async () => {
  await using it = await start(await openTestDatabase(), { rates: { perToken: 10, perAddress: 60 } })
  const address = await it.make()
  const replies = await Promise.all(Array.from({ length: 20 }, () => it.post(address)))
  assert.equal(replies.filter(({ status }) => status === 202).length, 10)
  const refused = replies.find(({ status }) => status === 429)
  assert.deepEqual([refused?.json.error, refused?.headers['retry-after']], ['rate_limited', '60'])
  await it.clock.advance(59)
  assert.equal((await it.post(address)).status, 429)
  await it.clock.advance(1)
  assert.equal((await it.post(address)).status, 202)
})

test('the addresses of an IPv6 network share the limit of one address', async () => {
  await using it = await start(await openTestDatabase(), { rates: { perToken: 10, perAddress: 2 } })
  const address = await it.make()
  const call = (client: string) => it.post(address, undefined, { 'x-forwarded-for': client })
  for (const client of ['2001:db8::1', '2001:db8::2']) assert.equal((await call(client)).status, 202)
  assert.equal((await call('2001:db8::3')).json.error, 'rate_limited')
  assert.equal((await call('2001:db8:0:1::1')).status, 202)
})

test('calls are accepted while the ephemeral store is down', async () => {
  const count = async () => {
    throw new EphemeralDown()
  }
  await using it = await start(await openTestDatabase(), {
    rates: { perToken: 1, perAddress: 1 },
    ephemeral: { count },
  })
  const address = await it.make()
  for (const _ of [1, 2, 3]) assert.equal((await it.post(address)).status, 202)
})
