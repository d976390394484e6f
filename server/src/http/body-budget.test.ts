import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { endpoints } from '@roost/contracts'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { failuresOf } from '@roost/contracts/kit/failures'
import { defaultBodyLimit, megabyte } from '@roost/contracts/kit/primitives'
import { z } from 'zod'
import type { Caller } from '../identity/access/caller.ts'
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
})

const waiting = endpoint({
  ...{ id: 'waiting', method: 'GET', path: '/waiting', summary: 'Test', tag: 'Test' },
  ...{ access: { who: 'none' }, returns: z.object({}) },
})

const whole = '{"text":"hi"}'

/** A server whose callers have the account that `authorization` names. */
async function start() {
  let arrived = 0
  let expected = { count: 0, resolve: () => {} }
  let gate = Promise.resolve()
  const app = createServer({
    routes: [
      route(large, async () => ({}), {
        admit: async () => {
          arrived += 1
          if (arrived === expected.count) expected.resolve()
          await gate
        },
      }),
      route(waiting, () => new Promise(() => {})),
    ],
    guard: async (_access, authorization) => ({
      caller: callerOf(authorization),
      agent: null,
      relation: null,
    }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  assert.ok(address !== null && typeof address === 'object')
  const { port } = address

  /** Resolves when so many more large requests were admitted. */
  const untilAdmitted = (count: number) =>
    new Promise<void>((resolve) => {
      expected = { count: arrived + count, resolve }
    })
  /** Resolves when the server has noticed the end of the next connection. */
  async function nextConnectionEnded(): Promise<void> {
    const [socket] = await once(app.server, 'connection')
    // `once` would reject for the error of a connection that breaks.
    await new Promise((resolve) => socket.once('close', resolve))
  }
  function post(length: number | null, body: string, account?: string) {
    const headers = {
      'content-type': 'application/json',
      ...(length === null ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }),
      ...(account === undefined ? {} : { authorization: account }),
    }
    const sent = request({ port, method: 'POST', path: '/large', headers, agent: false })
    sent.on('error', () => {})
    sent.write(body)
    if (length === body.length) sent.end()
    return sent
  }
  async function statusOf(sent: ReturnType<typeof post>) {
    const [response] = await once(sent, 'response')
    response.resume()
    return [response.statusCode, response.headers['retry-after']]
  }
  return {
    ...{ port, untilAdmitted, nextConnectionEnded, post, statusOf },
    /** Keeps requests in their checks until the returned function is called. */
    delayChecks() {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    /** Opens slow requests and waits until they hold their memory. */
    async hold(count: number, account?: string, length: number | null = 64 * megabyte) {
      const admitted = untilAdmitted(count)
      const slow = Array.from({ length: count }, () => post(length, '{', account))
      await admitted
      return slow
    },
    answerTo: (account?: string) => statusOf(post(2 * megabyte, '{', account)),
    async [Symbol.asyncDispose]() {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

function callerOf(account: string | undefined): Caller {
  if (account === undefined) return { kind: 'anonymous' }
  const user = { id: account.replace(/^key of /, ''), username: account, email: null, role: 'user' as const }
  if (account === user.id) {
    return {
      kind: 'session',
      user,
      session: { jti: 'j', mode: 'email', expires_at: '2030-01-01T00:00:00.000Z' },
    }
  }
  return { kind: 'key', user, key: { id: 'k', name: 'k', scope: 'agent', agent_id: 'a' } }
}

const refused = [429, '5']
const accepted = [200, undefined]
const text = `{"text":"${'x'.repeat(2 * megabyte)}"}`

for (const account of [undefined, 'ann', 'key of ann'])
  test(`large bodies that arrive together are limited, small ones are not: ${account ?? 'no account'}`, async () => {
    await using server = await start()
    const { hold, post, statusOf, answerTo, nextConnectionEnded } = server
    const ended = nextConnectionEnded()
    const [first] = await hold(1, account)
    // Without a length a body may have the largest size.
    await hold(1, account, null)
    await hold(2, account)
    assert.deepEqual(await answerTo(account), refused)
    assert.deepEqual(await statusOf(post(whole.length, whole, account)), accepted)
    first?.destroy()
    await ended
    const [tooLarge] = await statusOf(post(65 * megabyte, '{', account))
    assert.equal(tooLarge, 413)
    // Leaves memory for one of the following bodies.
    await hold(1, account, 61 * megabyte)
    for (let time = 0; time < 2; time += 1) {
      assert.deepEqual(await statusOf(post(text.length, text, account)), accepted)
      const [invalid] = await statusOf(post(text.length, text.replace('"', '!'), account))
      assert.equal(invalid, 422)
    }
    await hold(1, account, 3 * megabyte)
    assert.deepEqual(await answerTo(account), refused)
  })

test('one account leaves memory to others; a key counts for its account', async () => {
  await using server = await start()
  const { hold, answerTo, post, statusOf } = server
  await hold(2, 'ann')
  await hold(2, 'key of ann')
  for (const account of ['ann', 'key of ann']) assert.deepEqual(await answerTo(account), refused, account)
  assert.deepEqual(await statusOf(post(text.length, text, 'bob')), accepted)
  await hold(4, 'bob')
  assert.deepEqual(await answerTo('eve'), refused)
  assert.deepEqual(await statusOf(post(text.length, text)), accepted)
})

test('a body behind an unanswered request releases its memory when the connection breaks', async () => {
  await using server = await start()
  const { port, hold, post, statusOf, untilAdmitted, nextConnectionEnded, answerTo } = server
  const ended = nextConnectionEnded()
  const admitted = untilAdmitted(1)
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET /waiting HTTP/1.1\r\nhost: x\r\n\r\n')
  socket.write('POST /large HTTP/1.1\r\nhost: x\r\nauthorization: ann\r\ncontent-type: application/json\r\n')
  socket.write(`content-length: ${64 * megabyte}\r\n\r\n{`)
  await admitted
  await hold(3, 'ann')
  assert.deepEqual(await answerTo('ann'), refused)
  socket.destroy()
  await ended
  assert.deepEqual(await statusOf(post(text.length, text, 'ann')), accepted)
})

test('a request whose connection breaks before its body is read holds no memory', async () => {
  await using server = await start()
  const ended = server.nextConnectionEnded()
  const open = server.delayChecks()
  const [first] = await server.hold(1, 'ann')
  first?.destroy()
  await ended
  open()
  await server.hold(3, 'ann')
  assert.deepEqual(await server.statusOf(server.post(text.length, text, 'ann')), accepted)
})

test('released bytes can be reserved again, once', () => {
  const budget = createBodyBudget()
  for (const account of [null, 'ann']) {
    const release = budget.reserve(200 * megabyte, account)
    assert.throws(() => budget.reserve(100 * megabyte, account), { code: 'rate_limited' })
    release()
    release()
    budget.reserve(200 * megabyte, account)
    assert.throws(() => budget.reserve(100 * megabyte, account), { code: 'rate_limited' })
  }
  budget.reserve(200 * megabyte, 'bob')
  assert.throws(() => budget.reserve(150 * megabyte, 'eve'), { code: 'rate_limited' })
  budget.reserve(100 * megabyte, 'eve')
})

test('every endpoint with large bodies declares the refusal', () => {
  const concerned = endpoints.filter(
    ({ bodyKind, bodyLimit = 0 }) => bodyKind !== 'stream' && bodyLimit > defaultBodyLimit,
  )
  assert.ok(concerned.length > 0)
  for (const each of concerned) assert.ok(failuresOf(each).includes('rate_limited'), each.id)
})
