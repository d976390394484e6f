import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { envText, lostNames } from './env-file.ts'

test('values come back as they were given, blanks, quotes and lines included', () => {
  const values = {
    PLAIN: 'https://example.org/a?b=c',
    BLANKS: ' two  words # no comment ',
    DOLLAR: '$HOME `id`',
    DOUBLE: 'say "hi"',
    EMPTY: '',
  }
  const text = envText(Object.entries(values).map(([name, value]) => ({ name, value })))
  assert.deepEqual({ ...parseEnv(text) }, values)
})

test('a single quote and a line break are written with escapes', () => {
  assert.equal(envText([{ name: 'A', value: 'it\'s\n"b\\"' }]), 'A="it\'s\\n\\"b\\\\\\""\n')
})

test('what a new file would take away is told by name', () => {
  assert.deepEqual(lostNames(['A', 'B'], new Set(['B', 'C'])), ['A'])
})
