import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mostColumns, mostRows, parseCsv } from './csv.ts'

test('reads quotes, delimiters and line ends inside of them', () => {
  assert.deepEqual(parseCsv('name,note\r\n"Ann","says ""hi"", and\nleaves"\r\nBob,\r\n'), {
    columns: ['name', 'note'],
    rows: [
      ['Ann', 'says "hi", and\nleaves'],
      ['Bob', ''],
    ],
    isCut: false,
  })
})

test('finds the delimiter in the first line', () => {
  for (const delimiter of [',', ';', '\t', '|'])
    assert.deepEqual(parseCsv(['a', 'b'].join(delimiter)).columns, ['a', 'b'], delimiter)
  assert.deepEqual(parseCsv('"a,b,c";d\n1,5;2').rows, [['1,5', '2']])
  assert.deepEqual(parseCsv('one column\nvalue').columns, ['one column'])
})

test('rows of other lengths, empty lines, a byte order mark and a missing quote', () => {
  assert.deepEqual(parseCsv('\uFEFFa,b\n\n1\n1,2,3\n'), {
    columns: ['a', 'b', ''],
    rows: [['1'], ['1', '2', '3']],
    isCut: false,
  })
  assert.deepEqual(parseCsv('a,b\n"open,1\n2').rows, [['open,1\n2']])
  assert.deepEqual(parseCsv('a\n5" pipe').rows, [['5" pipe']])
  assert.deepEqual(parseCsv(''), { columns: [], rows: [], isCut: false })
})

test('very many rows and columns are cut', () => {
  const long = parseCsv(`a\n${'1\n'.repeat(mostRows + 5)}`)
  assert.deepEqual([long.rows.length, long.isCut], [mostRows, true])
  const wide = parseCsv(`${'a,'.repeat(mostColumns)}b\n`)
  assert.deepEqual([wide.columns.length, wide.isCut], [mostColumns, true])
})
