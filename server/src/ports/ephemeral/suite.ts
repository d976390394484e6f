import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Ephemeral } from './port.ts'

/** `pass(seconds)` advances the store's time. */
export type SuiteStore = { store: Ephemeral; pass(seconds: number): Promise<void> }

/** Tests for every short-lived store. */
export function ephemeralSuite(open: () => Promise<SuiteStore>): void {
  const key = (name: string) => `${name}:${randomBytes(6).toString('hex')}`

  test('answers a ping', async () => {
    const { store } = await open()
    await store.ping()
  })

  test('counts in a window that starts with the first count', async () => {
    const { store, pass } = await open()
    const name = key('count')
    assert.deepEqual(await store.count(name, 2), { count: 1, resetsInSeconds: 2 })
    assert.equal((await store.count(name, 2)).count, 2)
    assert.equal(await store.peek(name), 2)
    await pass(2.1)
    assert.equal(await store.peek(name), 0)
    assert.equal((await store.count(name, 2)).count, 1)
  })

  test('twenty concurrent counts are twenty', async () => {
    const { store } = await open()
    const name = key('count')
    const counts = await Promise.all(Array.from({ length: 20 }, () => store.count(name, 60)))
    const expected = Array.from({ length: 20 }, (_, index) => index + 1)
    assert.deepEqual(
      counts.map(({ count }) => count).toSorted((a, b) => a - b),
      expected,
    )
  })

  test('keeps a value until it expires', async () => {
    const { store, pass } = await open()
    const name = key('value')
    assert.equal(await store.get(name), null)
    await store.put(name, 'wren', 2)
    assert.equal(await store.get(name), 'wren')
    await store.put(name, 'Grüße 🦉', 2)
    assert.equal(await store.get(name), 'Grüße 🦉')
    await pass(2.1)
    assert.equal(await store.get(name), null)
  })

  test('removes a value, even a missing one', async () => {
    const { store } = await open()
    const name = key('value')
    await store.put(name, 'wren', 60)
    await store.remove(name)
    await store.remove(name)
    assert.equal(await store.get(name), null)
  })

  test('of twenty concurrent putIfAbsent calls one succeeds', async () => {
    const { store, pass } = await open()
    const name = key('lock')
    const won = await Promise.all(Array.from({ length: 20 }, (_, i) => store.putIfAbsent(name, `${i}`, 2)))
    assert.equal(won.filter(Boolean).length, 1)
    await pass(2.1)
    assert.equal(await store.putIfAbsent(name, 'later', 2), true)
  })

  test('of twenty concurrent takes one gets the value', async () => {
    const { store } = await open()
    const name = key('ticket')
    await store.put(name, 'wren', 60)
    const results = await Promise.all(Array.from({ length: 20 }, () => store.take(name)))
    assert.deepEqual(
      results.filter((value) => value !== null),
      ['wren'],
    )
  })

  test('every listener gets each message once and in order; closed ones get none', async () => {
    const { store } = await open()
    const topic = key('topic')
    const received: string[][] = [[], [], []]
    const all = Promise.withResolvers<void>()
    const subscriptions = await Promise.all(
      received.map((messages) =>
        store.subscribe(topic, (message) => {
          messages.push(message)
          if (message === 'last' && received.filter((each) => each.includes('last')).length === 2)
            all.resolve()
        }),
      ),
    )
    await subscriptions[2]?.close()
    await store.publish(key('other'), 'not for us')
    for (const message of ['first', 'second', 'last']) await store.publish(topic, message)
    await all.promise
    assert.deepEqual(received, [['first', 'second', 'last'], ['first', 'second', 'last'], []])
  })

  test('a throwing listener affects neither other listeners nor the publisher', async () => {
    const { store } = await open()
    const topic = key('topic')
    const received = Promise.withResolvers<string>()
    await store.subscribe(topic, () => {
      throw new Error('a listener that fails')
    })
    await store.subscribe(topic, received.resolve)
    await store.publish(topic, 'hello')
    assert.equal(await received.promise, 'hello')
  })
}
