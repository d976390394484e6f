import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import type { PaidTables } from './tables.ts'
import { decoded, offer, openPaidWorld, payTo } from './test/world.ts'

forEachDialect((_, open) => {
  /** The agent has an enabled offer. */
  const start = async () => {
    const world = await openPaidWorld(open)
    assert.equal((await world.manage('PUT', '/paid', offer)).status, 200)
    return world
  }

  test('402 without a proof: the price is in the header for version 2 and in the body for version 1', async () => {
    await using world = await start()
    const { status, headers, json } = await world.send({ message: 'hi' })
    assert.deepEqual([status, json.error], [402, 'payment_required'])
    const required = decoded(headers['payment-required'])
    assert.deepEqual(json.payment_required, required)
    assert.deepEqual(required, {
      x402Version: 2,
      error: 'payment_required',
      resource: {
        url: 'https://roost.example/api/paid/scout/chat',
        description: 'One message to the agent scout.',
        mimeType: 'application/json',
      },
      accepts: [
        {
          scheme: 'exact',
          network: 'eip155:84532',
          amount: '1000',
          asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
          payTo,
          maxTimeoutSeconds: 60,
          extra: { name: 'USDC', version: '2' },
        },
      ],
    })
    const { x402Version, accepts } = json
    assert.deepEqual(
      [x402Version, accepts[0].network, accepts[0].maxAmountRequired, accepts[0].resource],
      [1, 'base-sepolia', '1000', required.resource.url],
    )
    assert.deepEqual([world.facilitator.requests.includes('/verify'), world.agent.runs], [false, 0])
  })

  test('the system prompt says that a stranger sends the message', async () => {
    await using world = await start()
    let systemPrompt = ''
    world.agent.script = async (run) => {
      systemPrompt = run.system_prompt
      return {}
    }
    const payer = world.facilitator.payer()
    const { status } = await world.send({ message: 'hi' }, await payer.pay(await world.required()))
    assert.equal(status, 200)
    assert.match(systemPrompt, /You talk with somebody who pays for each message, who has no account here/)
  })

  test('200 in both versions: verified, run, settled, and confirmed in the header of the version', async () => {
    await using world = await start()
    const payer = world.facilitator.payer()
    const two = await world.send({ message: 'hi' }, await payer.pay(await world.required()))
    assert.equal(two.status, 200, JSON.stringify(two.json))
    const [first] = world.facilitator.transfers
    const { execution_id, session_id } = two.json
    assert.deepEqual(two.json, {
      status: 'success',
      response: 'ok: hi',
      execution_id,
      session_id,
      payment: {
        settled: true,
        transaction: first?.transaction,
        network: 'eip155:84532',
        payer: payer.address,
      },
    })
    const settled = { success: true, transaction: first?.transaction, payer: payer.address }
    assert.deepEqual(decoded(two.headers['payment-response']), { ...settled, network: 'eip155:84532' })
    assert.deepEqual([first?.to, first?.value], [payTo, 1000n])
    assert.deepEqual(world.facilitator.requests.slice(-2), ['/verify', '/settle'])
    assert.equal((await world.platform.row(execution_id)).triggered_by, 'paid')

    const unpaid = await world.send({ message: 'again' })
    const one = await world.send({ message: 'again' }, await payer.pay(unpaid.json))
    assert.deepEqual([one.status, one.json.response], [200, 'ok: again'])
    const { success, network } = decoded(one.headers['x-payment-response'])
    assert.deepEqual([success, network, one.headers['payment-response']], [true, 'base-sepolia', undefined])
    assert.deepEqual(await world.actions(), ['settle', 'settle', 'verify', 'verify'])
  })

  test('503 and 504 for a failed run: nothing is settled, no internals leak, and the proof is valid again', async () => {
    await using world = await start()
    const headers = await world.facilitator.payer().pay(await world.required())
    const ends = [
      [{ status: 'failed', error: 'secret words', error_code: 'agent_error' }, 503, 'run_failed'],
      [{ status: 'failed', error: 'secret words', error_code: 'rate_limited' }, 503, 'run_failed'],
      [{ status: 'cancelled', error_code: 'user_cancelled' }, 503, 'run_failed'],
      [{ status: 'failed', error: 'secret words', error_code: 'timeout' }, 504, 'run_timeout'],
    ] as const
    const good = world.agent.script
    for (const [end, status, error] of ends) {
      world.agent.script = () => ({ response: null, ...end })
      const failed = await world.send({ message: 'hi' }, headers)
      assert.deepEqual([failed.status, failed.json.error], [status, error], JSON.stringify(failed.json))
      assert.deepEqual(failed.json.payment, { settled: false })
      assert.ok(!JSON.stringify(failed.json).includes('secret words'))
    }
    assert.deepEqual(world.facilitator.transfers, [])
    world.agent.script = good
    const { status } = await world.send({ message: 'another' }, headers)
    assert.deepEqual([status, world.facilitator.transfers.length], [200, 1])
  })

  test('a refused settlement keeps the reply: another valid proof of the payer gets it without a new run', async () => {
    await using world = await start()
    const [payer, otherPayer] = [world.facilitator.payer(), world.facilitator.payer()]
    const required = await world.required()
    const first = await payer.pay(required)
    world.facilitator.meets('/settle', { kind: 'refuse', reason: 'insufficient_funds' })
    const refused = await world.send({ message: 'hi' }, first)
    assert.deepEqual(
      [refused.status, refused.json.error, refused.json.reason, refused.json.payment.settled],
      [402, 'payment_failed', 'insufficient_funds', false],
    )
    assert.equal(decoded(refused.headers['payment-response']).success, false)
    assert.ok(!('response' in refused.json))

    assert.equal((await world.send({ message: 'hi' }, await otherPayer.pay(required))).status, 200)
    assert.equal(world.agent.runs, 2, 'another payer has a run of its own')
    const paid = await world.send({ message: 'hi' }, await payer.pay(required))
    assert.deepEqual([paid.status, paid.json.response, world.agent.runs], [200, 'ok: hi', 2])
    assert.equal(world.facilitator.transfers.length, 2)
    // Once paid, the same message starts a new run, and the refused proof is still valid.
    assert.equal((await world.send({ message: 'hi' }, first)).status, 200)
    assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [3, 3])
  })

  test('an unpaid reply is kept for a day', async () => {
    await using world = await start()
    const payer = world.facilitator.payer()
    const required = await world.required()
    const refuse = async () => {
      world.facilitator.meets('/settle', { kind: 'refuse', reason: 'no' })
      assert.equal((await world.send({ message: 'hi' }, await payer.pay(required))).status, 402)
    }
    await refuse()
    await world.clock.advance(24 * 3600 - 1)
    await refuse()
    assert.equal(world.agent.runs, 1)
    await world.clock.advance(24 * 3600)
    await world.paid.loops[0]?.run(new AbortController().signal)
    assert.equal((await world.send({ message: 'hi' }, await payer.pay(required))).status, 200)
    assert.equal(world.agent.runs, 2)
  })

  test('the same proof and message return the stored reply; another message is refused for good', async () => {
    await using world = await start()
    const payer = world.facilitator.payer()
    const headers = await payer.pay(await world.required())
    const first = await world.send({ message: 'hi' }, headers)
    // The same payment in another encoding is the same proof.
    const proof = decoded(headers['PAYMENT-SIGNATURE'])
    const { authorization, signature } = proof.payload
    const from = authorization.from.toLowerCase()
    const reencoded = { ...proof, payload: { note: 1, signature, authorization: { ...authorization, from } } }
    const again = { 'payment-signature': Buffer.from(JSON.stringify(reencoded, null, 1)).toString('base64') }
    for (const same of [headers, again]) {
      const { status, headers: received, json } = await world.send({ message: 'hi' }, same)
      assert.deepEqual([status, received['x-idempotent-replay']], [200, 'true'])
      assert.deepEqual(json, first.json)
      assert.equal(decoded(received['payment-response']).success, true)
    }
    for (const otherPayer of [headers, again]) {
      const { status, json } = await world.send({ message: 'more' }, otherPayer)
      assert.deepEqual([status, json.error], [402, 'payment_failed'])
      assert.equal(json.reason, 'payment_used_for_another_message')
    }
    assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
  })

  test('the signer and nonce of a settled payment, which the chain shows, do not return the stored reply', async () => {
    await using world = await start()
    const headers = await world.facilitator.payer().pay(await world.required())
    const first = await world.send({ message: 'hi' }, headers)
    assert.equal(first.status, 200)
    const proof = decoded(headers['PAYMENT-SIGNATURE'])
    const { authorization, signature } = proof.payload
    const forged = (payload: object) => ({
      'payment-signature': Buffer.from(JSON.stringify({ ...proof, payload })).toString('base64'),
    })
    for (const payload of [{ authorization }, { authorization, signature: `0x${'1'.repeat(130)}` }])
      for (const message of ['hi', 'a wrong guess']) {
        const { status, json } = await world.send({ message }, forged(payload))
        assert.deepEqual([status, json.reason, json.response], [402, 'payment_already_used', undefined])
      }
    const upper = `0x${signature.slice(2).toUpperCase()}`
    const again = await world.send({ message: 'hi' }, forged({ authorization, signature: upper }))
    assert.deepEqual([again.status, again.json], [200, first.json], 'the same signature')
    assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
  })

  test('a reply that was paid before the upgrade from 0.1.0 is returned again, without a second payment', async () => {
    await using world = await start()
    const headers = await world.facilitator.payer().pay(await world.required())
    const first = await world.send({ message: 'hi' }, headers)
    // As 0.1.0 stored it.
    await world.db.withTables<PaidTables>().updateTable('paid_proofs').set({ sealed: null }).execute()
    await world.clock.advance(24 * 3600 - 1)
    const again = await world.send({ message: 'hi' }, headers)
    assert.deepEqual([again.status, again.json], [200, first.json])
    const other = await world.send({ message: 'more' }, headers)
    assert.deepEqual([other.status, other.json.reason], [402, 'payment_used_for_another_message'])
    await world.clock.advance(1)
    const late = await world.send({ message: 'hi' }, headers)
    assert.deepEqual([late.status, late.json.reason], [402, 'payment_already_used'])
    assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
  })

  test('402 for a forged signature after a lost settlement response', async () => {
    await using world = await start()
    const headers = await world.facilitator.payer().pay(await world.required())
    void world.facilitator.meets('/settle', { kind: 'lost_answer' })
    assert.equal((await world.send({ message: 'hi' }, headers)).status, 502)
    const proof = decoded(headers['PAYMENT-SIGNATURE'])
    const { authorization } = proof.payload
    const payload = { authorization, signature: `0x${'1'.repeat(130)}` }
    const forged = Buffer.from(JSON.stringify({ ...proof, payload })).toString('base64')
    const { status } = await world.send({ message: 'hi' }, { 'payment-signature': forged })
    assert.equal(status, 402)
    assert.equal((await world.send({ message: 'hi' }, headers)).status, 200)
  })

  test('the content of a proof is deleted when its reply can no longer be fetched again', async () => {
    await using world = await start()
    const headers = await world.facilitator.payer().pay(await world.required())
    assert.equal((await world.send({ message: 'hi' }, headers)).status, 200)
    const proofs = () =>
      world.db.withTables<PaidTables>().selectFrom('paid_proofs').select('sealed').execute()
    const cleanUp = () => world.paid.loops[0]?.run(new AbortController().signal)
    await world.clock.advance(24 * 3600 - 1)
    await cleanUp()
    assert.equal((await world.send({ message: 'hi' }, headers)).headers['x-idempotent-replay'], 'true')
    await world.clock.advance(1)
    await cleanUp()
    assert.deepEqual(
      (await proofs()).map(({ sealed }) => sealed),
      [null],
    )
    assert.equal((await world.send({ message: 'hi' }, headers)).status, 402)
    assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
  })

  test('twenty concurrent requests with one proof: one run, one settlement, 409 for the others', async () => {
    await using world = await start()
    const headers = await world.facilitator.payer().pay(await world.required())
    const { promise: go, resolve } = Promise.withResolvers<void>()
    world.agent.script = async () => {
      await go
      return { response: 'once' }
    }
    const sent = Array.from({ length: 20 }, (_, at) =>
      world.send({ message: at % 2 ? 'one' : 'other' }, headers),
    )
    let answered = 0
    const others = Promise.withResolvers<void>()
    for (const each of sent) void each.then(() => ++answered === 19 && others.resolve())
    await others.promise
    resolve()
    const replies = await Promise.all(sent)
    const good = replies.filter(({ status }) => status === 200)
    assert.equal(good.length, 1)
    for (const { status, json } of replies.filter((reply) => reply !== good[0])) {
      assert.deepEqual([status, json.error], [409, 'request_in_progress'])
      assert.equal(json.execution_id ?? good[0]?.json.execution_id, good[0]?.json.execution_id)
    }
    assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
  })

  test('a conversation continues by its id, only for the payer who began it', async () => {
    await using world = await start()
    const [payer, otherPayer] = [world.facilitator.payer(), world.facilitator.payer()]
    const required = await world.required()
    const messages: string[] = []
    const say = async (who: typeof payer, body: object) => world.send(body, await who.pay(required))
    world.agent.script = ({ message }) => {
      messages.push(message)
      return { response: 'noted' }
    }
    const first = await say(payer, { message: 'my word is owl' })
    const { session_id } = first.json
    assert.match(session_id, /^[\w-]{22}$/)
    const next = await say(payer, { message: 'which word', session_id })
    assert.deepEqual([next.status, next.json.session_id], [200, session_id])
    assert.match(messages[1] ?? '', /my word is owl[\s\S]*which word/)
    for (const [who, id] of [
      [otherPayer, session_id],
      [payer, 'none'],
    ] as const) {
      const refused = await say(who, { message: 'hello', session_id: id })
      assert.deepEqual([refused.status, refused.json.error], [404, 'session_not_found'])
    }
    assert.equal(world.facilitator.transfers.length, 2)
  })
})
