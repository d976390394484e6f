import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDotenv } from '@roost/contracts/kit/dotenv'
import { droppedNames, envText } from './env-file.ts'

test('values with spaces, quotes and line breaks survive a round trip', () => {
  const values = {
    PLAIN: 'https://example.org/a?b=c',
    BLANKS: ' two  words # no comment ',
    DOLLAR: '$HOME `id`',
    DOUBLE: 'say "hi"',
    EMPTY: '',
    BOTH: 'it\'s\r\n"b\\"',
    COMMENT: '# none',
  }
  const text = envText(Object.entries(values).map(([name, value]) => ({ name, value })))
  assert.deepEqual(parseDotenv(text), values)
})

test('a single quote and a line break are escaped', () => {
  assert.equal(envText([{ name: 'A', value: 'it\'s\n"b\\"' }]), 'A="it\'s\\n\\"b\\\\\\""\n')
})

test('names the variables that a new file would drop', () => {
  assert.deepEqual(droppedNames(['A', 'B'], new Set(['B', 'C'])), ['A'])
})
