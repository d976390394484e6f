import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSession, type SessionChange } from './session.ts'

const key = 'roost.token'
const tokenOf = (sub: string, nth = 1) => `head.${btoa(JSON.stringify({ sub, nth }))}.signature`

/** Tabs of one browser: each change to the storage fires an event in the other tabs. */
function browser(stored?: string) {
  const items = new Map<string, string>(stored === undefined ? [] : [[key, stored]])
  const all: EventTarget[] = []
  return function tab() {
    const events = new EventTarget()
    all.push(events)
    const notify = (name: string) => {
      const event = Object.assign(new StorageEvent('storage'), { key: name })
      for (const other of all) if (other !== events) other.dispatchEvent(event)
    }
    const storage = {
      getItem: (name: string) => items.get(name) ?? null,
      setItem(name: string, value: string) {
        items.set(name, value)
        notify(name)
      },
      removeItem(name: string) {
        if (items.delete(name)) notify(name)
      },
    }
    // Only the members that a session uses.
    const session = createSession(storage as Storage, events, key)
    const changes: SessionChange[] = []
    session.onChange((change) => changes.push(change))
    return { session, changes }
  }
}

/** Node has no `StorageEvent`; a session reads only its key. */
class StorageEvent extends Event {}
globalThis.StorageEvent ??= StorageEvent as typeof globalThis.StorageEvent

test('the same person resumes a lapsed session in all tabs', () => {
  const tab = browser(tokenOf('ada'))
  const [one, two] = [tab(), tab()]
  one.session.lapse()
  assert.deepEqual([one.session.isLapsed(), two.session.isLapsed()], [true, true])
  two.session.begin(tokenOf('ada', 2))
  assert.deepEqual(one.changes, ['lapsed', 'resumed'])
  assert.deepEqual(two.changes, ['lapsed', 'resumed'])
  assert.equal(one.session.isLapsed(), false)
})

test('another person replaces the previous one', () => {
  const tab = browser(tokenOf('ada'))
  const one = tab()
  one.session.lapse()
  one.session.begin(tokenOf('grace'))
  assert.deepEqual(one.changes, ['lapsed', 'replaced'])
})

test('signing in on a page without data of the previous person begins a new session', () => {
  const one = browser(tokenOf('ada'))()
  one.session.lapse()
  one.session.forget()
  one.session.begin(tokenOf('grace'))
  assert.deepEqual(one.changes, ['lapsed', 'begun'])
})

test('signing out ends the session in all tabs', () => {
  const tab = browser(tokenOf('ada'))
  const [one, two] = [tab(), tab()]
  one.session.end()
  assert.deepEqual([one.changes, two.changes], [['ended'], ['ended']])
  assert.equal(two.session.isLapsed(), false)
  one.session.begin(tokenOf('grace'))
  assert.deepEqual([one.changes.at(-1), two.changes.at(-1)], ['begun', 'begun'])
})

test('signing out of a lapsed session ends it', () => {
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

test('a token without a subject is never resumed', () => {
  const tab = browser('opaque')
  const one = tab()
  one.session.lapse()
  assert.equal(one.session.isLapsed(), false)
  assert.deepEqual(one.changes, ['ended'])
})
