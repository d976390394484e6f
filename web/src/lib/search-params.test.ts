import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flag, oneOf, searchOf, text, whole } from './search-params.ts'

const read = searchOf({
  q: text,
  page: whole(1),
  hours: whole(0, 24),
  create: flag,
  view: oneOf(['tiles', 'table']),
})

test('known parameters are passed on, unknown ones are dropped', () => {
  const known = { q: 'mail', page: 2, hours: 24, create: false, view: 'table' }
  assert.deepEqual(read({ ...known, utm: 'x' }), known)
})

test('an invalid value is dropped and the other parameters stay', () => {
  for (const wrong of [
    { q: 5 },
    { page: 0 },
    { page: 1.5 },
    { page: '1' },
    { hours: 25 },
    { hours: -1 },
    { create: 'yes' },
    { view: 'globe' },
    { q: null },
  ]) {
    assert.deepEqual(read({ view: 'tiles', q: 'mail', ...wrong }), {
      ...('q' in wrong ? {} : { q: 'mail' }),
      ...('view' in wrong ? {} : { view: 'tiles' }),
    })
  }
})
