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
    const heard = Promise.withResolvers<string>()
    await one.subscribe('news', heard.resolve)
    await other.publish('news', 'hello')
    assert.equal(await heard.promise, 'hello')
  })
})

describe('redis that dies and comes back', { skip }, () => {
  test('every command fails while it is away, none waits for it, and works again afterwards', async () => {
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

  test('topics are subscribed again and their listeners told to look', async () => {
    await using redis = await startRedis()
    const store = await redis.open()
    const gap = Promise.withResolvers<void>()
    const heard = Promise.withResolvers<string>()
    await store.subscribe('news', heard.resolve, gap.resolve)
    await redis.kill()
    await redis.restart()
    await gap.promise
    await publishTo(redis, 'hello')
    assert.equal(await heard.promise, 'hello')
  })

  test('a topic asked for while it is away is subscribed when it is there', async () => {
    await using redis = await startRedis()
    const store = await redis.open()
    await redis.kill()
    await assert.rejects(() => store.ping(), EphemeralDown)
    const gap = Promise.withResolvers<void>()
    const heard = Promise.withResolvers<string>()
    await store.subscribe('news', heard.resolve, gap.resolve)
    await redis.restart()
    await gap.promise
    await publishTo(redis, 'hello')
    assert.equal(await heard.promise, 'hello')
  })

  test('a server that is not there at the start is found when it comes', async () => {
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
