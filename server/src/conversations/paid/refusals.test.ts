import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { decoded, offer, openPaidWorld } from './test/world.ts'

forEachDialect((_, open) => {
  /** The agent has an enabled offer. */
  const start = async () => {
    const world = await openPaidWorld(open)
    assert.equal((await world.manage('PUT', '/paid', offer)).status, 200)
    return world
  }

  test('400 invalid_payment for an unreadable proof, and no run starts', async () => {
    await using world = await start()
    const payer = world.facilitator.payer()
    const good = await payer.pay(await world.required())
    const proof = decoded(good['PAYMENT-SIGNATURE'])
    const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
    const { authorization } = proof.payload
    const twoFaced = { ...proof.payload, permit2Authorization: { from: payer.address, nonce: '1' } }
    const broken: Record<string, string>[] = [
      { 'payment-signature': '' },
      { 'payment-signature': 'no base64 {' },
      { 'payment-signature': Buffer.from('no json').toString('base64') },
      { 'payment-signature': base64({}) },
      { 'payment-signature': base64({ ...proof, x402Version: 1 }) },
      { 'payment-signature': base64({ ...proof, payload: twoFaced }) },
      {
        'payment-signature': base64({
          ...proof,
          payload: { authorization: { ...authorization, nonce: '0x1' } },
        }),
      },
      {
        'payment-signature': base64({
          ...proof,
          payload: { authorization: { ...authorization, value: '01000' } },
        }),
      },
      { 'x-payment': base64(proof) },
    ]
    for (const headers of broken) {
      const { status, json } = await world.send({ message: 'hi' }, headers)
      assert.deepEqual([status, json.error], [400, 'invalid_payment'], JSON.stringify(headers))
      assert.ok(!JSON.stringify(json).includes(authorization.nonce))
    }
    assert.deepEqual([world.agent.runs, world.facilitator.requests.includes('/verify')], [0, false])
  })

  test('402 payment_failed with the reason and fresh terms when terms differ or the facilitator refuses', async () => {
    await using world = await start()
    const payer = world.facilitator.payer()
    const required = await world.required()
    const [accepts] = required.accepts
    const others: [string, object][] = [
      ['other_amount', { amount: '999' }],
      ['other_payee', { payTo: '0x857b06519E91e3A54538791bDbb0E22373e36b66' }],
    ]
    for (const [reason, change] of others) {
      const headers = await payer.pay({ ...required, accepts: [{ ...accepts, ...change }] })
      const { status, json, headers: received } = await world.send({ message: 'hi' }, headers)
      assert.deepEqual([status, json.error, json.reason], [402, 'payment_failed', reason])
      assert.equal(decoded(received['payment-required']).accepts[0].amount, '1000')
    }
    // The declared amount is right, the signed amount is not.
    const lying = decoded(
      (await payer.pay({ ...required, accepts: [{ ...accepts, amount: '1' }] }))['PAYMENT-SIGNATURE'],
    )
    lying.accepted.amount = '1000'
    const lie = Buffer.from(JSON.stringify(lying)).toString('base64')
    assert.equal(
      (await world.send({ message: 'hi' }, { 'payment-signature': lie })).json.reason,
      'other_amount',
    )
    assert.ok(!world.facilitator.requests.includes('/verify'))

    const poor = world.facilitator.payer(999n)
    const refused = await world.send({ message: 'hi' }, await poor.pay(required))
    assert.deepEqual([refused.status, refused.json.error], [402, 'payment_failed'])
    const forged = decoded((await payer.pay(required))['PAYMENT-SIGNATURE'])
    forged.payload.authorization.from = poor.address
    const header = Buffer.from(JSON.stringify(forged)).toString('base64')
    const { json } = await world.send({ message: 'hi' }, { 'payment-signature': header })
    assert.match(json.reason, /signature/)
    assert.deepEqual([world.agent.runs, await world.actions()], [0, ['reject', 'reject']])
  })

  test('502 when the facilitator is unreachable, 503 when none is configured; no run starts', async () => {
    await using world = await start()
    const headers = await world.facilitator.payer().pay(await world.required())
    for (const mishap of [{ kind: 'hung_up' }, { kind: 'status', status: 500 }] as const) {
      world.facilitator.meets('/verify', mishap)
      const { status, json } = await world.send({ message: 'hi' }, headers)
      assert.deepEqual([status, json.error, json.payment], [502, 'upstream_error', { settled: false }])
    }
    await world.facilitator[Symbol.asyncDispose]()
    assert.equal((await world.send({ message: 'hi' }, headers)).status, 502)
    assert.equal(world.agent.runs, 0)

    await using none = await openPaidWorld(open, { isConfigured: false })
    assert.equal((await none.manage('PUT', '/paid', offer)).status, 200)
    for (const with_ of [{}, headers]) {
      const { status, json } = await none.send({ message: 'hi' }, with_ as Record<string, string>)
      assert.deepEqual([status, json.error], [503, 'not_configured'])
    }
    assert.equal((await none.info()).statusCode, 200)
  })

  test('404 for an unknown agent or one without an offer, 503 for a stopped agent, 422 for an invalid message', async () => {
    await using world = await start()
    assert.deepEqual((await world.send({ message: 'hi' }, {}, 'nobody')).json.error, 'not_found')
    for (const message of ['', '  ', 'x'.repeat(8001)])
      assert.equal((await world.send({ message })).status, 422)
    assert.equal((await world.send({ message: 'x'.repeat(8000) })).status, 402)
    const headers = await world.facilitator.payer().pay(await world.required())
    const agentContext = world.platform.agents.get('a1') ?? assert.fail('there is an agent')
    world.platform.agents.set('a1', { ...agentContext, status: 'stopped' })
    assert.equal((await world.send({ message: 'hi' }, headers)).json.error, 'agent_not_running')
    world.platform.agents.set('a1', agentContext)
    assert.equal((await world.send({ message: 'hi' }, headers)).status, 200)
    await world.manage('PUT', '/paid', { ...offer, enabled: false })
    assert.equal((await world.send({ message: 'hi' })).status, 404)
    assert.equal((await world.info()).statusCode, 404)
  })

  test('429 after 30 requests per minute from one address', async () => {
    await using world = await start()
    for (let count = 0; count < 30; count += 1)
      assert.equal((await world.send({ message: 'hi' })).status, 402)
    const { status, headers } = await world.send({ message: 'hi' })
    assert.deepEqual([status, 'retry-after' in headers], [429, true])
    assert.equal((await world.info()).statusCode, 200)
    await world.clock.advance(61)
    assert.equal((await world.send({ message: 'hi' })).status, 402)
    const from = (at: number) => ({ 'x-forwarded-for': `2001:db8::${at}` })
    for (let at = 0; at < 30; at += 1) {
      assert.equal((await world.send({ message: 'hi' }, from(at))).status, 402)
      assert.equal((await world.info('scout', from(at))).statusCode, 200)
    }
    assert.equal((await world.send({ message: 'hi' }, from(99))).status, 429, 'the same network')
    assert.equal((await world.info('scout', from(99))).statusCode, 429)
  })
})
