import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { offer, openPaidWorld, type PaidAnswer } from './test/world.ts'

/** Settlement when a process dies or the facilitator does not answer. */
forEachDialect((_, open) => {
  const start = async () => {
    const world = await openPaidWorld(open)
    await world.manage('PUT', '/paid', offer)
    const payer = world.facilitator.payer()
    const required = await world.required()
    return Object.assign(world, { pay: () => payer.pay(required) })
  }
  const hi = { message: 'hi' }
  const brief = ({ status, json }: PaidAnswer) => [status, json.error ?? json.payment.settled]

  for (const [when, kind, transaction] of [
    ['after the money was collected', 'hold_answer', 'object'],
    ['before the money was collected', 'hold', 'string'],
  ] as const) {
    test(`killed while settling, ${when}: the next process returns the reply, and the payer is charged once`, async () => {
      await using world = await start()
      const headers = await world.pay()
      const { promise: until, resolve: letGo } = Promise.withResolvers<void>()
      const settling = world.facilitator.meets('/settle', { kind, until })
      const { send, kill } = await world.startOther({ takesRuns: true })
      const lost = send(hi, headers)
      await settling
      await kill()
      // The settlement may still be running.
      assert.deepEqual(brief(await world.send(hi, headers)), [409, 'request_in_progress'])
      await world.clock.advance(11)
      const reply = await world.send(hi, headers)
      assert.deepEqual([...brief(reply), reply.json.response], [200, true, 'ok: hi'])
      assert.equal(typeof reply.json.payment.transaction, transaction)
      const again = await world.send(hi, headers)
      assert.deepEqual([again.headers['x-idempotent-replay'], again.json], ['true', reply.json])
      letGo()
      await lost
      assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
      assert.deepEqual(brief(await world.send({ message: 'more' }, headers)), [402, 'payment_failed'])
    })
  }

  for (const proof of ['the same', 'another'] as const) {
    test(`killed between run and settlement: ${proof} proof gets the reply and is settled`, async () => {
      await using world = await start()
      const headers = await world.pay()
      const { send, woken, kill } = await world.startOther()
      const lost = send(hi, headers)
      await woken
      await kill()
      await world.work()
      assert.deepEqual(
        world.facilitator.requests.filter((path) => path === '/settle'),
        [],
      )
      const reply = await world.send(hi, proof === 'the same' ? headers : await world.pay())
      assert.deepEqual([...brief(reply), reply.json.response], [200, true, 'ok: hi'])
      assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
      await lost.catch(() => {})
    })

    test(`502 when the settlement response is lost: ${proof} proof gets the reply without another charge`, async () => {
      await using world = await start()
      const headers = await world.pay()
      void world.facilitator.meets('/settle', { kind: 'lost_answer' })
      assert.deepEqual(brief(await world.send(hi, headers)), [502, 'upstream_error'])
      const next = proof === 'the same' ? headers : await world.pay()
      const reply = await world.send(hi, next)
      assert.deepEqual([...brief(reply), reply.json.response], [200, true, 'ok: hi'])
      assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
      assert.deepEqual(await world.actions(), ['settle_failed', 'settle_failed', 'verify'])
      if (proof === 'the same') return
      // A proof that was not needed is still valid.
      assert.deepEqual(brief(await world.send({ message: 'more' }, next)), [200, true])
      assert.equal(world.facilitator.transfers.length, 2)
    })

    test(`502 when the facilitator fails to settle: ${proof} proof is settled without a new run`, async () => {
      await using world = await start()
      const headers = await world.pay()
      void world.facilitator.meets('/settle', { kind: 'status', status: 500 })
      assert.deepEqual(brief(await world.send(hi, headers)), [502, 'upstream_error'])
      assert.deepEqual(world.facilitator.transfers, [])
      const reply = await world.send(hi, proof === 'the same' ? headers : await world.pay())
      assert.deepEqual([...brief(reply), reply.json.response], [200, true, 'ok: hi'])
      assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
    })
  }

  test('two valid proofs for one kept reply: one is settled, the other gets 409 and is not charged', async () => {
    await using world = await start()
    void world.facilitator.meets('/settle', { kind: 'refuse', reason: 'insufficient_funds' })
    assert.deepEqual(brief(await world.send(hi, await world.pay())), [402, 'payment_failed'])
    const { promise: until, resolve: letGo } = Promise.withResolvers<void>()
    const settling = world.facilitator.meets('/settle', { kind: 'hold', until })
    const one = world.send(hi, await world.pay())
    await settling
    const { status, json } = await world.send(hi, await world.pay())
    assert.deepEqual([status, json.error], [409, 'request_in_progress'])
    letGo()
    assert.deepEqual(brief(await one), [200, true])
    assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
  })

  test('another process does not settle while a slow settlement is running', async () => {
    await using world = await start()
    const headers = await world.pay()
    const { promise: until, resolve: letGo } = Promise.withResolvers<void>()
    const settling = world.facilitator.meets('/settle', { kind: 'hold', until })
    const sent = world.send(hi, headers)
    await settling
    const { send, kill } = await world.startOther()
    for (let beats = 0; beats < 8; beats += 1) {
      await world.clock.waitingFor(3)
      await world.clock.advance(3)
      assert.deepEqual(brief(await send(hi, headers)), [409, 'request_in_progress'])
    }
    await kill()
    letGo()
    assert.deepEqual(brief(await sent), [200, true])
    assert.equal(world.facilitator.requests.filter((path) => path === '/settle').length, 1)
  })

  test('a settled reply is returned even when the database fails afterwards', async () => {
    await using world = await start()
    const { promise: until, resolve: letGo } = Promise.withResolvers<void>()
    const settling = world.facilitator.meets('/settle', { kind: 'hold_answer', until })
    const { send, kill } = await world.startOther({ takesRuns: true })
    const sent = send(hi, await world.pay())
    await settling
    await kill()
    letGo()
    const reply = await sent
    assert.deepEqual([...brief(reply), reply.json.response], [200, true, 'ok: hi'])
  })

  for (const [method, body] of [
    ['PUT', { ...offer, enabled: false }],
    ['DELETE', undefined],
  ] as const) {
    test(`an offer ended by ${method} still serves its payers and is 404 for everybody else`, async () => {
      await using world = await start()
      const [headers, unusedProof] = [await world.pay(), await world.pay()]
      const reply = await world.send(hi, headers)
      const laterMessage = { message: 'waits' }
      const next = await world.pay()
      void world.facilitator.meets('/settle', { kind: 'status', status: 500 })
      assert.deepEqual(brief(await world.send(laterMessage, next)), [502, 'upstream_error'])
      assert.equal((await world.manage(method, '/paid', body)).status, 200)
      const again = await world.send(hi, headers)
      assert.deepEqual([again.headers['x-idempotent-replay'], again.json], ['true', reply.json])
      const late = await world.send(laterMessage, next)
      assert.deepEqual([...brief(late), late.json.response], [200, true, 'ok: waits'])
      for (const [message, proof] of [
        ['hi', {}],
        ['hi', { 'payment-signature': 'no base64 {' }],
        ['hi', unusedProof],
        ['more', headers],
      ] as const) {
        const { status, json } = await world.send({ message }, proof)
        assert.deepEqual([status, json.error], [404, 'not_found'])
      }
      assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [2, 2])
    })
  }

  test('a payer who left during the run gets the reply with the same proof', async () => {
    await using world = await start()
    const headers = await world.pay()
    const left = new AbortController()
    const { promise: go, resolve } = Promise.withResolvers<void>()
    const { promise: started, resolve: markStarted } = Promise.withResolvers<void>()
    world.agent.script = async () => {
      markStarted()
      await go
      return { response: 'late' }
    }
    const proof = world.proofOf(headers)
    const request = { ...(await world.paid.offers.lookUp('scout')), proof, message: 'hi', sessionId: null }
    const waiting = assert.rejects(world.paid.answer(request, left.signal), { code: 'sync_wait_exceeded' })
    await started
    left.abort()
    await waiting
    assert.deepEqual(brief(await world.send(hi, headers)), [409, 'request_in_progress'])
    const ended = world.ended()
    resolve()
    await ended
    const reply = await world.send(hi, headers)
    assert.deepEqual([...brief(reply), reply.json.response, world.agent.runs], [200, true, 'late', 1])
  })
})
