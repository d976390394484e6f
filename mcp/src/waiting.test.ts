import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWaiting } from './waiting.ts'

type Notification = { params: { progress: number; message: string } }

/** Records the notifications to a caller with or without a progress token. */
function start(progressToken: string | undefined, notify: (notifications: Notification) => Promise<void>) {
  // The only fields of the context that are used.
  const context = { mcpReq: { _meta: { progressToken }, notify } } as unknown
  return createWaiting(context as Parameters<typeof createWaiting>[0])
}

test('a caller with a progress token gets a notification every five seconds until the work ends', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const notifications: string[] = []
  const waiting = start('p', async ({ params }) => void notifications.push(params.message))
  const work = Promise.withResolvers<string>()
  const waited = waiting('scout is working', work.promise)
  t.mock.timers.tick(14_000)
  assert.equal(notifications.length, 2)
  assert.match(notifications[0] ?? '', /^scout is working \(\d+ s\)$/)
  work.resolve('done')
  assert.equal(await waited, 'done')
  t.mock.timers.tick(60_000)
  assert.equal(notifications.length, 2)
})

test('no notification without a token; one failed notification stops them, and the work continues', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let tries = 0
  const notify = async () => {
    tries += 1
    throw new Error('disconnected')
  }
  const silent = start(undefined, notify)('x', Promise.resolve(1))
  t.mock.timers.tick(60_000)
  assert.deepEqual([await silent, tries], [1, 0])
  const work = Promise.withResolvers<number>()
  const waited = start('p', notify)('x', work.promise)
  t.mock.timers.tick(5_000)
  await Promise.resolve()
  await Promise.resolve()
  t.mock.timers.tick(60_000)
  assert.equal(tries, 1)
  work.resolve(2)
  assert.equal(await waited, 2)
})

test('a failure of the work fails the call and stops notifications', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const notifications: Notification[] = []
  const waiting = start('p', async (each) => void notifications.push(each))
  await assert.rejects(waiting('x', Promise.reject(new Error('no'))), /no/)
  t.mock.timers.tick(60_000)
  assert.deepEqual(notifications, [])
})
