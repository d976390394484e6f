import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { fireStore } from '../fires/index.ts'
import { createGroup } from './group.ts'

const decision = { outcome: 'fired', reason: null, execution_id: 'x', recorded_at: '' } as const

forEachDialect((_dialect, open) => {
  test('a hundred at once are all kept, in fewer transactions; one that fails is kept from nobody else', async () => {
    await using db = await open()
    let transactions = 0
    const group = createGroup({
      atomically(work) {
        transactions += 1
        return db.atomically(work)
      },
    })
    const works = Array.from({ length: 100 }, (_, number) =>
      group(`${number % 7}`, async (tx) => {
        await fireStore(tx).decide({ schedule_id: `${number}`, due_at: 'now', agent_id: 'a' }, decision)
      }),
    )
    await Promise.all(works)
    assert.equal((await fireStore(db).last(Array.from({ length: 100 }, (_, n) => `${n}`))).length, 100)
    const asked = Array.from({ length: 450 }, (_, n) => `${449 - n}`)
    assert.deepEqual((await fireStore(db).last(asked)).length, 100)
    assert.deepEqual(await fireStore(db).last([]), [])
    assert.ok(transactions < 30, `${transactions}`)

    const mixed = await Promise.allSettled(
      Array.from({ length: 40 }, (_, number) =>
        group('same', async (tx) => {
          await fireStore(tx).decide({ schedule_id: `b${number}`, due_at: 'now', agent_id: 'a' }, decision)
          if (number === 20) throw new Error('not this one')
        }),
      ),
    )
    assert.deepEqual(
      mixed.flatMap(({ status }, number) => (status === 'rejected' ? [number] : [])),
      [20],
    )
    assert.equal((await fireStore(db).last(Array.from({ length: 40 }, (_, n) => `b${n}`))).length, 39)
  })
})
