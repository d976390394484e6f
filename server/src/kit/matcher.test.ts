import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMatcher } from './matcher.ts'

test('the matcher agrees with a search of each pattern on random texts', () => {
  const random = generator(7)
  const word = (length: number) => Array.from({ length }, () => 'ab'.charAt(random(2))).join('')
  for (let round = 0; round < 300; round += 1) {
    const patterns = [...new Set(Array.from({ length: 1 + random(5) }, () => word(1 + random(6))))]
    const text = word(random(24))
    const matcher = createMatcher(patterns)
    const about = `${patterns.join(' ')} in ${text}`
    const lengths = Array.from({ length: text.length }, (_, at) =>
      Math.max(0, ...patterns.filter((each) => text.startsWith(each, at)).map(({ length }) => length)),
    )
    assert.deepEqual([...matcher.lengths(text)], lengths, about)
    const sizes = Array.from({ length: text.length + 1 }, (_, size) => size)
    const end = sizes.filter((size) =>
      patterns.some((each) => each.length > size && each.startsWith(text.slice(text.length - size))),
    )
    assert.equal(matcher.openEnd(text), Math.max(0, ...end), about)
    const start = sizes.filter((size) => patterns.some((each) => each.endsWith(text.slice(0, size))))
    assert.equal(matcher.openStart(text), Math.max(0, ...start), about)
  }
})

test('without patterns nothing is found', () => {
  const matcher = createMatcher([])
  assert.deepEqual([...matcher.lengths('text')], [0, 0, 0, 0])
  assert.deepEqual([matcher.openEnd('text'), matcher.openStart('text')], [0, 0])
})

/** Numbers below `limit`, the same in each run. */
function generator(seed: number) {
  let state = seed
  return (limit: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % limit
  }
}
