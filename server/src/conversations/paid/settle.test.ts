import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { offer, openPaidWorld, type PaidAnswer } from './test/world.ts'

/** What becomes of a paid reply when a process dies, or the facilitator is not heard, around the collecting. */
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
    test(`killed while settling, ${when}: the next process gives the reply, and it is collected once`, async () => {
      await using world = await start()
      const headers = await world.pay()
      const { promise: until, resolve: letGo } = Promise.withResolvers<void>()
      const asked = world.facilitator.meets('/settle', { kind, until })
      const { send, kill } = await world.doomed({ takesRuns: true })
      const lost = send(hi, headers)
      await asked
      await kill()
      // For all that anybody knows it is still at it.
      assert.deepEqual(brief(await world.send(hi, headers)), [409, 'request_in_progress'])
      await world.clock.advance(11)
      const given = await world.send(hi, headers)
      assert.deepEqual([...brief(given), given.json.response], [200, true, 'ok: hi'])
      assert.equal(typeof given.json.payment.transaction, transaction)
      const again = await world.send(hi, headers)
      assert.deepEqual([again.headers['x-idempotent-replay'], again.json], ['true', given.json])
      letGo()
      await lost
      assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
      assert.deepEqual(brief(await world.send({ message: 'more' }, headers)), [402, 'payment_failed'])
    })
  }

  for (const proof of ['the same', 'another'] as const) {
    test(`killed between run and settling: ${proof} proof gets the reply, and is settled`, async () => {
      await using world = await start()
      const headers = await world.pay()
      const { send, woken, kill } = await world.doomed()
      const lost = send(hi, headers)
      await woken
      await kill()
      await world.work()
      assert.deepEqual(
        world.facilitator.asked.filter((path) => path === '/settle'),
        [],
      )
      const given = await world.send(hi, proof === 'the same' ? headers : await world.pay())
      assert.deepEqual([...brief(given), given.json.response], [200, true, 'ok: hi'])
      assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
      await lost.catch(() => {})
    })

    test(`502 when the answer of the settling is lost: ${proof} proof gets the reply and pays nothing more`, async () => {
      await using world = await start()
      const headers = await world.pay()
      void world.facilitator.meets('/settle', { kind: 'lost_answer' })
      assert.deepEqual(brief(await world.send(hi, headers)), [502, 'upstream_error'])
      const next = proof === 'the same' ? headers : await world.pay()
      const given = await world.send(hi, next)
      assert.deepEqual([...brief(given), given.json.response], [200, true, 'ok: hi'])
      assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
      assert.deepEqual(await world.actions(), ['settle_failed', 'settle_failed', 'verify'])
      if (proof === 'the same') return
      // What was not needed is as good as new.
      assert.deepEqual(brief(await world.send({ message: 'more' }, next)), [200, true])
      assert.equal(world.facilitator.transfers.length, 2)
    })

    test(`502 when the facilitator fails to settle: ${proof} proof is settled, without a new run`, async () => {
      await using world = await start()
      const headers = await world.pay()
      void world.facilitator.meets('/settle', { kind: 'status', status: 500 })
      assert.deepEqual(brief(await world.send(hi, headers)), [502, 'upstream_error'])
      assert.deepEqual(world.facilitator.transfers, [])
      const given = await world.send(hi, proof === 'the same' ? headers : await world.pay())
      assert.deepEqual([...brief(given), given.json.response], [200, true, 'ok: hi'])
      assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
    })
  }

  test('a kept reply is settled with one of two good proofs: the other one is told to wait, and pays nothing', async () => {
    await using world = await start()
    void world.facilitator.meets('/settle', { kind: 'refuse', reason: 'insufficient_funds' })
    assert.deepEqual(brief(await world.send(hi, await world.pay())), [402, 'payment_failed'])
    const { promise: until, resolve: letGo } = Promise.withResolvers<void>()
    const asked = world.facilitator.meets('/settle', { kind: 'hold', until })
    const one = world.send(hi, await world.pay())
    await asked
    const { status, json } = await world.send(hi, await world.pay())
    assert.deepEqual([status, json.error], [409, 'request_in_progress'])
    letGo()
    assert.deepEqual(brief(await one), [200, true])
    assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [1, 1])
  })

  test('a settling that takes long is waited for: another process does not ask as well', async () => {
    await using world = await start()
    const headers = await world.pay()
    const { promise: until, resolve: letGo } = Promise.withResolvers<void>()
    const asked = world.facilitator.meets('/settle', { kind: 'hold', until })
    const sent = world.send(hi, headers)
    await asked
    const { send, kill } = await world.doomed()
    for (let beats = 0; beats < 8; beats += 1) {
      await world.clock.waitingFor(3)
      await world.clock.advance(3)
      assert.deepEqual(brief(await send(hi, headers)), [409, 'request_in_progress'])
    }
    await kill()
    letGo()
    assert.deepEqual(brief(await sent), [200, true])
    assert.equal(world.facilitator.asked.filter((path) => path === '/settle').length, 1)
  })

  test('a reply that is paid for while the database goes away is given all the same', async () => {
    await using world = await start()
    const { promise: until, resolve: letGo } = Promise.withResolvers<void>()
    const asked = world.facilitator.meets('/settle', { kind: 'hold_answer', until })
    const { send, kill } = await world.doomed({ takesRuns: true })
    const sent = send(hi, await world.pay())
    await asked
    await kill()
    letGo()
    const given = await sent
    assert.deepEqual([...brief(given), given.json.response], [200, true, 'ok: hi'])
  })

  for (const [method, body] of [
    ['PUT', { ...offer, enabled: false }],
    ['DELETE', undefined],
  ] as const) {
    test(`an offer that has ended by ${method} is kept to who paid on it, and is none to everybody else`, async () => {
      await using world = await start()
      const [headers, unspent] = [await world.pay(), await world.pay()]
      const given = await world.send(hi, headers)
      const waits = { message: 'waits' }
      const next = await world.pay()
      void world.facilitator.meets('/settle', { kind: 'status', status: 500 })
      assert.deepEqual(brief(await world.send(waits, next)), [502, 'upstream_error'])
      assert.equal((await world.manage(method, '/paid', body)).status, 200)
      const again = await world.send(hi, headers)
      assert.deepEqual([again.headers['x-idempotent-replay'], again.json], ['true', given.json])
      const late = await world.send(waits, next)
      assert.deepEqual([...brief(late), late.json.response], [200, true, 'ok: waits'])
      for (const [message, proof] of [
        ['hi', {}],
        ['hi', { 'payment-signature': 'no base64 {' }],
        ['hi', unspent],
        ['more', headers],
      ] as const) {
        const { status, json } = await world.send({ message }, proof)
        assert.deepEqual([status, json.error], [404, 'not_found'])
      }
      assert.deepEqual([world.agent.runs, world.facilitator.transfers.length], [2, 2])
    })
  }

  test('a payer who left while the run went on gets the reply with the proof that was shown', async () => {
    await using world = await start()
    const headers = await world.pay()
    const left = new AbortController()
    const { promise: go, resolve } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    world.agent.script = async () => {
      begin()
      await go
      return { response: 'late' }
    }
    const proof = world.proofOf(headers)
    const asked = { ...(await world.paid.offers.seek('scout')), proof, message: 'hi', sessionId: null }
    const waiting = assert.rejects(world.paid.answer(asked, left.signal), { code: 'sync_wait_exceeded' })
    await begun
    left.abort()
    await waiting
    assert.deepEqual(brief(await world.send(hi, headers)), [409, 'request_in_progress'])
    const ended = world.ended()
    resolve()
    await ended
    const given = await world.send(hi, headers)
    assert.deepEqual([...brief(given), given.json.response, world.agent.runs], [200, true, 'late', 1])
  })
})
