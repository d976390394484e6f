import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alikeOf } from './alike.ts'

const offering = (...options: string[]) => ({ options, entry_now: null, diverged: false })

test('an answer to all is one that each of them offers, in the order of the first', () => {
  const items = [offering('Approve', 'Later', 'Reject'), offering('Reject', 'Approve')]
  assert.deepEqual(alikeOf(items), { by: 'option', options: ['Approve', 'Reject'] })
})

test('where none offers options any text answers all; options and text do not mix', () => {
  assert.deepEqual(alikeOf([offering(), offering()]), { by: 'text' })
  assert.deepEqual(alikeOf([offering(), offering('Yes')]), { by: 'nothing' })
  assert.deepEqual(alikeOf([offering('No'), offering('Yes')]), { by: 'nothing' })
})

test('what has changed since does not count', () => {
  const changed = { ...offering('Green'), diverged: true }
  assert.deepEqual(alikeOf([offering('Yes'), changed]), { by: 'option', options: ['Yes'] })
  assert.deepEqual(alikeOf([changed]), { by: 'nothing' })
})
