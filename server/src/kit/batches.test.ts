import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import { type BatchEntry, type BatchOptions, createBatches } from './batches.ts'

type Item = { key: string; number: number }
type Options = Partial<BatchOptions<Item, string>>

/** Each batch waits for its gate; `batches` are the numbers of their items. */
function start(options: Options = {}) {
  const batches: number[][] = []
  const gates: PromiseWithResolvers<void>[] = []
  const add = createBatches<Item, string>({
    maxItems: 10,
    keyOf: ({ key }) => key,
    async run(entries) {
      batches.push(entries.map(({ item }) => item.number))
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      await gate.promise
      for (const { item, resolve } of entries) resolve(`${item.key}${item.number}`)
    },
    ...options,
  })
  let opened = 0
  return {
    batches,
    addAll: (...items: Item[]) => items.map(add),
    /** Lets the next batch end. */
    async finish(): Promise<void> {
      gates[opened]?.resolve()
      opened += 1
      await immediate()
    },
  }
}

const items = (count: number, key: (number: number) => string = (number) => `k${number}`) =>
  Array.from({ length: count }, (_, number) => ({ key: key(number), number }))

test('concurrent calls form one batch, and later ones the next; each call gets its own result', async () => {
  const { addAll, batches, finish } = start()
  const first = addAll(...items(3))
  await immediate()
  const second = addAll({ key: 'a', number: 7 }, { key: 'b', number: 8 })
  await immediate()
  assert.deepEqual(batches, [[0, 1, 2]])
  await finish()
  assert.deepEqual(await Promise.all(first), ['k00', 'k11', 'k22'])
  assert.deepEqual(batches, [
    [0, 1, 2],
    [7, 8],
  ])
  await finish()
  assert.deepEqual(await Promise.all(second), ['a7', 'b8'])
})

test('a call without company runs alone', async () => {
  const { addAll, finish, batches } = start()
  const [only] = addAll({ key: 'a', number: 1 })
  await immediate()
  await finish()
  assert.equal(await only, 'a1')
  assert.deepEqual(batches, [[1]])
})

test('a batch has at most maxItems, and at most maxPerKey of one key, in order', async () => {
  const { addAll, batches, finish } = start({ maxItems: 3, maxPerKey: 1 })
  const all = addAll(...items(6, (number) => (number < 3 ? 'same' : `k${number}`)))
  await immediate()
  for (let batch = 0; batch < 3; batch += 1) await finish()
  await Promise.all(all)
  assert.deepEqual(batches, [[0, 3, 4], [1, 5], [2]])
})

test('items of one key are never in two concurrent batches', async () => {
  const { addAll, batches, finish } = start({ maxItems: 2, maxConcurrent: 2 })
  const all = addAll(...items(5, (number) => (number === 4 ? 'other' : 'same')))
  await immediate()
  assert.deepEqual(batches, [[0, 1], [4]])
  await finish()
  assert.deepEqual(batches, [[0, 1], [4], [2, 3]])
  await finish()
  await finish()
  await Promise.all(all)
})

test('an item that does not fit waits for a batch of its own', async () => {
  const { addAll, batches, finish } = start({ fits: (first, item) => first.number % 2 === item.number % 2 })
  const all = addAll(...items(5))
  await immediate()
  await finish()
  await finish()
  await Promise.all(all)
  assert.deepEqual(batches, [
    [0, 2, 4],
    [1, 3],
  ])
})

test('compare orders the waiting items', async () => {
  const { addAll, batches, finish } = start({
    maxItems: 2,
    compare: (one, other) => one.number - other.number,
  })
  const all = addAll(...[3, 1, 2, 0].map((number) => ({ key: `k${number}`, number })))
  await immediate()
  await finish()
  await finish()
  await Promise.all(all)
  assert.deepEqual(batches, [
    [0, 1],
    [2, 3],
  ])
})

/** Fails for number 2, and then settles nobody. */
function failing(batches: number[][]) {
  return async (entries: readonly BatchEntry<Item, string>[]) => {
    batches.push(entries.map(({ item }) => item.number))
    if (entries.some(({ item }) => item.number === 2)) throw new Error('number 2')
    for (const { item, resolve } of entries) resolve(item.key)
  }
}

test('a failed batch is repeated item by item, so that one failure costs the others nothing', async () => {
  const batches: number[][] = []
  const { addAll } = start({ run: failing(batches), repeatsAlone: () => true })
  const results = await Promise.allSettled(addAll(...items(4)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(batches, [[0, 1, 2, 3], [0], [1], [2], [3]])
})

test('a failure that must not be repeated rejects the batch, and later items still run', async () => {
  const batches: number[][] = []
  const { addAll } = start({ run: failing(batches), maxItems: 3 })
  const results = await Promise.allSettled(addAll(...items(4)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(batches, [[0, 1, 2], [3]])
})

test('an item that a batch leaves open is rejected', async () => {
  const { addAll } = start({ run: async ([first]) => first?.resolve('done') })
  const [first, second] = addAll(...items(2))
  assert.equal(await first, 'done')
  await assert.rejects(second ?? Promise.resolve(), /without a result/)
})
