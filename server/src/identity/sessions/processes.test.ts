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

  const nextChange = (process: Identity, expected?: unknown) =>
    new Promise<void>((resolve) =>
      process.changes.on((change) => {
        if (expected === undefined || change === expected) resolve()
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

  test('a session is valid in both processes and ends in both', async () => {
    await using it = await start()
    const { one, two, token } = it
    assert.ok((await works(one, token)) && (await works(two, token)))
    const change = nextChange(one)
    await two.sessions.logout(await signedIn(two, token))
    assert.equal(await works(two, token), false)
    await change
    assert.equal(await works(one, token), false)
  })

  test('after a lost message a session ends within seconds', async () => {
    await using it = await start()
    const { one, two, token, redis, world } = it
    assert.ok(await works(one, token))
    await redis.kill()
    await two.sessions.logout(await signedIn(two, token))
    assert.equal(await works(two, token), false)
    world.clock.set('2030-01-01T00:00:11.000Z')
    assert.equal(await works(one, token), false)
  })

  test('after an interruption every session is loaded again', async () => {
    await using it = await start()
    const { one, two, token, redis } = it
    assert.ok(await works(one, token))
    await redis.kill()
    await two.sessions.logout(await signedIn(two, token))
    // The message itself may still arrive, before or after it.
    const cleared = nextChange(one, 'all')
    await redis.restart()
    await cleared
    assert.equal(await works(one, token), false)
  })

  async function signedIn(process: Identity, token: string) {
    const caller = await process.identify(`Bearer ${token}`)
    assert.ok(caller.kind !== 'anonymous')
    return caller
  }
})
