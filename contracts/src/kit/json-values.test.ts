import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasMoreValues } from './json-values.ts'

/** The number of values by parsing, as the reference. */
function valuesOf(value: unknown): number {
  const items = typeof value === 'object' && value !== null ? Object.values(value) : []
  return items.reduce<number>((sum, item) => sum + valuesOf(item), 1)
}

test('values are counted exactly, whatever strings contain', () => {
  const texts = [
    '1',
    '"[1,2,3]"',
    '[]',
    ' [ ] ',
    '{ \n}',
    '[[],{},[[]]]',
    '[1,"a,b",null,true]',
    '{"a":1,"b,[":[2,{"c":"}"}]}',
    '{"a\\"b,c":"\\\\","d":"\\\\\\",[","e":[1,2]}',
    '["ä,[", "\\u005b", ",,"]',
    // Longer than the part of a string that is searched byte by byte.
    ...[62, 63, 64, 65, 66].flatMap((length) =>
      ['', '\\', '"', '\\"', '"\\', '\\\\"'].map((text) =>
        JSON.stringify([`${'x'.repeat(length)}${text}`, `${text}${'[,'.repeat(length)}${text}`, 1]),
      ),
    ),
    `${'['.repeat(50)}1,2${']'.repeat(50)}`,
  ]
  for (const text of texts) {
    const [bytes, values] = [Buffer.from(text), valuesOf(JSON.parse(text))]
    assert.equal(hasMoreValues(bytes, values), false, text)
    assert.equal(hasMoreValues(bytes, values - 1), true, text)
  }
})
