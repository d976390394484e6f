import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminalCloseCodes } from '@roost/contracts/agents/terminal'
import { endingOf } from './endings.ts'

test('every close code has its own message; an unknown code means a broken connection', () => {
  const titles = Object.values(terminalCloseCodes).map((code) => endingOf(code, 'exit 0').title)
  assert.equal(new Set(titles).size, titles.length)
  assert.ok(!titles.includes(endingOf(1006, '').title))
})

test('shows the exit code of the shell', () => {
  assert.match(endingOf(1000, 'exit 130').title, /130/)
  assert.match(endingOf(1000, '').title, /broke/)
})
