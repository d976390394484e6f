import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDotenv } from './dotenv.ts'

test('common forms of .env lines are parsed', () => {
  const text = [
    '\uFEFF# a comment',
    'PLAIN=value with blanks  # and a comment',
    'export EXPORTED=1',
    'HASH=a#b',
    'EMPTY=',
    "SINGLE='as $it \\n is # here'",
    'DOUBLE="line\\nnext \\"quoted\\" # kept"',
    'MULTI="first',
    'second"',
    'URL=https://host/?a=b&c=d',
    'not an assignment',
    '  INDENTED = x',
    '1BAD=x',
  ].join('\r\n')
  assert.deepEqual(parseDotenv(text), {
    PLAIN: 'value with blanks',
    EXPORTED: '1',
    HASH: 'a#b',
    EMPTY: '',
    SINGLE: 'as $it \\n is # here',
    DOUBLE: 'line\nnext "quoted" # kept',
    MULTI: 'first\nsecond',
    URL: 'https://host/?a=b&c=d',
    INDENTED: 'x',
  })
})
