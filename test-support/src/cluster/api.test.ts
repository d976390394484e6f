import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Api, ApiError, openApi } from './api.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const object = (name: string, version: number) => ({
  metadata: { name, uid: name, resourceVersion: String(version) },
})
const list = (version: number, ...items: object[]) =>
  JSON.stringify({ metadata: { resourceVersion: String(version) }, items })
const event = (type: string, value: object) => `${JSON.stringify({ type, object: value })}\n`

test('a refused request throws the status and the sentence of the server', async (t) => {
  const api = await serve(t, (_, response) => {
    response.writeHead(404).end(JSON.stringify({ kind: 'Status', message: 'pods "x" not found' }))
  })
  await assert.rejects(api.request('GET', '/x'), (error) => {
    assert.ok(error instanceof ApiError)
    assert.equal(error.status, 404)
    assert.match(error.message, /pods "x" not found/)
    return true
  })
})

test('a followed collection changes with its events, and is listed again after an expired version', async (t) => {
  let lists = 0
  const api = await serve(t, (request, response) => {
    if (!request.url?.includes('watch=1')) {
      lists += 1
      response.end(lists === 1 ? list(5, object('a', 1)) : list(9, object('c', 9)))
      return
    }
    if (!request.url.includes('resourceVersion=5')) return
    // One event in two chunks, as a network may split it.
    const added = event('ADDED', object('b', 6))
    response.write(added.slice(0, 10))
    response.write(added.slice(10) + event('DELETED', object('a', 7)))
    response.end(event('ERROR', { code: 410 }))
  })
  const stop = new AbortController()
  const seen: string[] = []
  const reached = Promise.withResolvers<void>()
  const following = api.follow(
    '/things',
    (objects) => {
      seen.push(objects.map(({ metadata }) => metadata.name).join())
      if (seen.at(-1) === 'c') reached.resolve()
    },
    stop.signal,
  )
  await reached.promise
  stop.abort()
  await following
  assert.deepEqual(seen, ['a', 'a,b', 'b', 'c'])
})

test('waiting for a state rejects with the last state when the time is over', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const api = await serve(t, (request, response) => {
    if (!request.url?.includes('watch=1')) response.end(list(1, object('lonely', 1)))
  })
  const listed = Promise.withResolvers<void>()
  const waiting = api.until('/things', () => listed.resolve(), 50)
  await listed.promise
  t.mock.timers.tick(50)
  await assert.rejects(waiting, /did not reach the state within 50 ms:[\s\S]*lonely/)
})

/** Starts an API server with a certificate of its own, and returns a client of it. */
async function serve(t: TestContext, handler: Handler): Promise<Api> {
  const folder = mkdtempSync(join(tmpdir(), 'roost-api-'))
  const [certFile, keyFile] = [join(folder, 'crt'), join(folder, 'key')]
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile]
  const names = ['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', ...newKey, ...names, '-days', '1', '-out', certFile], {
    stdio: 'pipe',
  })
  const [cert, key] = [readFileSync(certFile, 'utf8'), readFileSync(keyFile, 'utf8')]
  rmSync(folder, { recursive: true })
  const server = createServer({ cert, key }, handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const api = openApi(`https://127.0.0.1:${port}`, { ca: cert, cert, key })
  t.after(() => {
    api.close()
    server.closeAllConnections()
    server.close()
  })
  return api
}
