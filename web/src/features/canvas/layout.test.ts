import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CanvasBlock } from '@roost/contracts/conversations/canvas-blocks'
import { filledSlots } from './layout.ts'

const block = (id: string, slot: string | null = null): CanvasBlock => ({
  id,
  title: null,
  slot,
  kind: 'markdown',
  payload: { markdown: id },
})
const shown = (...args: Parameters<typeof filledSlots>) =>
  filledSlots(...args).map(({ slot, width, blocks }) => [slot, width, blocks.map(({ id }) => id).join()])

test('slots follow the order of the template; blocks without a slot go to the main slot', () => {
  const blocks = [
    block('a', 'footer'),
    block('b'),
    block('c', 'kpis'),
    block('d', 'side'),
    block('e', 'main'),
  ]
  assert.deepEqual(shown('dashboard', blocks), [
    ['kpis', 'whole', 'c'],
    ['main', 'two-thirds', 'b,e'],
    ['side', 'third', 'd'],
    ['footer', 'whole', 'a'],
  ])
})

test('a slot with an empty neighbour takes the width of both', () => {
  assert.deepEqual(shown('dashboard', [block('a', 'side')]), [['side', 'whole', 'a']])
  assert.deepEqual(shown('status-board', [block('a', 'next'), block('b', 'issues')]), [
    ['issues', 'half', 'b'],
    ['next', 'half', 'a'],
  ])
})

test('without a template all blocks are stacked', () => {
  assert.deepEqual(shown(null, [block('a'), block('b')]), [['page', 'whole', 'a,b']])
  assert.deepEqual(shown(null, []), [])
  assert.deepEqual(shown('brief', []), [])
})
