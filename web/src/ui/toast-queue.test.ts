import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createToastQueue } from './toast-queue.ts'

it('keeps a closed message until its exit animation ends', () => {
  const queue = createToastQueue()
  const close = queue.add({ title: 'Saved' })
  close()
  assert.deepEqual(
    queue.current().map((item) => item.isOpen),
    [false],
  )
  queue.remove(queue.current()[0]?.id ?? 0)
  assert.equal(queue.current().length, 0)
})

it('drops the oldest message beyond its limit', () => {
  const queue = createToastQueue(2)
  for (const title of ['one', 'two', 'three']) queue.add({ title })
  assert.deepEqual(
    queue.current().map((item) => item.title),
    ['two', 'three'],
  )
})

it('notifies listeners until they unsubscribe', () => {
  const queue = createToastQueue()
  let calls = 0
  const leave = queue.subscribe(() => calls++)
  queue.add({ title: 'one' })
  leave()
  queue.add({ title: 'two' })
  assert.equal(calls, 1)
})
