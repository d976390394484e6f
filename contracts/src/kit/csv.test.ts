import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvCell, csvRow } from './csv.ts'

test('no cell is evaluated by a spreadsheet, and every text is one cell', () => {
  const cases: [unknown, string][] = [
    ['plain', 'plain'],
    [null, ''],
    [-3, '-3'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['  =1', "'  =1"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['\uff1d1', "'\uff1d1"],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ['a,b', '"a,b"'],
    ['a\nb', '"a\nb"'],
    [{ a: '=1' }, '"{""a"":""=1""}"'],
  ]
  for (const [value, text] of cases) assert.equal(csvCell(value), text)
})

test('a row ends with a line break and keeps empty cells', () => {
  assert.equal(csvRow(['a', null, 3, '']), 'a,,3,\r\n')
})
