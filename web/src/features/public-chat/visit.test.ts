import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVisit, identityOf } from './visit.ts'

function memory(): Storage {
  const stored = new Map<string, string>()
  // Only the members that a visit uses.
  return {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  } as Storage
}

test('a browser stores its identity per link and notifies listeners', () => {
  const storage = memory()
  const visit = createVisit(storage, new EventTarget(), 'a')
  let changes = 0
  visit.onChange(() => (changes += 1))
  assert.deepEqual(visit.identity(), {})
  visit.store({ session_id: 's1' })
  visit.store({ session_id: 's1' })
  assert.deepEqual([visit.identity(), changes], [{ session_id: 's1' }, 1])
  assert.deepEqual(createVisit(storage, new EventTarget(), 'a').identity(), { session_id: 's1' })
  assert.deepEqual(createVisit(storage, new EventTarget(), 'b').identity(), {})
  visit.forget()
  assert.deepEqual([visit.identity(), changes], [{}, 2])
})

test('unreadable storage means no identity', () => {
  for (const text of ['', 'nonsense', '7', 'null', '{"session_id":7}']) assert.deepEqual(identityOf(text), {})
  assert.deepEqual(identityOf('{"session_token":"t","more":1}'), { session_token: 't' })
})
