import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldSentence } from './field-sentence.ts'

test('a rule becomes a sentence that names the field; a sentence is kept', () => {
  const table: [label: string, error: string, sentence: string][] = [
    ['Name', 'must not be empty', 'Name must not be empty.'],
    ['Run as?', 'is required', 'Run as is required.'],
    ['Cron expression', '"61 * * * *" is not valid.', '"61 * * * *" is not valid.'],
    ['Time zone', 'No such zone', 'No such zone.'],
    ['Pattern', 'must match the pattern /^a$/', 'Pattern must match the pattern /^a$/.'],
  ]
  for (const [label, error, sentence] of table) assert.equal(fieldSentence(label, error), sentence)
})
