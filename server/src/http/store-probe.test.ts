import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseFull } from '../ports/database/port.ts'
import { createTestClock } from '../test/clock.ts'
import { createStoreProbe } from './store-probe.ts'

const clock = () => createTestClock('2030-01-01T00:00:00.000Z')
const fine = { store: 'ephemeral' as const, write: async () => {} }

test('names the stores whose write fails, without the text of unknown errors', async () => {
  const failing = (error: unknown) => ({
    store: 'database' as const,
    write: async () => {
      throw error
    },
  })
  const reasonFor = async (error: unknown) => {
    const problems = await createStoreProbe({ clock: clock(), stores: [fine, failing(error)] })()
    assert.deepEqual(
      problems.map(({ store }) => store),
      ['database'],
    )
    return problems[0]?.reason
  }
  assert.match((await reasonFor(new DatabaseFull('x'))) ?? '', /disk is full/)
  assert.equal(await reasonFor(Object.assign(new Error('/secret'), { code: 'ENOSPC' })), 'The disk is full.')
  assert.equal(
    await reasonFor(Object.assign(new Error('/secret'), { code: 'EROFS' })),
    'Writes fail with EROFS.',
  )
  assert.equal(await reasonFor(new Error('/secret')), 'Writes fail.')
})

test('a write that hangs is reported after two seconds', async () => {
  const time = clock()
  const hanging = { store: 'data_directory' as const, write: () => new Promise<void>(() => {}) }
  const problems = createStoreProbe({ clock: time, stores: [fine, hanging] })()
  await time.advance(2)
  assert.deepEqual(await problems, [{ store: 'data_directory', reason: 'A write took more than 2 seconds.' }])
})

test('many requests share one write for five seconds', async () => {
  const time = clock()
  let writes = 0
  const probe = createStoreProbe({
    clock: time,
    stores: [
      {
        store: 'database',
        write: async () => {
          writes += 1
        },
      },
    ],
  })
  await Promise.all(Array.from({ length: 20 }, probe))
  await time.advance(4)
  await probe()
  assert.equal(writes, 1)
  await time.advance(1)
  await probe()
  assert.equal(writes, 2)
})
