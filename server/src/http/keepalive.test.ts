import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../kit/fault.ts'
import { createTestClock } from '../test/clock.ts'
import { keepingAlive } from './keepalive.ts'
import type { Answer, StreamAnswer } from './route.ts'

const everySeconds = 15

function start() {
  const clock = createTestClock()
  const work = Promise.withResolvers<object>()
  return { clock, work, reply: keepingAlive(work.promise, { clock, everySeconds }) }
}

async function streamOf(reply: Promise<Answer | StreamAnswer>): Promise<AsyncIterator<string | Uint8Array>> {
  const value = await reply
  assert.ok('stream' in value)
  assert.equal(value.contentType, 'application/json; charset=utf-8')
  return value.body[Symbol.asyncIterator]()
}

test('work that ends before the first interval is an ordinary response', async () => {
  const { work, reply } = start()
  work.resolve({ done: true })
  assert.deepEqual(await reply, { answer: true, body: { done: true } })
})

test('an error before the first interval is thrown', async () => {
  const { work, reply } = start()
  work.reject(new Fault('not_found'))
  await assert.rejects(reply, { code: 'not_found' })
})

test('spaces precede the document of longer work, one for each interval', async () => {
  const { clock, work, reply } = start()
  await clock.waitingFor(everySeconds)
  await clock.advance(everySeconds)
  const stream = await streamOf(reply)
  let text = String((await stream.next()).value)
  for (let interval = 0; interval < 2; interval += 1) {
    const next = stream.next()
    await clock.waitingFor(everySeconds)
    await clock.advance(everySeconds)
    text += (await next).value
  }
  const last = stream.next()
  await clock.waitingFor(everySeconds)
  work.resolve({ done: true })
  text += (await last).value
  assert.equal(text, '   {"done":true}')
  assert.deepEqual(JSON.parse(text), { done: true })
  assert.equal((await stream.next()).done, true)
})

test('an error of longer work breaks the response off', async () => {
  const { clock, work, reply } = start()
  await clock.waitingFor(everySeconds)
  await clock.advance(everySeconds)
  const stream = await streamOf(reply)
  await stream.next()
  const next = stream.next()
  await clock.waitingFor(everySeconds)
  work.reject(new Fault('store_unavailable'))
  await assert.rejects(next, { code: 'store_unavailable' })
})
