import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentPrincipal, type KeyCaller, principalOn } from '../../identity/access/index.ts'
import type { Account } from '../../identity/users/index.ts'
import { readAgent } from '../records/agent.ts'
import { type Agent, blankRow } from '../records/index.ts'
import { createAgentPrincipals } from './principals.ts'

const account = (id: string, over: Partial<Account> = {}): Account => ({
  ...{ id, username: id, email: `${id}@example.com`, name: null, picture: null, role: 'user' },
  ...{ created_at: '', last_login_at: null, suspended_at: null, mfa_enrolled_at: null },
  ...over,
})
const accounts = [
  account('ann'),
  account('reader'),
  account('writer'),
  account('nobody'),
  account('gone', { suspended_at: '2030-01-01T00:00:00.000Z' }),
  account('chief', { role: 'admin' }),
  account('former', { role: 'admin', suspended_at: '2030-01-01T00:00:00.000Z' }),
  // An address that the admin has entered, without proof.
  account('root', { role: 'admin', email: 'entered@example.com', suspended_at: '2030-01-01T00:00:00.000Z' }),
]
const share = (email: string, access: 'read' | 'write') => ({
  ...{ id: email, email, access, shared_by_id: 'ann', shared_by_email: null, created_at: '' },
})
const agentOf = (id: string, owner_id: string, over: Partial<Agent> = {}): Agent => ({
  ...readAgent(
    { ...blankRow(id, ''), id, owner_id },
    [],
    [
      share('reader@example.com', 'read'),
      share('writer@example.com', 'write'),
      share('gone@example.com', 'write'),
      share('guest@example.com', 'read'),
      share('chief@example.com', 'read'),
      share('former@example.com', 'read'),
      share('entered@example.com', 'read'),
    ],
  ),
  ...over,
})
const scout = agentOf('scout', 'ann')
const agents = [
  scout,
  agentOf('open', 'ann', { strangers: 'write' }),
  agentOf('shut', 'ann', { strangers: 'none', shares: [] }),
  agentOf('foreign', 'chief'),
]
const connectorKey: KeyCaller = {
  kind: 'key',
  user: { id: 'ann', username: 'ann', email: null, role: 'creator' },
  key: { id: 'k', name: 'k', scope: 'connector', agent_id: 'scout' },
}
const principals = createAgentPrincipals({
  agentRecords: { byId: async (id) => agents.find((each) => each.id === id) ?? null },
  users: {
    find: async (id) => accounts.find((each) => each.id === id) ?? null,
    findLogin: async (login) => {
      const found = accounts.find(({ username, email }) => username === login || email === login)
      return found ? { account: found, passwordHash: null } : null
    },
  },
  isConnectorOn: async (id) => id === 'scout',
  keys: { callerOf: async (id) => (id === 'revoked' ? null : connectorKey) },
})
const rightsOf = async (id: string, agent: Agent = scout) => {
  const resolved = await principals.resolve(agent, id)
  return 'ended' in resolved ? 'ended' : `${resolved.access}${resolved.credentials ? ' +credentials' : ''}`
}
const via = (id: string, origin: string) => agentPrincipal(id, origin)

const cases: [string, string, string][] = [
  ['the owner', 'user:ann', 'owner +credentials'],
  ['an admin', 'user:chief', 'owner +credentials'],
  ['a share for writing', 'user:writer', 'write +credentials'],
  ['a share for reading', 'user:reader', 'read'],
  ['an account without a share', 'user:nobody', 'ended'],
  ['a suspended account', 'user:gone', 'ended'],
  ['a deleted account', 'user:deleted', 'ended'],
  ['an address with a share', 'email:guest@example.com', 'read'],
  ['an address without a share', 'email:other@example.com', 'ended'],
  ['an admin who signed in with a mailed code', 'email:chief@example.com', 'read'],
  ['a mailed code of a suspended admin', 'email:former@example.com', 'ended'],
  ['a mailed code for the unproved address of a suspended admin', 'email:entered@example.com', 'ended'],
  ['its connector', 'key:k', 'write +credentials'],
  ['a revoked key of its connector', 'key:revoked', 'ended'],
  ['a visitor', 'public:l:v', 'read'],
  ['a payer', 'payer:p', 'read'],
  ['a Slack thread', 'slack:c:t', 'read'],
  ['a stranger of an older release', 'session:s', 'read'],
  ['an agent of the same owner', 'agent:open', 'write +credentials'],
  ['an agent of another owner', 'agent:foreign', 'read'],
  ['a deleted agent', 'agent:deleted', 'ended'],
  ['an unknown principal', 'somebody', 'ended'],
  ['no principal', '', 'ended'],
  ['an agent that works for the owner', via('open', 'user:ann'), 'write +credentials'],
  ['an agent that works for a writer', via('open', 'user:writer'), 'write +credentials'],
  ['an agent that works for a reader', via('open', 'user:reader'), 'read'],
  ['an agent that works for a visitor who may write there', via('open', 'public:l:v'), 'read'],
  ['an agent that works for a visitor who has no access there', via('shut', 'public:l:v'), 'none'],
  ['an agent that works for somebody whose share of it ended', via('shut', 'user:writer'), 'ended'],
  [
    'an agent that works for a mailed code of a suspended admin',
    via('open', 'email:former@example.com'),
    'ended',
  ],
  ['two agents in a row for a reader', via('open', via('foreign', 'user:reader')), 'read'],
  ['a foreign agent at the end of a chain', via('open', via('foreign', 'user:ann')), 'ended'],
]
for (const [title, id, expected] of cases) {
  test(`${title} → ${expected}`, async () => assert.equal(await rightsOf(id), expected))
}

test('a person who is not shared with the called agent only reads there', async () => {
  const called = agentOf('called', 'ann', { shares: [] })
  assert.equal(await rightsOf(via('scout', 'user:writer'), called), 'read')
})

test('a connector that is switched off has ended', async () => {
  assert.equal(await rightsOf('key:k', agentOf('open', 'ann')), 'ended')
})

test("the agent's setting decides what strangers may do", async () => {
  for (const strangers of ['none', 'read', 'write'] as const)
    assert.equal(await rightsOf('public:l:v', { ...scout, strangers }), strangers)
})

test('an agent that calls itself stays with the principal of its run', () => {
  assert.equal(principalOn('scout', via('scout', 'public:l:v')), 'public:l:v')
  assert.equal(principalOn('scout', via('scout', via('scout', 'user:ann'))), 'user:ann')
  assert.equal(principalOn('scout', via('open', 'user:ann')), 'agent:open/user:ann')
  assert.equal(principalOn('scout', 'agent:scout'), 'agent:scout')
})
