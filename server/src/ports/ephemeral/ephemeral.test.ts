import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestClock } from '../../test/clock.ts'
import { type RedisServer, redisServerPath, startRedis } from '../../test/redis.ts'
import { silentLog } from '../log.ts'
import { memoryEphemeral } from './memory.ts'
import { EphemeralDown } from './port.ts'
import { redisEphemeral } from './redis.ts'
import { ephemeralSuite } from './suite.ts'

describe('memory', () => {
  ephemeralSuite(async () => {
    const clock = createTestClock()
    const store = memoryEphemeral({ clock, log: silentLog })
    return { store, pass: clock.advance }
  })
})

const skip = redisServerPath() ? false : 'there is no redis-server'

describe('redis', { skip }, () => {
  const server = startRedis()
  ephemeralSuite(async () => {
    const redis = await server
    return { store: await redis.open(), pass: redis.pass }
  })

  test('two stores on one server share counters and topics', async () => {
    const redis = await server
    const [one, other] = [await redis.open(), await redis.open()]
    await one.count('shared', 60)
    assert.equal((await other.count('shared', 60)).count, 2)
    const received = Promise.withResolvers<string>()
    await one.subscribe('news', received.resolve)
    await other.publish('news', 'hello')
    assert.equal(await received.promise, 'hello')
  })
})

describe('redis that dies and comes back', { skip }, () => {
  test('while the server is down every command fails immediately; afterwards commands work again', async () => {
    await using redis = await startRedis()
    const store = await redis.open()
    await store.put('key', 'value', 60)
    await redis.kill()
    for (const command of [
      () => store.get('key'),
      () => store.put('key', 'value', 60),
      () => store.count('key', 60),
      () => store.take('key'),
      () => store.publish('topic', 'hello'),
      () => store.ping(),
    ]) {
      await assert.rejects(command, EphemeralDown)
    }
    await redis.restart()
    await redis.backFor(store)
    assert.equal(await store.get('key'), null)
    await store.put('key', 'again', 60)
    assert.equal(await store.get('key'), 'again')
  })

  test('topics are resubscribed and their listeners are notified of the gap', async () => {
    await using redis = await startRedis()
    const store = await redis.open()
    const gap = Promise.withResolvers<void>()
    const received = Promise.withResolvers<string>()
    await store.subscribe('news', received.resolve, gap.resolve)
    await redis.kill()
    await redis.restart()
    await gap.promise
    await publishTo(redis, 'hello')
    assert.equal(await received.promise, 'hello')
  })

  test('a topic requested during an outage is subscribed afterwards', async () => {
    await using redis = await startRedis()
    const store = await redis.open()
    await redis.kill()
    await assert.rejects(() => store.ping(), EphemeralDown)
    const gap = Promise.withResolvers<void>()
    const received = Promise.withResolvers<string>()
    await store.subscribe('news', received.resolve, gap.resolve)
    await redis.restart()
    await gap.promise
    await publishTo(redis, 'hello')
    assert.equal(await received.promise, 'hello')
  })

  test('a server that is missing at the start is found later', async () => {
    await using redis = await startRedis()
    await redis.kill()
    const store = redisEphemeral(redis.url, { log: silentLog })
    redis.closeWith(store)
    await assert.rejects(() => store.ping(), EphemeralDown)
    await redis.restart()
    await redis.backFor(store)
    await store.put('key', 'value', 60)
  })
})

async function publishTo(redis: RedisServer, message: string): Promise<void> {
  const other = await redis.open()
  await other.publish('news', message)
}
