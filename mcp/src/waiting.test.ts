import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWaiting } from './waiting.ts'

type Told = { params: { progress: number; message: string } }

/** What is told, by a caller who asked for it or did not. */
function start(progressToken: string | undefined, notify: (told: Told) => Promise<void>) {
  // Of a call's context this alone is looked at.
  const context = { mcpReq: { _meta: { progressToken }, notify } } as unknown
  return createWaiting(context as Parameters<typeof createWaiting>[0])
}

test('who asked to be told hears every five seconds that it goes on, until it has ended', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const told: string[] = []
  const waiting = start('p', async ({ params }) => void told.push(params.message))
  const work = Promise.withResolvers<string>()
  const waited = waiting('scout is working', work.promise)
  t.mock.timers.tick(14_000)
  assert.equal(told.length, 2)
  assert.match(told[0] ?? '', /^scout is working \(\d+ s\)$/)
  work.resolve('done')
  assert.equal(await waited, 'done')
  t.mock.timers.tick(60_000)
  assert.equal(told.length, 2)
})

test('who did not ask hears nothing; who is gone is told once, and the work goes on', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let tries = 0
  const notify = async () => {
    tries += 1
    throw new Error('gone')
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

test('a failure of the work is that of the call, and nothing is told after it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const told: Told[] = []
  const waiting = start('p', async (each) => void told.push(each))
  await assert.rejects(waiting('x', Promise.reject(new Error('no'))), /no/)
  t.mock.timers.tick(60_000)
  assert.deepEqual(told, [])
})
