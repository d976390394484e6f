import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { dial, isNumber } from './test/client.ts'
import { startProcess } from './test/world.ts'

async function start() {
  return startProcess(await openTestDatabase())
}

describe('slow and dead clients', () => {
  test('a client 256 messages behind gets a resync and delays no other', async () => {
    await using it = await start()
    const ann = await it.person('creator')
    const agent = await it.addAgent(ann)
    await using slow = await it.watch(ann)
    await using quick = await it.watch(ann)
    slow.deaf()
    const padding = 'x'.repeat(100_000)
    for (let n = 0; n < 400; n++) {
      await it.about([agent], { n, padding })
      await quick.next(isNumber(n))
    }
    slow.hear()
    assert.equal((await slow.next('resync_required')).reason, 'slow_consumer')
    await it.about([agent], { n: 400 })
    await Promise.all([slow.next(isNumber(400)), quick.next(isNumber(400))])
    assert.equal(quick.events().length, 401)
    assert.ok(slow.events().length < 401 - 256)
  })

  test('two pings without a reply end the socket; a reply keeps it open', async () => {
    await using it = await start()
    const ann = await it.person()
    await using alive = await it.watch(ann)
    const ticket = await it.tickets.mint(ann)
    await using dead = await dial(`${it.url}/ws?ticket=${ticket}`, { autoPong: false })
    await dead.next('connected')
    for (let round = 0; round < 3; round++) {
      await it.clock.waitingFor(30)
      await it.clock.advance(30)
      alive.send('ping')
      await alive.next((message) => message === 'pong')
    }
    assert.equal((await dead.closed).code, 1006)
    alive.send('ping')
    await alive.next((message) => message === 'pong')
  })

  test('when the platform stops, sockets close with the code for reconnecting', async () => {
    await using it = await start()
    await using client = await it.watch(await it.person())
    await it.sockets.close()
    assert.equal((await client.closed).code, 1001)
  })
})
