import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commonAnswerOf } from './common-answer.ts'

const offering = (...options: string[]) => ({ options, entry_now: null, diverged: false })

test('a common answer is an option that all items offer, in the order of the first', () => {
  const items = [offering('Approve', 'Later', 'Reject'), offering('Reject', 'Approve')]
  assert.deepEqual(commonAnswerOf(items), { by: 'option', options: ['Approve', 'Reject'] })
})

test('items without options share a text answer; options and text do not mix', () => {
  assert.deepEqual(commonAnswerOf([offering(), offering()]), { by: 'text' })
  assert.deepEqual(commonAnswerOf([offering(), offering('Yes')]), { by: 'nothing' })
  assert.deepEqual(commonAnswerOf([offering('No'), offering('Yes')]), { by: 'nothing' })
})

test('changed items are ignored', () => {
  const changed = { ...offering('Green'), diverged: true }
  assert.deepEqual(commonAnswerOf([offering('Yes'), changed]), { by: 'option', options: ['Yes'] })
  assert.deepEqual(commonAnswerOf([changed]), { by: 'nothing' })
})
