import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLeases } from '../../foundation/leases/index.ts'
import { aborted } from '../../kit/clock.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { createLock } from './lock.ts'

test('a renewed lock stays held; a process that was frozen has lost it, before it knows its successor', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const leases = createLeases({ db, clock })
  const [own, other] = [createLock({ leases, clock }), createLock({ leases, clock })]
  assert.throws(() => own.assertHeld('a1'), /lost its lock/)
  await own.run('a1', async () => {
    for (const _ of [1, 2, 3, 4]) {
      await clock.waitingFor(10)
      await clock.advance(10)
      own.assertHeld('a1')
    }
    await clock.waitingFor(10)
    clock.set(new Date(clock.now().getTime() + 31_000))
    assert.throws(() => own.assertHeld('a1'), { code: 'agent_busy' })
    assert.equal(
      await other.tryRun('a1', async () => {
        other.assertHeld('a1')
        assert.throws(() => own.assertHeld('a1'), { code: 'agent_busy' })
        return 'replaced'
      }),
      'replaced',
    )
  })
  assert.throws(() => own.assertHeld('a1'), /lost its lock/)
})

test('work that continues after its lock was lost gets a signal', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const lock = createLock({ leases: createLeases({ db, clock }), clock })
  await lock.run('a1', async (lost) => {
    await clock.waitingFor(10)
    await clock.advance(10)
    await clock.waitingFor(10)
    assert.equal(lost.aborted, false)
    clock.set(new Date(clock.now().getTime() + 31_000))
    await clock.advance(0)
    await aborted(lost)
  })
  assert.equal(await lock.tryRun('a1', async (lost) => lost.aborted), false)
})
