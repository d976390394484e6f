import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queryKeys } from '@roost/contracts/runs/run-query'
import { completed, completionsOf, type QueryValue } from './complete.ts'

const values: Record<string, QueryValue[]> = {
  status: [
    { value: 'failed', hint: 'Failed' },
    { value: 'success', hint: 'Succeeded' },
  ],
  tag: [{ value: 'two words' }, { value: '', hint: 'No tag' }],
  cost: [{ value: '>0.5' }],
}
/** The caret is at `|`. */
function at(marked: string) {
  const caret = marked.indexOf('|')
  const text = marked.replace('|', '')
  const found = completionsOf(text, caret, queryKeys, (key) => values[key] ?? [])
  return {
    inserts: found.options.map(({ insert }) => insert),
    choose(insert: string) {
      const option = found.options.find((each) => each.insert === insert) ?? assert.fail(insert)
      const after = completed(text, found, option)
      return `${after.text.slice(0, after.caret)}|${after.text.slice(after.caret)}`
    },
  }
}

test('an empty word is completed with every filter that the text does not have', () => {
  assert.equal(at('|').inserts.length, queryKeys.length)
  assert.equal(at('status:failed |').inserts.length, queryKeys.length - 1)
  assert.deepEqual(at('t|').inserts, ['trigger:', 'tag:', 'tokens:'])
  assert.deepEqual(at('needle|').inserts, [])
})

test('a value is completed by its text or its meaning', () => {
  assert.deepEqual(at('status:|').inserts, ['status:failed', 'status:success'])
  assert.deepEqual(at('status:succee|').inserts, ['status:success'])
  assert.deepEqual(at('status:failed|').inserts, [])
  assert.deepEqual(at('tag:|').inserts, ['tag:"two words"', 'tag:""'])
  assert.deepEqual(at('tag:"two w|').inserts, ['tag:"two words"'])
  assert.deepEqual(at('unknown:|').inserts, [])
  assert.deepEqual(at('cost:|').inserts, ['cost:>0.5'])
})

test('a completion replaces its word only', () => {
  assert.equal(at('st| agent:scout').choose('status:'), 'status:| agent:scout')
  assert.equal(at('status:fa|').choose('status:failed'), 'status:failed |')
  assert.equal(at('status:fa| needle').choose('status:failed'), 'status:failed |needle')
})
