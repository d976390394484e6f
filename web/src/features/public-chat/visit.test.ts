import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVisit, identityOf } from './visit.ts'

function memory(): Storage {
  const kept = new Map<string, string>()
  // What a visit uses of it.
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as Storage
}

test('a browser keeps who it is on each link, and tells whoever looks', () => {
  const storage = memory()
  const visit = createVisit(storage, new EventTarget(), 'a')
  let changes = 0
  visit.onChange(() => (changes += 1))
  assert.deepEqual(visit.identity(), {})
  visit.keep({ session_id: 's1' })
  visit.keep({ session_id: 's1' })
  assert.deepEqual([visit.identity(), changes], [{ session_id: 's1' }, 1])
  assert.deepEqual(createVisit(storage, new EventTarget(), 'a').identity(), { session_id: 's1' })
  assert.deepEqual(createVisit(storage, new EventTarget(), 'b').identity(), {})
  visit.forget()
  assert.deepEqual([visit.identity(), changes], [{}, 2])
})

test('what cannot be read is nobody', () => {
  for (const text of ['', 'nonsense', '7', 'null', '{"session_id":7}']) assert.deepEqual(identityOf(text), {})
  assert.deepEqual(identityOf('{"session_token":"t","more":1}'), { session_token: 't' })
})
