import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { createOpenPieces, wholeKinds } from './open-pieces.ts'

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

test('only blocks of the main agent count as complete, not those of subagents', () => {
  const line = (type: 'text' | 'thinking', parent?: string): TranscriptLine => ({
    type: 'assistant',
    message: {
      role: 'assistant',
      content: [type === 'text' ? { type, text: 'a' } : { type, thinking: 'a' }],
    },
    ...(parent === undefined ? {} : { parent_tool_use_id: parent }),
  })
  assert.deepEqual(wholeKinds([line('text'), line('thinking', 't1')]), ['text'])
  assert.deepEqual(wholeKinds([line('thinking'), line('text')]), ['text', 'thinking'])
  assert.deepEqual(wholeKinds([{ type: 'system', subtype: 'notice', level: 'info', message: 'a' }]), [])
})
