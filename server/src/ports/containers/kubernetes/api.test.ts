import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, beforeEach, test } from 'node:test'
import { createTestCertificates } from '../../../test/certificates.ts'
import { createTestClock } from '../../../test/clock.ts'
import { ContainerError } from '../port.ts'
import { hasFault } from '../test/harness.ts'
import { createApi } from './api.ts'
import type { Credential } from './credentials.ts'
import { openTestApi } from './test/test-api.ts'

const createCertificate = createTestCertificates()
const certificate = createCertificate('api')
const server = await openTestApi(certificate)
const clock = createTestClock()
const options = { namespace: 'agents', clock }
const api = createApi(server.connection, options)
after(async () => {
  api.close()
  await server.close()
})
beforeEach(() => {
  server.intercept(null)
  server.requests.length = 0
})

const reply = (response: ServerResponse, status: number, body: unknown, headers = {}) => {
  response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  return true
}
const refused = (status: number, body: unknown, headers = {}) =>
  server.intercept((_request, response) => reply(response, status, body, headers))

async function faultOf(work: Promise<unknown>): Promise<{ fault: string; message: string }> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ContainerError, String(error))
  return { fault: error.fault, message: error.message }
}

test('a request has the token, and a list only of metadata names its type', async () => {
  await api.list('secrets', { labelSelector: 'a=b' }, { onlyMetadata: true })
  const [request] = server.requests
  assert.equal(request?.path, '/api/v1/namespaces/agents/secrets')
  assert.equal(request.headers.authorization, 'Bearer secret-token')
  assert.match(request.headers.accept ?? '', /as=PartialObjectMetadataList;g=meta\.k8s\.io;v=v1/)
  assert.equal(request.query.get('labelSelector'), 'a=b')
  assert.equal(api.ownAddress, '127.0.0.1')
})

test('a certificate of another authority is engine_down, and no token is sent', async () => {
  const other = createApi({ ...server.connection, ca: createCertificate('other').cert }, options)
  await assert.rejects(other.version(), hasFault('engine_down'))
  assert.deepEqual(server.requests, [])
})

test('a certificate for another name is engine_down', async () => {
  const other = createApi({ ...server.connection, serverName: 'kubernetes.example' }, options)
  await assert.rejects(other.version(), hasFault('engine_down'))
})

test('refusals become faults with the API’s sentence', async () => {
  const cannot =
    'pods is forbidden: User "system:serviceaccount:roost:roost" cannot list resource "pods" in API group "" in the namespace "agents"'
  const quota =
    'pods "a" is forbidden: exceeded quota: team, requested: limits.cpu=2,pods=1, used: limits.cpu=8,pods=9, limited: limits.cpu=8,pods=10'
  const table: [number, unknown, ContainerError['fault'], RegExp][] = [
    [401, { message: 'Unauthorized' }, 'engine_fault', /does not accept the credentials/],
    [
      403,
      { message: cannot },
      'engine_fault',
      /roost:roost lacks the right "list" on pods in the namespace agents/,
    ],
    [
      403,
      { message: quota },
      'quota_exceeded',
      /^The quota team of the namespace is exhausted: requested limits\.cpu=2,pods=1, used limits\.cpu=8,pods=9, limit limits\.cpu=8,pods=10\.$/,
    ],
    [
      403,
      { message: 'pods "a" is forbidden: pod rejected: RuntimeClass "kata" not found' },
      'runtime_missing',
      /no RuntimeClass kata/,
    ],
    [403, { message: 'denied by a policy' }, 'engine_fault', /list pods: denied by a policy/],
    [422, { message: 'Pod "a" is invalid: spec' }, 'engine_fault', /Pod "a" is invalid: spec/],
    [429, { message: 'slow' }, 'engine_down', /overloaded/],
    [500, { message: 'etcdserver: leader changed' }, 'engine_down', /leader changed/],
    [500, { message: 'failed calling webhook "x"' }, 'engine_fault', /webhook "x"/],
    [503, '<html>no backend</html>', 'engine_down', /no backend/],
    [404, '', 'engine_fault', /status 404/],
  ]
  for (const [status, body, fault, message] of table) {
    refused(status, body)
    const found = await faultOf(api.list('pods', {}))
    assert.equal(found.fault, fault, String(status))
    assert.match(found.message, message)
  }
})

test('429 with Retry-After is repeated after that time', async () => {
  let count = 0
  server.intercept((_request, response) => {
    count += 1
    return count === 1 ? reply(response, 429, {}, { 'retry-after': '2' }) : false
  })
  const answer = api.version()
  await clock.waitingFor(2)
  await clock.advance(2)
  assert.equal((await answer).gitVersion, 'v1.30.0')
})

test('a server that stays overloaded is engine_down after three attempts', async () => {
  refused(429, {}, { 'retry-after': '1' })
  const answer = faultOf(api.version())
  for (let attempt = 1; attempt < 3; attempt += 1) {
    await clock.waitingFor(1)
    await clock.advance(1)
  }
  assert.equal((await answer).fault, 'engine_down')
  assert.equal(server.requests.length, 3)
})

test('a long Retry-After is not waited for', async () => {
  refused(429, {}, { 'retry-after': '60' })
  assert.equal((await faultOf(api.version())).fault, 'engine_down')
  assert.equal(server.requests.length, 1)
})

test('credentials that the API refuses are renewed once', async () => {
  const given: Credential[] = [{ token: 'old' }, { token: 'new' }]
  const credentials = { current: async () => given[0] ?? {}, forget: () => given.shift() !== undefined }
  const renewing = createApi({ ...server.connection, credentials }, options)
  server.intercept(({ headers }, response) =>
    headers.authorization === 'Bearer new' ? false : reply(response, 401, {}),
  )
  assert.equal((await renewing.version()).gitVersion, 'v1.30.0')
  server.intercept((_request, response) => reply(response, 401, {}))
  assert.equal((await faultOf(renewing.version())).fault, 'engine_fault')
  renewing.close()
})

test('a server that does not answer is engine_down after the limit', async () => {
  const hasty = createApi(server.connection, { ...options, timeoutMs: 50 })
  server.intercept(() => true)
  const { fault, message } = await faultOf(hasty.version())
  assert.equal(fault, 'engine_down')
  assert.match(message, /no answer in time/)
  hasty.close()
})

test('a reply that is cut is engine_down', async () => {
  server.intercept((_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"gitVersion"')
    setImmediate(server.cut)
    return true
  })
  assert.equal((await faultOf(api.version())).fault, 'engine_down')
})

test('a caller that gives up ends the request', async () => {
  const controller = new AbortController()
  server.intercept(() => {
    controller.abort()
    return true
  })
  assert.match((await faultOf(api.version(controller.signal))).message, /given up by the caller/)
})

test('a reply that is no JSON is engine_fault', async () => {
  refused(200, 'hello')
  assert.equal((await faultOf(api.version())).fault, 'engine_fault')
})

test('a list is read page by page', async () => {
  const pages = [
    { metadata: { resourceVersion: '7', continue: 'next' }, items: [{ metadata: { name: 'a' } }] },
    { metadata: { resourceVersion: '7' }, items: [{ metadata: { name: 'b' } }] },
  ]
  server.intercept(({ query }, response) => reply(response, 200, pages[query.has('continue') ? 1 : 0]))
  const found = await api.list<{ metadata: { name: string } }>('pods', {})
  assert.deepEqual(
    found.items.map(({ metadata }) => metadata.name),
    ['a', 'b'],
  )
  assert.equal(found.metadata.resourceVersion, '7')
})
