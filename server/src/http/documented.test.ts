import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { z } from 'zod'
import { Fault } from '../kit/fault.ts'
import { silentLog } from '../ports/log.ts'
import { answer, type Call, route, streamAnswer } from './route.ts'
import { createServer } from './serve.ts'

const thing = endpoint({
  id: 'readThing',
  method: 'GET',
  path: '/thing',
  summary: 'Test',
  tag: 'Test',
  access: { who: 'none' },
  headers: ['Prefer'],
  returns: z.object({ n: z.number() }),
  streams: ['text/csv'],
  replyHeaders: ['X-Total-Count'],
  also: [{ status: 202, when: 'Later', returns: z.object({ later: z.literal(true) }) }],
  fails: ['conflict'],
})

async function send(handle: (call: Call<typeof thing>) => unknown) {
  const server = createServer({
    routes: [route(thing, async (call) => handle(call) as never)],
    guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
  })
  const reply = await server.inject({ method: 'GET', url: '/thing' })
  return { status: reply.statusCode, detail: reply.statusCode < 500 ? null : reply.json().detail }
}
const one = { n: 1 }
async function* chunk() {
  yield 'a,b'
}

for (const [what, handle, status] of [
  ['the documented schema', () => one, 200],
  ['a documented header', () => answer(one, { headers: { 'x-total-count': '1' } }), 200],
  ['a documented second status with its own schema', () => answer({ later: true }, { status: 202 }), 202],
  ['a documented media type', () => streamAnswer('text/csv; charset=utf-8', chunk()), 200],
  ['streamed JSON', () => streamAnswer('application/json', chunk()), 200],
] as const) {
  test(`${status} for ${what}`, async () => assert.equal((await send(handle)).status, status))
}

test('409 for a documented error', async () => {
  const refuse = () => {
    throw new Fault('conflict')
  }
  assert.equal((await send(refuse)).status, 409)
})

for (const [what, handle, words] of [
  ['request header', (call: Call<typeof thing>) => call.request.header('range'), 'reads the header range'],
  ['status', () => answer(one, { status: 201 }), 'answers 201'],
  ['response header', () => answer(one, { headers: { deprecation: '1' } }), 'the header deprecation'],
  ['media type', () => streamAnswer('text/plain', chunk()), 'answers text/plain'],
  ['error', () => Promise.reject(new Fault('agent_busy')), 'answers 409 agent_busy'],
  [
    'header of an error',
    () => Promise.reject(new Fault('conflict', undefined, { retry_after_seconds: 3 })),
    'answers conflict with the header retry-after',
  ],
] as const) {
  test(`500 for an undocumented ${what}`, async () => {
    const { status, detail } = await send(handle)
    assert.equal(status, 500)
    assert.match(detail, new RegExp(`^readThing .*${words}, which its endpoint does not name`))
  })
}

test('500 for a response with the schema of another status', async () => {
  assert.equal((await send(() => answer({ later: true }))).status, 500)
  assert.equal((await send(() => answer(one, { status: 202 }))).status, 500)
})
