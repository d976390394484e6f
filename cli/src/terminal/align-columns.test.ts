import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commands } from '../commands.ts'
import { alignColumns } from './align-columns.ts'

test('descriptions start in one column, and continued lines follow', () => {
  assert.deepEqual(
    alignColumns([
      'agents create AGENT',
      '    Create an agent.',
      '    --model NAME     the model',
      '                     of all its runs',
      '    --instructions TEXT  custom instructions',
      '',
      'Text without columns.',
    ]),
    [
      'agents create AGENT',
      '    Create an agent.',
      '    --model NAME         the model',
      '                         of all its runs',
      '    --instructions TEXT  custom instructions',
      '',
      'Text without columns.',
    ],
  )
})

test('every option of every command has its description in the column of its neighbours', () => {
  for (const { name, usage } of commands) {
    const columns = new Map<string, Set<number>>()
    for (const line of alignColumns(usage)) {
      const option = /^( *)-.*? {2,}(?=\S)/.exec(line)
      if (!option) {
        assert.doesNotMatch(line, /^ *--\S+ [A-Z]+ [a-z]/, `roost ${name}: one space before the description`)
        continue
      }
      const [start, indent = ''] = option
      columns.set(indent, (columns.get(indent) ?? new Set()).add(start.length))
    }
    for (const [indent, found] of columns)
      assert.equal(found.size, 1, `roost ${name}, indented by ${indent.length}: ${[...found]}`)
  }
})
