import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSession, type SessionChange } from './session.ts'

const key = 'roost.token'
const tokenOf = (sub: string, nth = 1) => `head.${btoa(JSON.stringify({ sub, nth }))}.signature`

/** Tabs of one browser: what one of them stores is told to the others. */
function browser(stored?: string) {
  const items = new Map<string, string>(stored === undefined ? [] : [[key, stored]])
  const all: EventTarget[] = []
  return function tab() {
    const events = new EventTarget()
    all.push(events)
    const tell = (name: string) => {
      const told = Object.assign(new StorageEvent('storage'), { key: name })
      for (const other of all) if (other !== events) other.dispatchEvent(told)
    }
    const storage = {
      getItem: (name: string) => items.get(name) ?? null,
      setItem(name: string, value: string) {
        items.set(name, value)
        tell(name)
      },
      removeItem(name: string) {
        if (items.delete(name)) tell(name)
      },
    }
    // Only what a session uses of a storage.
    const session = createSession(storage as Storage, events, key)
    const changes: SessionChange[] = []
    session.onChange((change) => changes.push(change))
    return { session, changes }
  }
}

/** Node has no such event; what a session reads of it is its key. */
class StorageEvent extends Event {}
globalThis.StorageEvent ??= StorageEvent as typeof globalThis.StorageEvent

test('a session that has lapsed is resumed by the same person, in all tabs', () => {
  const tab = browser(tokenOf('ada'))
  const [one, two] = [tab(), tab()]
  one.session.lapse()
  assert.deepEqual([one.session.isLapsed(), two.session.isLapsed()], [true, true])
  two.session.begin(tokenOf('ada', 2))
  assert.deepEqual(one.changes, ['lapsed', 'resumed'])
  assert.deepEqual(two.changes, ['lapsed', 'resumed'])
  assert.equal(one.session.isLapsed(), false)
})

test('another person replaces the one before', () => {
  const tab = browser(tokenOf('ada'))
  const one = tab()
  one.session.lapse()
  one.session.begin(tokenOf('grace'))
  assert.deepEqual(one.changes, ['lapsed', 'replaced'])
})

test('who signs in where nothing of the one before is shown replaces nobody', () => {
  const one = browser(tokenOf('ada'))()
  one.session.lapse()
  one.session.forget()
  one.session.begin(tokenOf('grace'))
  assert.deepEqual(one.changes, ['lapsed', 'begun'])
})

test('who leaves is gone from all tabs', () => {
  const tab = browser(tokenOf('ada'))
  const [one, two] = [tab(), tab()]
  one.session.end()
  assert.deepEqual([one.changes, two.changes], [['ended'], ['ended']])
  assert.equal(two.session.isLapsed(), false)
  one.session.begin(tokenOf('grace'))
  assert.deepEqual([one.changes.at(-1), two.changes.at(-1)], ['begun', 'begun'])
})

test('who leaves instead of signing in again is gone', () => {
  const tab = browser(tokenOf('ada'))
  const [one, two] = [tab(), tab()]
  one.session.lapse()
  one.session.end()
  assert.deepEqual(
    [one.changes, two.changes],
    [
      ['lapsed', 'ended'],
      ['lapsed', 'ended'],
    ],
  )
  assert.equal(one.session.isLapsed(), false)
})

test('a token that names nobody is resumed by nobody', () => {
  const tab = browser('opaque')
  const one = tab()
  one.session.lapse()
  assert.equal(one.session.isLapsed(), false)
  assert.deepEqual(one.changes, ['ended'])
})
