import assert from 'node:assert/strict'
import { test } from 'node:test'
import { piecesOf } from './text-pieces.ts'

test('pieces are bounded and add up to the text', () => {
  const lines = Array.from({ length: 2000 }, (_, index) => `line ${index}`).join('\n')
  assert.equal(piecesOf(lines).join('\n'), lines)
  const solid = 'x🚀'.repeat(10_000)
  assert.equal(piecesOf(solid).join(''), solid)
  for (const piece of [...piecesOf(lines), ...piecesOf(solid)]) {
    assert.ok(piece.length <= 4001)
    assert.ok(piece.isWellFormed())
  }
  assert.deepEqual(piecesOf(''), [])
  assert.deepEqual(piecesOf('a\n'), ['a\n'])
})
