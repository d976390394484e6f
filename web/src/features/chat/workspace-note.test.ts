import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storedName, withPaths } from './workspace-note.ts'

test('a message names its files in the workspace', () => {
  assert.equal(withPaths('Sum up.', []), 'Sum up.')
  assert.equal(
    withPaths('Sum up.\n', ['uploads/a.pdf', 'uploads/b.docx']),
    'Sum up.\n\nFiles in the workspace:\n- uploads/a.pdf\n- uploads/b.docx',
  )
})

test('a stored name has no slashes and no invisible characters', () => {
  assert.equal(storedName('Bericht März.pdf'), 'Bericht März.pdf')
  assert.equal(storedName('a\n- b/c\\d\u202e.pdf'), 'a_- b_c_d_.pdf')
})
