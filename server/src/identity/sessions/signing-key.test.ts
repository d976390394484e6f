import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { asSealed, createVault } from '../../foundation/vault/index.ts'
import { systemClock } from '../../kit/clock.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import { redisEphemeral } from '../../ports/ephemeral/redis.ts'
import { silentLog } from '../../ports/log.ts'
import { redisServerPath, startRedis } from '../../test/redis.ts'
import { openSigningKeys, type SigningKeys } from './signing-key.ts'

const vault = createVault(randomBytes(32))

async function start(ephemeral: Ephemeral) {
  const keys = await openSigningKeys({ ephemeral, vault, clock: systemClock, log: silentLog })
  return { ...keys, [Symbol.asyncDispose]: keys.close }
}

function same(...processes: SigningKeys[]): boolean {
  const texts = processes.map((keys) => keys.current().epoch + keys.current().key.export().toString('hex'))
  return new Set(texts).size === 1
}

function replaced(keys: SigningKeys): Promise<void> {
  return new Promise((resolve) => keys.onReplaced(resolve))
}

test('a single process has a new key and a new epoch with each boot', async () => {
  const ephemeral = memoryEphemeral({ clock: systemClock, log: silentLog })
  await using first = await start(ephemeral)
  await using second = await start(ephemeral)
  assert.equal(same(first, second), false)
  assert.notEqual(first.current().epoch, second.current().epoch)
})

const skip = redisServerPath() ? false : 'redis-server is not installed'
describe('several processes on Redis', { skip }, () => {
  test('share one key, including those that start later', async () => {
    const redis = await startRedis()
    await using first = await start(await redis.open())
    const { epoch } = first.current()
    await using second = await start(await redis.open())
    await using third = await start(await redis.open())
    assert.ok(same(first, second, third))
    assert.equal(third.current().epoch, epoch)
  })

  test('agree when six start concurrently', async () => {
    const redis = await startRedis()
    const stores = await Promise.all(Array.from({ length: 6 }, () => redis.open()))
    const processes = await Promise.all(stores.map(start))
    assert.ok(same(...processes))
    for (const process of processes) await process.close()
  })

  test('never adopt the key of an ended boot, however quick the restart', async () => {
    const redis = await startRedis()
    const before = await start(await redis.open())
    const { epoch } = before.current()
    // As after kill -9: the key is still stored, but no process answers for it.
    await before.close()
    await using after = await start(await redis.open())
    assert.notEqual(after.current().epoch, epoch)
  })

  test('keep the key while one of them runs', async () => {
    const redis = await startRedis()
    const first = await start(await redis.open())
    await using second = await start(await redis.open())
    const { epoch } = first.current()
    await first.close()
    await using third = await start(await redis.open())
    assert.ok(same(second, third))
    assert.equal(third.current().epoch, epoch)
  })

  test('store the key again when the store has lost it', async () => {
    const redis = await startRedis()
    const store = await redis.open()
    await using first = await start(store)
    await store.remove('identity:signing-key')
    await using second = await start(await redis.open())
    assert.ok(same(first, second))
  })

  test('never store the key unencrypted', async () => {
    const redis = await startRedis()
    const store = await redis.open()
    await using process = await start(store)
    const stored = await store.get('identity:signing-key')
    assert.ok(stored)
    for (const encoding of ['base64', 'base64url', 'hex'] as const)
      assert.ok(!stored.includes(process.current().key.export().toString(encoding)))
    assert.throws(() => createVault(randomBytes(32)).open(asSealed(stored), 'identity.signing-key'))
  })

  test('agree once the store is back after a start without it', async () => {
    const redis = await startRedis()
    await redis.kill()
    const open = () => {
      const store = redisEphemeral(redis.url, { log: silentLog })
      redis.closeWith(store)
      return store
    }
    // The start waits only briefly for the store; each process signs with its own key until then.
    const [first, second] = await Promise.all([start(open()), start(open())])
    assert.equal(same(first, second), false)
    const agreed = Promise.race([replaced(first), replaced(second)])
    await redis.restart()
    await agreed
    assert.ok(same(first, second))
    await first.close()
    await second.close()
  })

  test('keep their key through a restart of the store', async () => {
    const redis = await startRedis()
    const [one, two] = [await redis.open(), await redis.open()]
    await using first = await start(one)
    await using second = await start(two)
    const { epoch } = first.current()
    await redis.kill()
    await redis.restart()
    await Promise.all([redis.backFor(one), redis.backFor(two)])
    await using third = await start(await redis.open())
    assert.ok(same(first, second, third))
    assert.equal(third.current().epoch, epoch)
  })
})
