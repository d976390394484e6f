import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunksOf, holdsLine, lineOfHash } from './chunks.ts'
import { transcriptOf } from './transcript-of.ts'

test('every line belongs to one chunk, including lines without a step', () => {
  const lines = Array.from({ length: 300 }, (_, index) => ({
    _n: index + 1,
    type: index % 3 === 2 ? 'from_the_future' : 'assistant',
    message: { content: `text ${index}` },
  }))
  const chunks = chunksOf(transcriptOf(lines).steps)
  assert.equal(chunks.length, 5)
  for (let line = 1; line <= 300; line += 1) {
    assert.equal(
      chunks.filter((chunk, index) => holdsLine(chunk, chunks[index + 1], line)).length,
      1,
      `line ${line}`,
    )
  }
})

test('reads the line from the address', () => {
  assert.equal(lineOfHash('#L12'), 12)
  for (const hash of ['', '#', '#L', '#L0', '#L-1', '#L1x', '#l1', `#L${'9'.repeat(20)}`])
    assert.equal(lineOfHash(hash), null)
})
