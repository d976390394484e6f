/** Paid chat with a real agent, x402's own facilitator with an in-memory chain, and its own client. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startFacilitator, type TestFacilitator, testNetwork } from '@roost/test-support/payments/index'
import { eventually, type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

const agent = 'qa-paid'
const payTo = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const path = `/api/paid/${agent}/chat`
let facilitator: TestFacilitator
let platform: Platform
before(async () => {
  facilitator = await startFacilitator()
  const env = { ROOST_X402_FACILITATOR_URL: facilitator.url, ROOST_TRUSTED_PROXIES: '127.0.0.1' }
  platform = await startPlatform({ env })
  await createAgent(platform, agent)
  const offer = { enabled: true, price_usd: 0.25, pay_to: payTo, network: testNetwork }
  const set = await platform.request('PUT', `/api/agents/${agent}/paid`, offer)
  assert.equal(set.status, 200, set.text)
})
after(async () => {
  try {
    await platform?.[Symbol.asyncDispose]()
  } finally {
    await facilitator?.[Symbol.asyncDispose]()
  }
})

/** Sends a stranger's request: the proof is the only credential. */
const send = (body: object, headers: Record<string, string> = {}) =>
  platform.request('POST', path, body, { token: null, headers })

test('the official client pays and talks; owner and records show it, and the log contains no proof', async () => {
  const { json: flags } = await platform.request('GET', '/api/settings/feature-flags')
  assert.equal(flags.paid_chat, true)
  const payer = facilitator.payer()
  const pay = async (body: object): Promise<Loose> => {
    const headers = { 'content-type': 'application/json' }
    const reply = await payer.fetch(platform.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    const text = await reply.text()
    assert.equal(reply.status, 200, text)
    return JSON.parse(text)
  }
  const first = await pay({ message: 'The word is owl. [[reply:noted]]' })
  assert.deepEqual([first.response, first.payment.payer], ['noted', payer.address])
  const { session_id } = first
  assert.equal((await pay({ message: '[[recall:owl]]', session_id })).response, 'recall=yes')
  assert.equal((await pay({ message: '[[recall:owl]]' })).response, 'recall=no')
  assert.deepEqual(
    facilitator.transfers.map(({ to, value }) => [to, value]),
    Array.from({ length: 3 }, () => [payTo, 250_000n]),
  )
  const { json: payments } = await platform.request('GET', `/api/agents/${agent}/payments`)
  assert.deepEqual(payments.map(({ action }: Loose) => action).toSorted(), [
    ...Array.from({ length: 3 }, () => 'settle'),
    ...Array.from({ length: 3 }, () => 'verify'),
  ])
  const run = await platform.request('GET', `/api/agents/${agent}/executions/${first.execution_id}`)
  assert.deepEqual([run.json.triggered_by, run.json.source_user_id], ['paid', null])

  const { headers } = await send({ message: 'hi' })
  const required = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString())
  const proof = await payer.pay(required)
  const { payload } = JSON.parse(Buffer.from(proof['PAYMENT-SIGNATURE'] ?? '', 'base64').toString())
  const [one, again] = [await send({ message: 'hi' }, proof), await send({ message: 'hi' }, proof)]
  assert.deepEqual([one.status, again.headers.get('x-idempotent-replay')], [200, 'true'])
  assert.deepEqual(again.json, one.json)
  assert.equal((await send({ message: 'more' }, proof)).status, 402)
  const output = platform.output()
  for (const secret of [payload.signature, payload.authorization.nonce, proof['PAYMENT-SIGNATURE'] ?? 'none'])
    assert.ok(!output.includes(secret), 'the log holds nothing of the proof')
})

test('a failed run costs nothing; the proof pays for the next run', async () => {
  const { json } = await send({ message: 'hi' })
  const proof = await facilitator.payer().pay(json)
  const before = facilitator.transfers.length
  const failed = await send({ message: '[[fail]]' }, proof)
  assert.deepEqual(
    [failed.status, failed.json.error, failed.json.payment],
    [503, 'run_failed', { settled: false }],
  )
  assert.equal(facilitator.transfers.length, before)
  const good = await send({ message: '[[reply:better]]' }, proof)
  assert.deepEqual([good.status, good.json.response], [200, 'better'], good.text)
  assert.equal(facilitator.transfers.length, before + 1)
})

test('killed during settlement: the reply is available afterwards, and the payer is charged once', async () => {
  const payer = facilitator.payer()
  const { json } = await send({ message: 'hi' })
  const proof = await payer.pay(json)
  const before = facilitator.transfers.length
  const { promise: until, resolve: letGo } = Promise.withResolvers<void>()
  const collected = facilitator.meets('/settle', { kind: 'hold_answer', until })
  const message = '[[reply:worth it]]'
  const lost = send({ message }, proof).catch(() => null)
  await collected
  await platform.killApi()
  letGo()
  await lost
  await platform.startApi()
  platform.token = await signIn(platform)
  // The dead process holds its claim for 10 s. An address may send 30 requests per minute, so each retry uses another
  // one.
  let attempts = 0
  const reply = await eventually(
    () => {
      attempts += 1
      const from = `10.0.${attempts >> 8}.${attempts & 255}`
      return send({ message }, { ...proof, 'x-forwarded-for': from })
    },
    ({ status }) => status !== 409,
  )
  assert.deepEqual([reply.status, reply.json.response], [200, 'worth it'], reply.text)
  assert.equal(facilitator.transfers.length, before + 1)
  assert.equal((await send({ message }, proof)).headers.get('x-idempotent-replay'), 'true')
})
