import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOpenPieces } from './open-pieces.ts'

const piece = (text: string, kind: 'text' | 'thinking' = 'text') => ({
  type: 'partial' as const,
  kind,
  text,
})

test('the pieces of a block are joined until the block is complete', () => {
  const open = createOpenPieces()
  assert.deepEqual(
    ['Hel', 'lo'].map((text) => open.next('e1', piece(text)).at),
    [0, 3],
  )
  open.next('e1', piece('hm', 'thinking'))
  assert.deepEqual(open.of('e1'), [
    { ...piece('Hello'), at: 0 },
    { ...piece('hm', 'thinking'), at: 0 },
  ])
  assert.equal(open.close('e1', ['text']), true)
  assert.equal(open.close('e1', ['text']), false)
  assert.equal(open.next('e1', piece('New')).at, 0)
  assert.deepEqual(
    open.of('e1').map(({ text }) => text),
    ['New', 'hm'],
  )
  assert.deepEqual(open.of('e2'), [])
})

test('a block with a gap is omitted; the next block is not', () => {
  const open = createOpenPieces()
  open.add('e1', { ...piece('lo'), at: 3 })
  open.add('e1', { ...piece(' you'), at: 5 })
  assert.deepEqual(open.of('e1'), [])
  open.add('e1', { ...piece('New'), at: 0 })
  open.add('e1', { ...piece(' one'), at: 3 })
  assert.deepEqual(open.of('e1'), [{ ...piece('New one'), at: 0 }])
})

test('the length of a block and the number of runs are limited', () => {
  const open = createOpenPieces()
  open.next('e1', piece('x'.repeat(1024 * 1024)))
  assert.equal(open.next('e1', piece('y')).at, 1024 * 1024)
  assert.deepEqual(open.of('e1'), [])
  for (let run = 0; run <= 1000; run += 1) open.next(`r${run}`, piece('x'))
  assert.deepEqual([open.of('r0').length, open.of('r1').length], [0, 1])
})

test('a process that gets the pieces in the middle of a block counts on from the agent', () => {
  const open = createOpenPieces()
  assert.equal(open.next('e1', piece('lo'), 3).at, 3)
  assert.equal(open.next('e1', piece(' you'), 5).at, 5)
  assert.deepEqual(open.of('e1'), [], 'the start is not known')
  // A reader has followed the run here.
  open.add('e2', { ...piece('Hel'), at: 0 })
  assert.equal(open.isSource('e2'), false)
  assert.equal(open.next('e2', piece('lo'), 3).at, 3)
  assert.equal(open.isSource('e2'), true)
  assert.deepEqual(open.of('e2'), [{ ...piece('Hello'), at: 0 }])
  open.add('e3', { ...piece('Hel'), at: 0 })
  assert.equal(open.next('e3', piece('you'), 6).at, 6)
  assert.deepEqual(open.of('e3'), [], 'a piece is missing')
})

test('offsets count the text that readers get, not that of the agent', () => {
  const open = createOpenPieces()
  open.next('e1', piece('[secret]'), 0)
  assert.equal(open.next('e1', piece(' and'), 40).at, 8)
})
