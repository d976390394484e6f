import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminalCloseCodes } from '@roost/contracts/agents/terminal'
import { endingOf } from './endings.ts'

test('every code of the platform has words of its own, and what is not known is a broken connection', () => {
  const titles = Object.values(terminalCloseCodes).map((code) => endingOf(code, 'exit 0').title)
  assert.equal(new Set(titles).size, titles.length)
  assert.ok(!titles.includes(endingOf(1006, '').title))
})

test('the code of the shell is told', () => {
  assert.match(endingOf(1000, 'exit 130').title, /130/)
  assert.match(endingOf(1000, '').title, /broke/)
})
