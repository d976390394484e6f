import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileTypeOf } from './file-type.ts'

test('binary files are named by their ending', () => {
  assert.equal(fileTypeOf('Report.PDF'), 'PDF document')
  assert.equal(fileTypeOf('backup.tar.gz'), 'Archive')
  assert.equal(fileTypeOf('plan.xlsx'), 'Spreadsheet')
  assert.equal(fileTypeOf('a.out'), 'Binary file')
  assert.equal(fileTypeOf('Makefile'), 'Binary file')
})
