/** MCP keys: their lifecycle, and what each scope can reach. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Loose, type Platform, startPlatform } from './platform.ts'
import { agentKeyOf, assertShape, chat, createAgent } from './steps.ts'

let platform: Platform
let agentKey: string
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, 'qa-own')
  await createAgent(platform, 'qa-foreign')
  agentKey = await agentKeyOf('qa-own')
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

type Case = [method: string, path: string, body: object | undefined, status: number, error?: string]
async function expectAll(token: string, cases: Case[]): Promise<void> {
  for (const [method, path, body, status, error] of cases) {
    const reply = await platform.request(method, path, body, { token })
    assert.deepEqual([reply.status, reply.json?.error], [status, error], `${method} ${path}: ${reply.text}`)
  }
}
const mint = async (body: object) => (await platform.request('POST', '/api/mcp/keys', body)).json

describe('the lifecycle of a key', () => {
  test('the secret is shown once, at creation', async () => {
    const reply = await platform.request('POST', '/api/mcp/keys', { name: 'first', description: 'of tests' })
    assert.equal(reply.status, 200)
    assert.match(reply.json.key, /^svc_mcp_[A-Za-z0-9_-]{43}$/)
    assert.equal(reply.json.api_key, reply.json.key)
    assert.deepEqual([reply.json.scope, reply.json.is_active, reply.json.usage_count], ['user', true, 0])
    assert.equal(reply.json.key_prefix, reply.json.key.slice(0, 12))
    const list = await platform.request('GET', '/api/mcp/keys')
    const one = await platform.request('GET', `/api/mcp/keys/${reply.json.id}`)
    for (const { text } of [list, one]) assert.ok(!text.includes(reply.json.key))
    assertShape(one.json, { id: 'string', name: 'string', scope: 'string', created_at: 'string' }, 'key')
  })

  test('a revoked key stops working immediately and stays listed; a deleted one is 404', async () => {
    const { id, key } = await mint({ name: 'short-lived' })
    await expectAll(key, [['GET', '/api/users/me', undefined, 200]])
    const used = await platform.request('GET', `/api/mcp/keys/${id}`)
    assert.ok(used.json.usage_count >= 1 || used.json.last_used_at === null || used.json.last_used_at)
    const revoked = await platform.request('POST', `/api/mcp/keys/${id}/revoke`)
    assert.deepEqual([revoked.json.id, revoked.json.is_active], [id, false])
    await expectAll(key, [['GET', '/api/users/me', undefined, 401, 'invalid_token']])
    const listed = (await platform.request('GET', '/api/mcp/keys')).json.find((row: Loose) => row.id === id)
    assert.equal(listed.is_active, false)
    assert.equal((await platform.request('DELETE', `/api/mcp/keys/${id}`)).status, 200)
    await expectAll(platform.token, [
      ['GET', `/api/mcp/keys/${id}`, undefined, 404, 'key_not_found'],
      ['DELETE', `/api/mcp/keys/${id}`, undefined, 404, 'key_not_found'],
    ])
  })

  test('scopes that are not requestable or unknown are refused', async () => {
    await expectAll(platform.token, [
      ['POST', '/api/mcp/keys', { name: 'k', scope: 'agent' }, 400, 'scope_not_requestable'],
      ['POST', '/api/mcp/keys', { name: 'k', scope: 'system' }, 400, 'scope_not_requestable'],
      ['POST', '/api/mcp/keys', { name: 'k', scope: 'connector' }, 400, 'scope_not_requestable'],
      ['POST', '/api/mcp/keys', { name: 'k', scope: 'root' }, 400, 'unknown_scope'],
      ['POST', '/api/mcp/keys', { name: '' }, 422, 'validation_error'],
      ['POST', '/api/mcp/keys', { name: 'x'.repeat(101) }, 422, 'validation_error'],
      ['POST', '/api/mcp/keys', { name: 'k', expires_at: '2100-01-01T00:00:00Z' }, 422, 'validation_error'],
    ])
  })

  test('a key survives a platform restart and a logout', async () => {
    const { key } = await mint({ name: 'lasting' })
    await platform.killApi()
    await platform.startApi()
    platform.token = key
    await expectAll(key, [
      ['POST', '/api/auth/logout', undefined, 200],
      ['GET', '/api/users/me', undefined, 200],
    ])
    const valid = await platform.request('GET', '/api/auth/validate')
    assert.deepEqual([valid.json.status, valid.json.scope], ['valid', 'user'])
  })
})

test("a user key has its owner's rights, except those for people only", async () => {
  await expectAll(platform.token, [
    ['GET', '/api/settings', undefined, 200],
    ['PUT', '/api/agents/qa-own/label', { label: 'by key' }, 200],
    ['PUT', '/api/agents/qa-own/operator-resume', { enabled: false }, 200],
    ['POST', '/api/mcp/keys', { name: 'k', scope: 'ops' }, 403, 'human_only'],
    ['POST', '/api/agents/qa-own/tags/dept-x', undefined, 403, 'human_only'],
    ['PUT', '/api/agents/qa-own/tags', { tags: ['reports-to-y'] }, 403, 'human_only'],
    ['POST', '/api/agents/qa-own/heartbeat', {}, 403, 'agent_identity_required'],
    ['GET', '/api/agents/qa-none', undefined, 404, 'agent_not_found'],
  ])
})

test("an agent's key can read its own agent and talk to it, but has no rights of people", async () => {
  const own = '/api/agents/qa-own'
  await expectAll(agentKey, [
    ['GET', own, undefined, 200],
    ['GET', `${own}/files`, undefined, 200],
    ['GET', `${own}/logs`, undefined, 200],
    ['GET', `${own}/stats`, undefined, 200],
    ['GET', `${own}/executions`, undefined, 200],
    ['GET', `${own}/operator-resume`, undefined, 200],
    ['POST', `${own}/heartbeat`, { memory_mb: 12, active_executions: 0 }, 200],
    ['POST', `${own}/heartbeat`, { memory_mb: 'x' }, 422, 'validation_error'],
    ['DELETE', own, undefined, 403, 'person_required'],
    ['POST', `${own}/stop`, undefined, 403, 'person_required'],
    ['PUT', `${own}/rename`, { new_name: 'qa-x' }, 403, 'person_required'],
    ['PUT', `${own}/autonomy`, { enabled: true }, 403, 'person_required'],
    ['PUT', `${own}/read-only`, { enabled: false }, 403, 'person_required'],
    ['PUT', `${own}/operator-resume`, { enabled: true }, 403, 'person_required'],
    ['PUT', `${own}/files?path=a`, { content: '' }, 403, 'person_required'],
    ['POST', `${own}/ssh-access`, undefined, 403, 'person_required'],
    ['POST', '/api/agents', { name: 'qa-child' }, 403, 'person_required'],
    ['POST', '/api/mcp/keys', { name: 'k' }, 403, 'scope_not_allowed'],
    ['GET', '/api/mcp/keys', undefined, 403, 'scope_not_allowed'],
    ['GET', '/api/settings', undefined, 403, 'admin_required'],
    ['PUT', '/api/settings/max-parallel-tasks-ceiling', { value: 5 }, 403, 'admin_required'],
  ])
  const list = await platform.request('GET', '/api/agents', undefined, { token: agentKey })
  assert.deepEqual(
    list.json.map(({ name }: Loose) => name),
    ['qa-own'],
  )
  const reply = await chat(platform, 'qa-own', 'to myself [[reply:heard]]', { token: agentKey })
  assert.equal(reply.json.response, 'heard')
  const path = `/api/agents/qa-own/executions/${reply.json.execution.id}`
  const row = (await platform.request('GET', path)).json
  assert.deepEqual(
    [row.triggered_by, row.source_agent_name, row.source_mcp_scope, row.chain_depth],
    ['self_task', 'qa-own', 'agent', 1],
  )
})

test("an agent's key is refused for another agent, but gets 404 for a missing one", async () => {
  await expectAll(agentKey, [
    ['GET', '/api/agents/qa-foreign', undefined, 403, 'agent_not_permitted'],
    ['POST', '/api/agents/qa-foreign/chat', { message: 'hi' }, 403, 'agent_not_permitted'],
    ['GET', '/api/agents/qa-foreign/executions', undefined, 403, 'agent_not_permitted'],
    ['POST', '/api/agents/qa-foreign/heartbeat', {}, 403, 'agent_identity_required'],
    ['GET', '/api/agents/qa-none', undefined, 404, 'agent_not_found'],
    // The scope is checked before the agent is looked up.
    ['DELETE', '/api/agents/qa-none', undefined, 403, 'person_required'],
  ])
})

test("ops and portal keys reach nothing outside their scope, whatever their owner's rights", async () => {
  const { signIn } = await import('./platform.ts')
  platform.token = await signIn(platform)
  const ops = (await mint({ name: 'ops', scope: 'ops' })).key
  const outside = 'scope_not_allowed'
  await expectAll(ops, [
    ['GET', '/api/version', undefined, 200],
    ['GET', '/api/agents', undefined, 200],
    ['GET', '/api/agents/qa-own/executions', undefined, 200],
    ['GET', '/api/agents/qa-own/executions/running', undefined, 200],
    ['GET', '/api/agents/qa-own/executions/none', undefined, 404, 'execution_not_found'],
    ['GET', '/api/agents/qa-own', undefined, 403, outside],
    ['GET', '/api/agents/qa-none/files', undefined, 403, outside],
    ['POST', '/api/agents/qa-own/chat', {}, 403, outside],
    ['POST', '/api/agents/qa-own/executions/none/terminate', undefined, 403, outside],
    ['GET', '/api/users/me', undefined, 403, outside],
    ['GET', '/api/auth/validate', undefined, 403, outside],
    ['GET', '/api/settings/feature-flags', undefined, 403, outside],
  ])
  const portal = (await mint({ name: 'portal', scope: 'portal_delegate' })).key
  await expectAll(portal, [
    ['GET', '/api/version', undefined, 403, outside],
    ['GET', '/api/agents', undefined, 403, outside],
    ['GET', '/api/auth/validate', undefined, 403, outside],
  ])
})
