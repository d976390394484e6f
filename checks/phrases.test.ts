import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Phrase, phraseProblems } from './phrases.ts'

const phrases: Phrase[] = [{ pattern: /\bwhat is none\b/i, instead: 'an invalid value' }]

test('a phrase is reported with its file, line and a plain wording', () => {
  assert.deepEqual(phraseProblems('docs/a.md', 'First.\nIt refuses what is none.', phrases), [
    'docs/a.md:2: "what is none": write "an invalid value" or similar',
  ])
})

test('a phrase broken over two lines of a comment is found once', () => {
  const text = '/**\n * It refuses what\n * is none.\n */'
  assert.equal(phraseProblems('server/src/a.ts', text, phrases).length, 1)
})

test('plain wording passes', () => {
  assert.deepEqual(phraseProblems('docs/a.md', 'It refuses an invalid value.\nNone is left.', phrases), [])
})
