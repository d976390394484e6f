import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../../agents/test/world.ts'
import { createWorld } from '../../identity/test/fixture.ts'
import { isFault } from '../../kit/fault.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { redisServerPath, startRedis } from '../../test/redis.ts'
import { dial, isNumber, numbers } from './test/client.ts'
import { eventAbout, startProcess } from './test/world.ts'

const skip = redisServerPath() ? false : 'there is no redis-server'

forEachDialect((_dialect, open) => {
  describe('two processes on one database and Redis', { skip }, () => {
    test('a ticket of one opens a socket at the other; events and access changes reach both', async () => {
      await using it = await start(open)
      const { one, two, ann, ben, agent } = it
      const ticket = await one.tickets.mint(ben)
      await using benSees = await dial(`${two.url}/ws?ticket=${ticket}`)
      await benSees.next('connected')
      await using used = await dial(`${one.url}/ws?ticket=${ticket}`)
      assert.equal((await used.closed).code, 4001)
      await using annSees = await two.watch(ann)
      await one.about([agent], { n: 1 })
      await annSees.next(isNumber(1))
      await one.share(agent, ben.user.email)
      await one.about([agent], { n: 2 })
      await annSees.next(isNumber(2))
      one.outbox.signal(eventAbout([agent], { n: 3 }, { type: 'agent.activity' }))
      await benSees.next(isNumber(3))
      await one.unshare(agent, ben.user.email, lostAccess(agent))
      await one.about([agent], { n: 5 })
      await one.about([], { n: 6 }, { type: 'notifications.cleared' })
      await benSees.next(isNumber(6))
      assert.deepEqual(numbers(benSees.events()), [2, 3, 6])
      await one.changeUser(ben.user.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
      assert.equal((await benSees.closed).code, 4001)
    })

    for (const fault of ['stopped', 'frozen'] as const) {
      test(`while Redis is ${fault} tickets are 503, open sockets stay open and miss nothing`, async () => {
        await using it = await start(open)
        const { one, two, ann, ben, agent, redis } = it
        await one.share(agent, ben.user.email)
        await using here = await one.watch(ann)
        await using there = await two.watch(ann)
        await using benThere = await two.watch(ben)
        const late = await one.tickets.mint(ann)
        if (fault === 'stopped') await redis.kill()
        else redis.freeze()
        const startedAt = performance.now()
        await assert.rejects(one.tickets.mint(ann), (error) => isFault(error, 'ephemeral_unavailable'))
        assert.ok(performance.now() - startedAt < 4_000)
        await assert.rejects(dial(`${one.url}/ws?ticket=${late}`), /503/)

        await one.about([agent], { n: 1 })
        await here.next(isNumber(1))
        await one.unshare(agent, ben.user.email, lostAccess(agent))
        await one.about([agent], { n: 2 })
        // The other process finds the lost change in its periodic check.
        await Promise.all([it.poll(), there.next(isNumber(2))])
        await one.about([], { n: 3 }, { type: 'notifications.cleared' })
        await Promise.all([it.poll(), benThere.next(isNumber(3))])
        assert.ok(!numbers(benThere.events()).includes(2))

        if (fault === 'stopped') await redis.restart()
        else redis.thaw()
        await Promise.all(it.stores.map((store) => redis.backFor(store)))
        await using back = await two.watch(ann, '0000000000000000')
        await back.next(isNumber(3))
        for (const client of [here, there, back]) {
          assert.deepEqual(
            numbers(client.events().filter(({ type }) => type !== 'agent_unshared')),
            [1, 2, 3],
          )
        }
      })
    }
  })
})

const maxPollSeconds = 6.5

const lostAccess = (agent: Parameters<typeof eventAbout>[0][number]) =>
  eventAbout([agent], { n: 4 }, { type: 'agent.unshared' })

async function start(open: OpenTestDb) {
  const redis = await startRedis()
  const db = await open()
  const otherDb = await db.openAgain()
  const world = createWorld()
  const stores = [await redis.open(), await redis.open()] as const
  const one = await startProcess(db, { ...world, ephemeral: stores[0] })
  const two = await startProcess(otherDb, { ...world, ephemeral: stores[1] })
  const [ann, ben] = [await one.person('creator'), await one.person()]
  const agent = await one.addAgent(ann)
  return {
    redis,
    stores,
    one,
    two,
    ann,
    ben,
    agent,
    /** Lets both relays poll. */
    async poll() {
      const soon = () => world.clock.waits().filter((seconds) => seconds <= maxPollSeconds)
      await until(() => soon().length >= 2, 'both relays wait')
      await world.clock.advance(maxPollSeconds)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([one, two].map((each) => each[Symbol.asyncDispose]()))
      await Promise.all([db, otherDb].map((each) => each[Symbol.asyncDispose]()))
      await redis[Symbol.asyncDispose]()
    },
  }
}
