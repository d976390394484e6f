import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { createLeases, holdLease, type Lease } from './index.ts'

forEachDialect((_dialect, open) => {
  test('one of twenty concurrent takers gets the lease', async () => {
    await using db = await open()
    await using other = await db.openAgain()
    const clock = createTestClock()
    const [here, there] = [createLeases({ db, clock }), createLeases({ db: other, clock })]
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? here : there).take('sweep', `holder-${i}`, 60)),
    )
    assert.equal(taken.filter((lease) => lease !== null).length, 1)
  })

  test('one of twenty concurrent takers gets an expired lease, with a greater token', async () => {
    await using db = await open()
    const clock = createTestClock()
    const leases = createLeases({ db, clock })
    const first = present(await leases.take('sweep', 'first', 60))
    assert.equal(await leases.take('sweep', 'second', 60), null)
    await clock.advance(60)
    const taken = await Promise.all(Array.from({ length: 20 }, (_, i) => leases.take('sweep', `${i}`, 60)))
    const [winner, ...others] = taken.filter((lease) => lease !== null)
    assert.equal(others.length, 0)
    assert.ok(present(winner).token > first.token)
  })

  test('a released lease is free, even after the clock was set back', async () => {
    await using db = await open()
    const clock = createTestClock()
    const leases = createLeases({ db, clock })
    const lease = await leases.take('sweep', 'a', 15)
    assert.ok(lease)
    await leases.release(lease)
    clock.set(new Date(clock.now().getTime() - 3_600_000))
    assert.ok(await leases.take('sweep', 'b', 15))
  })

  test('an overtaken holder can neither renew nor release the lease', async () => {
    await using db = await open()
    const clock = createTestClock()
    const leases = createLeases({ db, clock })
    const first = present(await leases.take('sweep', 'first', 60))
    await clock.advance(30)
    assert.equal(await leases.renew(first, 60), true)
    await clock.advance(60)
    assert.equal(await leases.renew(first, 60), false)
    const second = present(await leases.take('sweep', 'second', 60))
    assert.equal(await leases.renew(first, 60), false)
    await leases.release(first)
    assert.equal(await leases.take('sweep', 'third', 60), null)
    await leases.release(second)
    assert.ok(present(await leases.take('sweep', 'third', 60)).token > second.token)
  })

  test('renewAll renews the holder’s leases that have not expired, and no others', async () => {
    await using db = await open()
    const clock = createTestClock()
    const leases = createLeases({ db, clock })
    await leases.take('short', 'me', 10)
    await leases.take('long', 'me', 60)
    await leases.take('other', 'you', 60)
    await clock.advance(20)
    const renewed = await leases.renewAll('me', 60)
    assert.deepEqual(
      renewed.map(({ name }) => name),
      ['long'],
    )
  })
})

/** A holder whose database answers renewals with the given function. */
async function openHolder(renew: () => Promise<boolean>) {
  const clock = createTestClock()
  const released: string[] = []
  const hold = await holdLease(
    {
      clock,
      leases: {
        take: async (name, holder) => ({ name, holder, token: 1 }),
        renew,
        async release({ name }) {
          released.push(name)
          throw new Error('down')
        },
      },
    },
    { name: 'sweep', holder: 'me', seconds: 10 },
  )
  assert.ok(hold)
  return { clock, hold, released }
}

test('a held lease survives an outage of the database that is shorter than the lease', async () => {
  const answers = ['up', 'down', 'down', 'up', 'down', 'down'].values()
  const { clock, hold, released } = await openHolder(async () => {
    if (answers.next().value === 'down') throw new Error('down')
    return true
  })
  for (let renewal = 0; renewal < 6; renewal += 1) {
    await clock.waitingFor(3)
    await clock.advance(3)
  }
  assert.equal(hold.lost.aborted, false)
  await clock.waitingFor(3)
  await hold.release()
  assert.deepEqual(released, ['sweep'])
})

test('a held lease is lost at its end if the database does not answer, and immediately to another holder', async () => {
  const outage = await openHolder(() => Promise.reject(new Error('down')))
  for (let renewal = 0; renewal < 4; renewal += 1) {
    assert.equal(outage.hold.lost.aborted, false)
    await outage.clock.waitingFor(3)
    await outage.clock.advance(3)
  }
  assert.match(String(outage.hold.lost.reason), /lost the lease sweep/)
  const overtaken = await openHolder(async () => false)
  await overtaken.clock.waitingFor(3)
  await overtaken.clock.advance(3)
  assert.equal(overtaken.hold.lost.aborted, true)
})

function present(lease: Lease | null | undefined): Lease {
  assert.ok(lease)
  return lease
}
