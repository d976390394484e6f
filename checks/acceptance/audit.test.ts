/** The audit log: who did what with which key, and proof that it is unchanged. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openLive } from './live.ts'
import { type Loose, type Platform, startPlatform } from './platform.ts'
import { assertShape } from './steps.ts'

let platform: Platform
before(async () => {
  platform = await startPlatform()
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const log = async (query: string) => {
  const reply = await platform.request('GET', `/api/audit-log?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}
const mint = async (name: string, scope = 'user') =>
  (await platform.request('POST', '/api/mcp/keys', { name, scope })).json

test('a call with a key is attributed to the key and its owner', async () => {
  const { id, key, user_id } = await mint('pipeline')
  const headers = { 'x-request-id': 'audit-1' }
  const value = { value: 'Be kind.' }
  await platform.request('PUT', '/api/settings/platform_prompt', value, { token: key, headers })
  const { entries, total } = await log('request_id=audit-1')
  assert.equal(total, 1)
  const shape = { id: 'number', event_id: 'string', timestamp: 'string', entry_hash: 'string' }
  assertShape(entries[0], shape, 'entry')
  assert.partialDeepStrictEqual(entries[0], {
    event_type: 'configuration',
    actor_type: 'mcp_client',
    actor_id: user_id,
    actor_ip: '127.0.0.1',
    mcp_key_id: id,
    mcp_key_name: 'pipeline',
    mcp_scope: 'user',
    target_type: 'setting',
    target_id: 'platform_prompt',
    source: 'api',
    endpoint: 'PUT /api/settings/{key}',
    status: 200,
  })
  const one = await platform.request('GET', `/api/audit-log/${entries[0].event_id}`)
  assert.deepEqual(one.json, entries[0])
  assert.ok(!JSON.stringify(await log('limit=1000')).includes(key), 'the log must not contain the key')
})

test('mcp_key_id and mcp_scope filter; a refused key is logged with its name', async () => {
  const ops = await mint('watcher', 'ops')
  const refused = await platform.request('PUT', '/api/settings/x', { value: 'y' }, { token: ops.key })
  assert.deepEqual([refused.status, refused.json.error], [403, 'scope_not_allowed'])
  const byKey = await log(`mcp_key_id=${ops.id}`)
  assert.equal(byKey.total, 1)
  assert.partialDeepStrictEqual(byKey.entries[0], {
    event_type: 'authorization',
    mcp_key_name: 'watcher',
    mcp_scope: 'ops',
    status: 403,
    details: { error: 'scope_not_allowed' },
  })
  assert.deepEqual((await log('mcp_scope=ops')).entries, byKey.entries)
  assert.ok((await log('mcp_scope=user')).entries.every((each: Loose) => each.mcp_scope === 'user'))
  const unknown = await platform.request('GET', '/api/audit-log?mcp_scope=root')
  assert.deepEqual([unknown.status, unknown.json.error], [422, 'unknown_filter'])
})

test('reads with a key are logged once a minute for each target, on every listener', async () => {
  const ops = await mint('reader', 'ops')
  const read = (path: string) => platform.request('GET', path, undefined, { token: ops.key })
  const replies = await Promise.all(Array.from({ length: 20 }, () => read('/api/version')))
  assert.ok(replies.every(({ status }) => status === 200))
  await read('/api/agents/no-such-agent/executions')
  const { entries } = await log(`mcp_key_id=${ops.id}`)
  assert.deepEqual(
    entries.map((each: Loose) => [each.endpoint, each.target_id, each.status, each.actor_ip]),
    [
      ['GET /api/agents/{name}/executions', 'no-such-agent', 404, '127.0.0.1'],
      ['GET /api/version', null, 200, '127.0.0.1'],
    ],
  )
  const user = await mint('listener')
  const live = openLive(platform, `/ws/events?token=${user.key}`)
  await live.next('connected')
  live.end()
  const [opened] = (await log(`mcp_key_id=${user.id}`)).entries
  assert.deepEqual([opened.endpoint, opened.status], ['WS /ws/events', 101])
})

test('sessions and user keys of an admin can read it; keys of other scopes cannot', async () => {
  const { key } = await mint('reader')
  const ops = await mint('narrow', 'ops')
  const calls: [string, string][] = [
    ['GET', '/api/audit-log'],
    ['GET', '/api/audit-log/stats'],
    ['GET', '/api/audit-log/export'],
    ['POST', '/api/audit-log/verify'],
  ]
  for (const [method, path] of calls) {
    assert.equal((await platform.request(method, path)).status, 200, path)
    assert.equal((await platform.request(method, path, undefined, { token: key })).status, 200, path)
    assert.equal((await platform.request(method, path, undefined, { token: ops.key })).status, 403, path)
    assert.equal((await platform.request(method, path, undefined, { token: null })).status, 401, path)
  }
})

test('a failed sign-in is logged with its source address', async () => {
  const form = 'username=admin&password=wrong'
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-request-id': 'audit-2' }
  assert.equal((await platform.request('POST', '/api/token', form, { token: null, headers })).status, 401)
  const { entries } = await log('request_id=audit-2&event_type=authentication')
  assert.partialDeepStrictEqual(entries, [
    { actor_type: 'anonymous', actor_ip: '127.0.0.1', status: 401, target_id: 'admin' },
  ])
})

test('the log verifies, also on the internal listener, and can be exported', async () => {
  const { json } = await platform.request('POST', '/api/audit-log/verify')
  assert.deepEqual([json.valid, json.status], [true, 'verified'])
  const inner = `http://127.0.0.1:${platform.internalPort}/api/internal/audit-log/verification`
  const verification: Loose = await (
    await fetch(inner, { headers: { authorization: `Bearer ${await platform.internalSecret()}` } })
  ).json()
  assert.equal(verification.status, 'verified')
  assert.ok(verification.checked > json.checked, 'the verification itself is an entry')
  assert.equal((await platform.request('GET', '/api/internal/audit-log/verification')).status, 404)
  const file = await platform.request('GET', '/api/audit-log/export?format=csv')
  assert.match(file.headers.get('content-disposition') ?? '', /attachment/)
  assert.match(file.text, /^id,event_id,event_type,/)
  const stats = (await platform.request('GET', '/api/audit-log/stats')).json
  assert.equal(stats.total, file.text.trim().split('\r\n').length - 1)
})
