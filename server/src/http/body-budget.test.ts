import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import { endpoints } from '@roost/contracts'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { failuresOf } from '@roost/contracts/kit/failures'
import { defaultBodyLimit, megabyte } from '@roost/contracts/kit/primitives'
import { z } from 'zod'
import { silentLog } from '../ports/log.ts'
import { createBodyBudget } from './body-budget.ts'
import { route } from './route.ts'
import { createServer } from './serve.ts'

const large = endpoint({
  id: 'large',
  method: 'POST',
  path: '/large',
  summary: 'Test',
  tag: 'Test',
  access: { who: 'none' },
  body: z.object({ text: z.string() }),
  bodyLimit: 64 * megabyte,
  returns: z.object({}),
  fails: ['rate_limited'],
})

test('large bodies of callers without an account that arrive together are limited, small ones are not', async () => {
  let arrived = 0
  let enough = Promise.withResolvers<void>()
  const app = createServer({
    routes: [
      route(large, async () => ({}), {
        admit: async () => {
          arrived += 1
          if (arrived === 4) enough.resolve()
        },
      }),
    ],
    guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
    onHandled: () => enough.resolve(),
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  assert.ok(address !== null && typeof address === 'object')
  const post = (length: number, body: string) => {
    const headers = { 'content-type': 'application/json', 'content-length': length }
    const sent = request({ port: address.port, method: 'POST', path: '/large', headers })
    sent.on('error', () => {})
    sent.write(body)
    return sent
  }
  const statusOf = async (sent: ReturnType<typeof post>) => {
    const [response] = await once(sent, 'response')
    response.resume()
    return [response.statusCode, response.headers['retry-after']]
  }
  const whole = '{"text":"hi"}'
  try {
    const slow = Array.from({ length: 4 }, () => post(64 * megabyte, '{'))
    await enough.promise
    assert.deepEqual(await statusOf(post(2 * megabyte, '{')), [429, '5'])
    assert.deepEqual(await statusOf(post(whole.length, whole)), [200, undefined])
    enough = Promise.withResolvers()
    slow[0]?.destroy()
    await enough.promise
    const text = `{"text":"${'x'.repeat(2 * megabyte)}"}`
    assert.deepEqual(await statusOf(post(text.length, text)), [200, undefined])
  } finally {
    app.server.closeAllConnections()
    await app.close()
  }
})

test('released bytes can be reserved again, once', () => {
  const budget = createBodyBudget()
  const release = budget.reserve(200 * megabyte)
  assert.throws(() => budget.reserve(100 * megabyte), { code: 'rate_limited' })
  release()
  release()
  budget.reserve(200 * megabyte)
  assert.throws(() => budget.reserve(100 * megabyte), { code: 'rate_limited' })
})

test('every endpoint with large bodies of callers without an account declares the refusal', () => {
  const concerned = endpoints.filter(
    ({ access: { who }, bodyKind, bodyLimit = 0 }) =>
      (who === 'none' || who === 'workspace') && bodyKind !== 'stream' && bodyLimit > defaultBodyLimit,
  )
  assert.ok(concerned.length > 0)
  for (const each of concerned) assert.ok(failuresOf(each).includes('rate_limited'), each.id)
})
