import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { z } from 'zod'
import type { AuditEntry } from '../foundation/audit/index.ts'
import { type Caller, refuseAfter, refuseBefore } from '../identity/access/index.ts'
import { Fault } from '../kit/fault.ts'
import { secret } from '../kit/secret.ts'
import { silentLog } from '../ports/log.ts'
import { recordCall, recordSocket } from './audit.ts'
import { createGuard } from './guard.ts'
import { createInternalCredentials } from './internal-credentials.ts'
import { answer, route, streamAnswer } from './route.ts'
import { createServer } from './serve.ts'

const user = { id: 'u1', username: 'ada', email: 'ada@example.com', role: 'user' } as const
const key = { id: 'k1', name: 'ci', scope: 'user', agent_id: null } as const
const base = { tag: 'Test', summary: 'Test', returns: z.object({}) } as const
const any = { who: 'any' } as const
const write = endpoint({
  ...base,
  id: 'write',
  method: 'POST',
  path: '/api/mcp/keys/{id}',
  params: z.object({ id: z.string() }),
  access: any,
  audit: { type: 'credentials', action: 'write' },
})
const read = endpoint({ ...base, id: 'read', method: 'GET', path: '/read', access: any })
const gated = endpoint({ ...base, id: 'gated', method: 'GET', path: '/gated', access: { who: 'admin' } })
const signIn = endpoint({
  ...base,
  id: 'signIn',
  method: 'POST',
  path: '/sign-in',
  access: { who: 'none' },
  fails: ['invalid_credentials'],
  audit: { type: 'authentication', action: 'sign_in' },
})
const inner = endpoint({
  ...base,
  id: 'inner',
  method: 'POST',
  path: '/inner',
  access: { who: 'internal', alsoAdmits: 'agent' },
})
const slow = endpoint({
  ...base,
  id: 'slow',
  method: 'POST',
  path: '/slow',
  access: any,
  audit: { type: 'execution', action: 'slow' },
})
const part = endpoint({
  ...base,
  id: 'part',
  method: 'PUT',
  path: '/part',
  query: z.object({ fails: z.string().optional() }),
  access: any,
  fails: ['conflict'],
  audit: { type: 'configuration', action: 'part' },
})
const stream = endpoint({ ...slow, id: 'stream', path: '/stream', streams: ['text/plain'] })

function app() {
  const entries: AuditEntry[] = []
  /** Read entries, which may be merged. */
  const reads: AuditEntry[] = []
  const written = (entry: AuditEntry) => String(entries.push(entry))
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const reported = Promise.withResolvers<void>()
  async function* endless() {
    yield 'first'
    await finish.promise
  }
  const server = createServer({
    routes: [
      route(write, async () => answer({})),
      route(read, async () => answer({})),
      route(gated, async () => answer({})),
      route(signIn, async ({ request }) => {
        request.note({ username: 'ada' })
        throw new Fault('invalid_credentials')
      }),
      route(inner, async () => answer({})),
      route(part, async ({ query, request }) => {
        request.omitFromAudit()
        if (query.fails) throw new Fault('conflict')
        return answer({})
      }),
      route(slow, async () => {
        begun.resolve()
        await finish.promise
        return answer({})
      }),
      route(stream, async () => streamAnswer('text/plain', endless())),
    ],
    guard: createGuard({
      async identify(authorization) {
        if (!authorization) throw new Fault('not_authenticated')
        // Only the fields of a caller that the rules and the entry use.
        return (authorization === 'session'
          ? { kind: 'session', user }
          : { kind: 'key', user, key }) as unknown as Caller
      },
      internal: createInternalCredentials({ secret: secret('platform'), metricsToken: null }),
      agentAccess: async () => null,
      refuseBefore,
      refuseAfter,
    }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
    onHandled(request) {
      recordCall({ record: written, recordRead: (entry) => reads.push(entry) }, request)
      reported.resolve()
    },
  })
  return { server, entries, reads, begun: begun.promise, finish: finish.resolve, reported: reported.promise }
}

const authorization = 'Bearer k'
const who = {
  actor_type: 'mcp_client',
  actor_id: 'u1',
  actor_email: 'ada@example.com',
  actor_ip: '127.0.0.1',
  mcp_key_id: 'k1',
  mcp_key_name: 'ci',
  mcp_scope: 'user',
}

test('a write with a key is one entry with the key, its owner and the target', async () => {
  const { server, entries } = app()
  await server.inject({ method: 'POST', url: '/api/mcp/keys/k7', headers: { authorization } })
  assert.deepEqual(entries, [
    {
      ...who,
      event_type: 'credentials',
      event_action: 'write',
      target_type: 'mcp_key',
      target_id: 'k7',
      details: {},
      request_id: entries[0]?.request_id,
      source: 'api',
      endpoint: 'POST /api/mcp/keys/{id}',
      status: 200,
    },
  ])
})

test('a read is recorded only for a key; a refused gate is recorded with the refused key', async () => {
  const { server, entries, reads } = app()
  await server.inject({ method: 'GET', url: '/read', headers: { authorization: 'session' } })
  await server.inject({ method: 'GET', url: '/read', headers: { authorization } })
  assert.deepEqual(entries, [])
  assert.equal(reads.length, 1)
  assert.partialDeepStrictEqual(reads, [
    { ...who, event_type: 'system', event_action: 'read', endpoint: 'GET /read', status: 200 },
  ])
  await server.inject({ method: 'GET', url: '/gated', headers: { authorization } })
  await server.inject({ method: 'GET', url: '/gated' })
  assert.partialDeepStrictEqual(entries, [
    { ...who, event_type: 'authorization', status: 403, details: { error: 'admin_required' } },
    { actor_type: 'anonymous', actor_id: null, actor_ip: '127.0.0.1', status: 401 },
  ])
})

test('a part of a larger action is recorded only if it fails', async () => {
  const { server, entries } = app()
  const put = (url: string) => server.inject({ method: 'PUT', url, headers: { authorization } })
  assert.equal((await put('/part')).statusCode, 200)
  assert.equal((await put('/part?fails=1')).statusCode, 409)
  assert.deepEqual(
    entries.map(({ event_action, status }) => [event_action, status]),
    [['part', 409]],
  )
})

test('an internal call is recorded if it comes from an agent or was refused', async () => {
  const { server, entries } = app()
  const call = (headers: Record<string, string>) => server.inject({ method: 'POST', url: '/inner', headers })
  await call({ authorization: 'Bearer platform' })
  assert.deepEqual(entries, [])
  await call({ authorization })
  await call({})
  assert.partialDeepStrictEqual(entries, [
    { mcp_key_id: 'k1', mcp_scope: 'user', endpoint: 'POST /inner', status: 200 },
    { mcp_key_id: null, endpoint: 'POST /inner', status: 401 },
  ])
})

test('a socket is recorded if it was refused, opened with a key, or has an audit action', () => {
  const entries: AuditEntry[] = []
  const reads: AuditEntry[] = []
  const audit = {
    record: (entry: AuditEntry) => String(entries.push(entry)),
    recordRead: (entry: AuditEntry) => void reads.push(entry),
  }
  const from = { path: '/ws/events', ip: '127.0.0.1' }
  // Only the fields of a caller that the entry uses.
  const [byKey, session] = [
    { kind: 'key', user, key },
    { kind: 'session', user },
  ] as unknown as Caller[]
  recordSocket(audit, { ...from, caller: byKey ?? null, why: null })
  recordSocket(audit, { ...from, caller: session ?? null, why: null })
  recordSocket(audit, { ...from, caller: byKey ?? null, why: { close: 4003, reason: 'no' } })
  recordSocket(audit, { ...from, caller: null, why: { status: 503, error: 'starting_up' } })
  assert.partialDeepStrictEqual(reads, [{ ...who, endpoint: 'WS /ws/events', status: 101 }])
  assert.partialDeepStrictEqual(entries, [{ ...who, event_type: 'authorization', status: 403 }])
  assert.deepEqual([reads.length, entries.length], [1, 1])
  const named = {
    ...{ path: '/api/agents/{name}/terminal', ip: '127.0.0.1', caller: session ?? null },
    audit: { type: 'credentials' as const, action: 'open_terminal' },
    target: { type: 'agent', id: 'scout' },
  }
  recordSocket(audit, { ...named, why: null })
  recordSocket(audit, { ...named, why: { close: 4003, reason: 'no' } })
  recordSocket(audit, { ...named, why: { close: 4004, reason: 'stopped', like: 409 } })
  assert.partialDeepStrictEqual(entries.slice(1), [
    { event_type: 'credentials', event_action: 'open_terminal', target_id: 'scout', status: 101 },
    { event_type: 'authorization', event_action: 'open_terminal', target_id: 'scout', status: 403 },
  ])
  assert.equal(entries.length, 3)
})

test('a failed sign-in is one entry with the requested account', async () => {
  const { server, entries } = app()
  await server.inject({ method: 'POST', url: '/sign-in' })
  assert.partialDeepStrictEqual(entries, [
    { event_type: 'authentication', actor_type: 'anonymous', status: 401, target_id: 'ada' },
  ])
  assert.equal(entries.length, 1)
})

for (const [what, path] of [
  ['before the response', '/slow'],
  ['during the response', '/stream'],
] as const) {
  test(`a client that disconnects ${what} is one entry`, async () => {
    const { server, entries, begun, finish, reported } = app()
    const url = await server.listen({ port: 0, host: '127.0.0.1' })
    try {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      const disconnected = new Promise((resolve) =>
        server.server.once('connection', (accepted) => accepted.once('close', resolve)),
      )
      await once(socket, 'connect')
      const body = 'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}'
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n${body}`)
      await (path === '/slow' ? begun : once(socket, 'data'))
      socket.destroy()
      await disconnected
      finish()
      await reported
      assert.partialDeepStrictEqual(entries, [{ ...who, event_type: 'execution', status: 200 }])
      assert.equal(entries.length, 1)
    } finally {
      await server.close()
    }
  })
}
