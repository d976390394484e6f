import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileTypeOf, mediaTypeOf } from './file-type.ts'

test('binary files are named by their ending', () => {
  assert.equal(fileTypeOf('Report.PDF'), 'PDF document')
  assert.equal(fileTypeOf('backup.tar.gz'), 'Archive')
  assert.equal(fileTypeOf('plan.xlsx'), 'Spreadsheet')
  assert.equal(fileTypeOf('a.out'), 'Binary file')
  assert.equal(fileTypeOf('Makefile'), 'Binary file')
})

test('browsers play the common kinds of audio and video', () => {
  assert.equal(mediaTypeOf('call.MP3'), 'audio/mpeg')
  assert.equal(mediaTypeOf('demo.mp4'), 'video/mp4')
  assert.equal(mediaTypeOf('a.constructor'), null)
  assert.equal(mediaTypeOf('film.avi'), null)
})
