import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../kit/ids.ts'
import { createLines, mostTogether } from './line.ts'

/** What is committed waits until `end` is called. */
function startLines(count: number) {
  const batches: string[][] = []
  const ends: (() => void)[] = []
  const enter = createLines<string, string>(count, async (items) => {
    batches.push([...items])
    await new Promise<void>((resolve) => ends.push(resolve))
    return items.map((value) => ({ status: 'fulfilled', value }))
  })
  const soon = () => new Promise((resolve) => setImmediate(resolve))
  return { batches, ends, enter, soon }
}

test('ids are spread over the lines, and one id stays on its own', async () => {
  const lines = startLines(2)
  const ids = Array.from({ length: 2 * mostTogether }, newId)
  const entered = [...ids, ...ids].map((id, index) => lines.enter(id, id, index))
  await lines.soon()
  assert.equal(lines.batches.length, 2, 'two are committed at a time')
  for (let ended = 0; ended < lines.ends.length; ended += 1) {
    lines.ends[ended]?.()
    await lines.soon()
  }
  assert.deepEqual(await Promise.all(entered), [...ids, ...ids])
  const [one = [], other = []] = lines.batches
  assert.equal(one.length, mostTogether)
  assert.equal(other.length, mostTogether)
  assert.deepEqual(
    one.filter((id) => other.includes(id)),
    [],
  )
})

test('what comes while a batch is on its way is the next one, in its order', async () => {
  const lines = startLines(1)
  const first = lines.enter('a', 'first', 0)
  await lines.soon()
  const rest = [lines.enter('a', 'third', 2), lines.enter('a', 'second', 1)]
  lines.ends[0]?.()
  await first
  await lines.soon()
  lines.ends[1]?.()
  await Promise.all(rest)
  assert.deepEqual(lines.batches, [['first'], ['second', 'third']])
})

test('a batch that fails fails its own items only', async () => {
  let isBroken = true
  const enter = createLines<string, string>(1, async (items) => {
    if (isBroken) throw new Error('broken')
    return items.map((value) => ({ status: 'fulfilled', value }))
  })
  await assert.rejects(enter('a', 'one', 0), /broken/)
  isBroken = false
  assert.equal(await enter('a', 'two', 1), 'two')
})
