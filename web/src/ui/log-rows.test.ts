import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf, logRows, maxRowLength, maxRows } from './log-rows.ts'
import { findInRows, markSpans, maxMatches, patternOf } from './log-search.ts'

test('lines become numbered rows, long lines several rows', () => {
  const long = 'x'.repeat(maxRowLength * 2 + 1)
  const { texts, numbers, omitted } = logRows(linesOf(`a\n\n${long}\nb\n`))
  assert.deepEqual(
    texts.map(({ length }) => length),
    [1, 0, maxRowLength, maxRowLength, 1, 1],
  )
  assert.deepEqual(numbers, [1, 2, 3, 0, 0, 4])
  assert.equal(omitted, 0)
  assert.deepEqual(logRows(linesOf('')).texts, [])
})

test('a progress bar shows its last state', () => {
  assert.deepEqual(logRows(['10%\r50%\r100%\r', 'a\r']).texts, ['100%', 'a'])
})

test('only the newest rows are kept beyond the row limit', () => {
  const rows = logRows(linesOf('x\n'.repeat(maxRows + 10)))
  assert.deepEqual([rows.texts.length, rows.numbers[0], rows.omitted], [maxRows, 11, 10])
})

const query = { text: 'Err', isRegex: false, isCaseSensitive: false }

test('a search finds text or patterns, with or without case, across colours', () => {
  const rows = ['err Err', '\x1b[31mE\x1b[0mrr', 'e.r']
  const search = (change: object) => {
    const pattern = patternOf({ ...query, ...change })
    return pattern && [...findInRows(rows, pattern).found]
  }
  assert.deepEqual(search({}), [0, 0, 3, 0, 4, 7, 1, 0, 3])
  assert.deepEqual(search({ isCaseSensitive: true }), [0, 4, 7, 1, 0, 3])
  assert.deepEqual(search({ text: 'e.r' }), [2, 0, 3])
  assert.deepEqual(search({ text: '^e.r$', isRegex: true }), [1, 0, 3, 2, 0, 3])
  assert.deepEqual(search({ text: 'z*', isRegex: true }), [])
  assert.equal(search({ text: '(', isRegex: true }), null)
})

test('the number of matches is limited', () => {
  const pattern = patternOf({ ...query, text: 'x' })
  assert.ok(pattern)
  const { found, isCut } = findInRows(['x'.repeat(maxMatches + 1)], pattern)
  assert.deepEqual([found.length, isCut], [maxMatches * 3, true])
})

test('a match is marked across pieces of different styles', () => {
  const spans = [
    { text: 'abc', className: 'x' },
    { text: 'def', className: '' },
  ]
  const ranges = [
    { match: 0, start: 0, end: 1 },
    { match: 1, start: 2, end: 5 },
  ]
  assert.deepEqual(
    markSpans(spans, ranges).map(({ text, match }) => [text, match]),
    [
      ['a', 0],
      ['b', null],
      ['c', 1],
      ['de', 1],
      ['f', null],
    ],
  )
  assert.deepEqual(
    markSpans(spans, []).map(({ text }) => text),
    ['abc', 'def'],
  )
})

test('5 MB are split and searched in linear time', () => {
  const text = 'a line of a log with some words in it\n'.repeat(5e6 / 38)
  const startedAt = performance.now()
  const { texts } = logRows(linesOf(text))
  const pattern = patternOf({ ...query, text: 'words' })
  assert.ok(pattern && findInRows(texts, pattern).isCut)
  assert.ok(performance.now() - startedAt < 20_000)
})
