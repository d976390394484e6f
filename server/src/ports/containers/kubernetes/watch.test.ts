import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, beforeEach, test } from 'node:test'
import { createTestCertificates } from '../../../test/certificates.ts'
import { createTestClock } from '../../../test/clock.ts'
import { hasFault } from '../test/harness.ts'
import { createApi } from './api.ts'
import { isStatus } from './faults.ts'
import { openTestApi, type TestRequest } from './test/test-api.ts'
import { type Change, watch } from './watch.ts'

const server = await openTestApi(createTestCertificates()('api'))
const api = createApi(server.connection, { namespace: 'agents', clock: createTestClock() })
after(async () => {
  api.close()
  await server.close()
})
beforeEach(() => {
  server.requests.length = 0
})

const line = (type: string, resourceVersion: string, name = 'a') =>
  `${JSON.stringify({ type, object: { metadata: { name, resourceVersion } } })}\n`

/** Answers the watches in order; the last answer serves all further ones. */
function script(...answers: ((response: ServerResponse, request: TestRequest) => void)[]): void {
  let at = 0
  server.intercept((request, response) => {
    response.writeHead(200)
    response.flushHeaders()
    answers[Math.min(at, answers.length - 1)]?.(response, request)
    at += 1
    return true
  })
}

function follow(more: { idleSeconds?: number; signal?: AbortSignal } = {}) {
  const signal = more.signal ?? new AbortController().signal
  return watch(api, 'pods', { labelSelector: 'a=b' }, { resourceVersion: '5', ...more, signal })
}
const nameIn = (change: IteratorResult<Change<{ metadata: { name: string } }>>) =>
  change.done ? null : `${change.value.type} ${change.value.object.metadata.name}`
const versions = () => server.requests.map(({ query }) => query.get('resourceVersion'))

test('changes are yielded; after a regular end the watch goes on from the last bookmark', async () => {
  script(
    (response) => response.end(line('ADDED', '6') + line('BOOKMARK', '9')),
    (response) => void response.write(line('DELETED', '10')),
  )
  const changes = follow()
  assert.equal(nameIn((await changes.next()) as never), 'ADDED a')
  assert.equal(nameIn((await changes.next()) as never), 'DELETED a')
  assert.deepEqual(versions(), ['5', '9'])
  const [first] = server.requests
  assert.equal(first?.query.get('allowWatchBookmarks'), 'true')
  const seconds = Number(first?.query.get('timeoutSeconds'))
  assert.ok(seconds >= 280 && seconds <= 350, String(seconds))
  await changes.return(undefined)
})

test('a line that arrives in pieces is read whole', async () => {
  const whole = Buffer.from(line('ADDED', '6', 'ä'.repeat(100)))
  script((response) => {
    let at = 0
    const next = () => {
      if (at >= whole.length) return
      response.write(whole.subarray(at, at + 37), next)
      at += 37
    }
    next()
  })
  const changes = follow()
  assert.equal(nameIn((await changes.next()) as never), `ADDED ${'ä'.repeat(100)}`)
  await changes.return(undefined)
})

test('a version that is too old is thrown with status 410, in the reply or in the stream', async () => {
  const gone = { code: 410, reason: 'Expired', message: 'too old resource version: 5 (9)' }
  script((response) => void response.write(`${JSON.stringify({ type: 'ERROR', object: gone })}\n`))
  await assert.rejects(follow().next(), (error) => isStatus(error, 410))
  server.intercept((_request, response) => {
    response.writeHead(410).end(JSON.stringify(gone))
    return true
  })
  await assert.rejects(follow().next(), (error) => isStatus(error, 410))
})

test('a cut connection is engine_down', async () => {
  script((response) => void response.write(line('ADDED', '6'), () => setImmediate(server.cut)))
  const changes = follow()
  await changes.next()
  await assert.rejects(changes.next(), hasFault('engine_down'))
})

test('a line that ends too early is engine_down', async () => {
  script((response) => response.end('{"type":"ADD'))
  await assert.rejects(follow().next(), hasFault('engine_down'))
})

test('a silent connection is replaced, from the last change', async () => {
  script(
    (response) => void response.write(line('ADDED', '6')),
    (response) => void response.write(line('MODIFIED', '7')),
  )
  const changes = follow({ idleSeconds: 0.05 })
  assert.equal(nameIn((await changes.next()) as never), 'ADDED a')
  assert.equal(nameIn((await changes.next()) as never), 'MODIFIED a')
  assert.deepEqual(versions().slice(0, 2), ['5', '6'])
  await changes.return(undefined)
})

test('a watch that is closed immediately is engine_down, so that the caller pauses', async () => {
  script((response) => response.end())
  await assert.rejects(follow().next(), hasFault('engine_down'))
  assert.equal(server.requests.length, 1)
})

test('an abort ends the watch without an error', async () => {
  const controller = new AbortController()
  script(() => controller.abort())
  assert.deepEqual(await follow({ signal: controller.signal }).next(), { done: true, value: undefined })
})
