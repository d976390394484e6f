import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { createBreakers } from './service.ts'
import { createTransportBreaker } from './transport-breaker.ts'

forEachDialect((_, open) => {
  async function start() {
    const db = await open()
    const clock = createTestClock()
    const wire = createFakeAgentLink()
    const breaker = createTransportBreaker({ db, clock, log: silentLog })
    const link = breaker.watch(wire)
    const breakers = createBreakers({ db, clock, isPlatformEnabled: () => false })
    const agent = { id: 'a1', name: 'scout', circuit_breaker_enabled: false }
    const state = async () => (await breakers.view(agent)).transport.state
    const ask = () => link.call('a1', 'info', {})
    const fail = async (times: number) => {
      for (let time = 0; time < times; time += 1) await assert.rejects(ask(), LinkDown)
    }
    return { db, clock, wire, breaker, breakers, link, agent, state, ask, fail }
  }

  test('five unanswered calls mark the agent as unreachable; calls continue', async () => {
    const { wire, breakers, agent, state, fail } = await start()
    await fail(4)
    assert.equal(await state(), 'closed')
    await fail(1)
    assert.equal(await state(), 'open')
    assert.equal((await breakers.view(agent)).open, true, 'also while the toggle is off')
    assert.deepEqual([...(await breakers.unreachable())], ['a1'])
    await fail(3)
    assert.equal(wire.calls.length, 8)
  })

  test('calls to other agents, faults and aborted calls do not count', async () => {
    const { wire, link, state, fail } = await start()
    wire.link('a2', {
      info: () => {
        throw new LinkFault({ code: 'io_error', message: 'no' })
      },
    })
    for (let time = 0; time < 6; time += 1) await assert.rejects(link.call('a2', 'info', {}), LinkFault)
    const aborted = AbortSignal.abort(new Error('aborted'))
    for (let time = 0; time < 6; time += 1) {
      await assert.rejects(link.call('a1', 'info', {}, { signal: aborted }), /aborted/)
    }
    await fail(4)
    assert.equal(await state(), 'closed')
  })

  test('half open after a minute; an unanswered call doubles the wait, an answered one closes it', async () => {
    const { wire, clock, breakers, agent, state, ask, fail } = await start()
    await fail(5)
    await clock.advance(60)
    assert.equal(await state(), 'half_open')
    wire.link('a1', {
      info: () => {
        throw new LinkTimeout()
      },
    })
    await assert.rejects(ask(), LinkTimeout)
    assert.equal((await breakers.view(agent)).transport.retry_after_seconds, 120)
    wire.link('a1', { info: () => ({ info: null }) as never })
    await ask()
    assert.equal(await state(), 'closed')
  })

  test('an agent that connects is reachable again', async () => {
    const { breaker, state, fail } = await start()
    await fail(5)
    await breaker.recordAnswer('a1')
    assert.equal(await state(), 'closed')
  })

  test('20 concurrent failed calls are all counted', async () => {
    const { state, breakers, agent, ask } = await start()
    await Promise.allSettled(Array.from({ length: 20 }, ask))
    assert.equal(await state(), 'open')
    assert.equal((await breakers.view(agent)).transport.retry_after_seconds, 60)
  })

  test('a failing database changes no answer', async () => {
    const { db, wire, ask } = await start()
    wire.link('a1', { info: () => ({ info: null }) as never })
    await db.close()
    await ask()
    wire.unlink('a1')
    await assert.rejects(ask(), LinkDown)
  })
})
