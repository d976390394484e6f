import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { redisServerPath, startRedis } from '../../test/redis.ts'
import { createWorld, type Identity, openIdentity } from '../test/fixture.ts'

const password = 'correct horse battery'
const skip = redisServerPath() ? false : 'redis-server is not installed'

describe('two API processes on one database and Redis', { skip }, () => {
  async function start() {
    const redis = await startRedis()
    const db = await openTestDatabase()
    const world = createWorld()
    const stores = [await redis.open(), await redis.open()] as const
    const one = await openIdentity(db, { ...world, ephemeral: stores[0] })
    const two = await openIdentity(await db.openAgain(), { ...world, ephemeral: stores[1] })
    await one.sessions.setUp({ password }, '192.0.2.1')
    const { access_token } = await one.sessions.signIn({ username: 'admin', password, ip: '192.0.2.1' })
    const end = async () => {
      await one[Symbol.asyncDispose]()
      await two[Symbol.asyncDispose]()
    }
    return { redis, world, one, two, token: access_token, [Symbol.asyncDispose]: end }
  }

  const told = (process: Identity, change?: unknown) =>
    new Promise<void>((resolve) =>
      process.changes.on((heard) => {
        if (change === undefined || heard === change) resolve()
      }),
    )
  const works = async (process: Identity, token: string) => {
    try {
      return (await process.identify(`Bearer ${token}`)).kind !== 'anonymous'
    } catch (error) {
      if (isFault(error, 'invalid_token')) return false
      throw error
    }
  }

  test('a session of one is a session of the other, and ends in both', async () => {
    await using it = await start()
    const { one, two, token } = it
    assert.ok((await works(one, token)) && (await works(two, token)))
    const heard = told(one)
    await two.sessions.logout(await signedIn(two, token))
    assert.equal(await works(two, token), false)
    await heard
    assert.equal(await works(one, token), false)
  })

  test('a message that was lost costs seconds, not the life of the session', async () => {
    await using it = await start()
    const { one, two, token, redis, world } = it
    assert.ok(await works(one, token))
    await redis.kill()
    await two.sessions.logout(await signedIn(two, token))
    assert.equal(await works(two, token), false)
    world.clock.set('2030-01-01T00:00:11.000Z')
    assert.equal(await works(one, token), false)
  })

  test('after an interruption everything is looked up anew', async () => {
    await using it = await start()
    const { one, two, token, redis } = it
    assert.ok(await works(one, token))
    await redis.kill()
    await two.sessions.logout(await signedIn(two, token))
    // The message itself may arrive after all, before it or behind it.
    const looked = told(one, 'all')
    await redis.restart()
    await looked
    assert.equal(await works(one, token), false)
  })

  async function signedIn(process: Identity, token: string) {
    const caller = await process.identify(`Bearer ${token}`)
    assert.ok(caller.kind !== 'anonymous')
    return caller
  }
})
