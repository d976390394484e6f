import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { endpoints } from '@roost/contracts'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import { may, type SignedIn } from '../../identity/access/index.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { relationOf } from '../access/index.ts'
import { openAgents } from '../test/world.ts'

/** Endpoints grouped by who may call them on a shared agent. */
const groups = {
  /** Read it, chat with it, give it work; also for its own key and permitted agents. */
  use: [
    ...[
      'getAgent',
      'getAgentInfo',
      'getAgentLogs',
      'getAgentStats',
      'getAgentActivity',
      'getAgentLabel',
      'getAvatar',
    ],
    ...[
      'getAgentTags',
      'getAgentPermissions',
      'getAutonomy',
      'getCapacity',
      'getModel',
      'getResources',
      'getTimeout',
    ],
    ...['listFiles', 'downloadFile', 'previewFile', 'getQueue', 'getAnalytics', 'getTokenStats'],
    ...['listAgentExecutions', 'listRunningExecutions', 'getExecution', 'getExecutionLog', 'streamExecution'],
    ...[
      'terminateExecution',
      'sendChat',
      'sendSessionMessage',
      'createSession',
      'listSessions',
      'getChatHistory',
    ],
    ...['runTask', 'startFanOut', 'getFanOut'],
    ...['listHistory', 'getHistoryRecord', 'getRecordChanges', 'getRecordDiff', 'getHistorySettings'],
    ...['listRecordFiles', 'getRecordFile', 'getRecordArchive'],
  ],
  /** For people with access, never for agents. */
  handle: ['startAgent', 'stopAgent', 'saveFile', 'deleteFile', 'makeDirectory', 'moveFile'],
  /** For the owner, and the agent's own key. */
  own: [
    'putAgentTags',
    'addAgentTag',
    'removeAgentTag',
    'listAgentShares',
    'listAgentAccess',
    'getInstructions',
  ],
  /** Only for the owner in person. */
  govern: [
    ...[
      'shareAgent',
      'unshareAgent',
      'putAgentPermissions',
      'grantAgentPermission',
      'withdrawAgentPermission',
    ],
    ...[
      'deleteAgent',
      'renameAgent',
      'putAgentLabel',
      'clearQueue',
      'grantSshAccess',
      'putAutonomy',
      'putCapacity',
    ],
    ...[
      'putCapabilities',
      'putCircuitBreaker',
      'putInstructions',
      'putMcpExposed',
      'putModel',
      'putOperatorResume',
    ],
    ...['putReadOnly', 'putResources', 'putRuntime', 'putTimeout'],
    ...['putHistorySettings', 'pinHistoryRecord'],
  ],
} as const
type Group = keyof typeof groups
type Answer = 'yes' | ErrorCode

const user = (id: string, role: 'user' | 'creator' | 'admin', email: string | null = null) => ({
  ...{ id, username: id, role, email },
})
const session = (of: SignedIn['user']): SignedIn => ({
  kind: 'session',
  user: of,
  session: { jti: 'j', mode: 'email', expires_at: '' },
})
const key = (
  of: SignedIn['user'],
  scope: 'user' | 'system' | 'agent',
  agent_id: string | null = null,
): SignedIn => ({
  kind: 'key',
  user: of,
  key: { id: 'k', name: 'k', scope, agent_id },
})
const ann = user('ann', 'creator')
const ben = user('ben', 'user', 'Ben@example.com')
const root = user('root', 'admin')
const agent = { id: 'a1', owner_id: 'ann', shares: [{ email: 'ben@example.com' }] }
/** Edges: a2 may call a1. */
const edges = new Map([['a2', new Set(['a1'])]])

const hidden = 'agent_not_found'
const table: [who: string, caller: SignedIn, expected: Record<Group, Answer>][] = [
  ['its owner', session(ann), { use: 'yes', handle: 'yes', own: 'yes', govern: 'yes' }],
  ["its owner's user key", key(ann, 'user'), { use: 'yes', handle: 'yes', own: 'yes', govern: 'yes' }],
  ['an admin', session(root), { use: 'yes', handle: 'yes', own: 'yes', govern: 'yes' }],
  ['the system key', key(root, 'system'), { use: 'yes', handle: 'yes', own: 'yes', govern: 'yes' }],
  [
    'a person it is shared with',
    session(ben),
    { use: 'yes', handle: 'yes', own: 'owner_required', govern: 'owner_required' },
  ],
  [
    'a user key of a person it is shared with',
    key(ben, 'user'),
    { use: 'yes', handle: 'yes', own: 'owner_required', govern: 'owner_required' },
  ],
  [
    'a person without access, creator or not',
    session(user('eve', 'creator', 'eve@example.com')),
    { use: hidden, handle: hidden, own: hidden, govern: hidden },
  ],
  [
    'its own key',
    key(ann, 'agent', 'a1'),
    { use: 'yes', handle: 'person_required', own: 'yes', govern: 'person_required' },
  ],
  [
    'the key of an agent that may call it',
    key(ann, 'agent', 'a2'),
    { use: 'yes', handle: 'person_required', own: 'owner_required', govern: 'person_required' },
  ],
  [
    "the key of an admin's agent without an edge",
    key(root, 'agent', 'a3'),
    { use: hidden, handle: 'person_required', own: hidden, govern: 'person_required' },
  ],
  [
    'the key of an agent of a person it is shared with, without an edge',
    key(ben, 'agent', 'a4'),
    { use: hidden, handle: 'person_required', own: hidden, govern: 'person_required' },
  ],
]

describe('access to an agent by caller', () => {
  for (const [who, caller, expected] of table) {
    test(who, () => {
      const permitted = caller.kind === 'key' ? edges.get(caller.key.agent_id ?? '') : undefined
      const relation = relationOf(caller, agent, permitted ?? new Set())
      for (const [group, ids] of Object.entries(groups)) {
        for (const id of ids) {
          const endpoint = endpoints.find((each) => each.id === id)
          assert.ok(endpoint, `there is an endpoint ${id}`)
          const verdict = may(caller, endpoint.access, relation)
          // `Object.entries` loses the type of the keys.
          assert.equal('allow' in verdict ? 'yes' : verdict.refuse, expected[group as Group], `${who}: ${id}`)
        }
      }
    })
  }
})

test('over HTTP: people it is shared with can use it and get owner_required; others see nothing', async () => {
  await using world = await openAgents(await openTestDatabase())
  const [ann, ben, eve] = [await world.person(), await world.person('user'), await world.person('creator')]
  for (const name of ['one', 'two']) await world.request(ann.key, 'POST', '/api/agents', { name })
  await world.request(ann.key, 'POST', '/api/agents/one/share', { email: ben.email })
  const cases: [method: string, path: string, body: unknown, shared: number][] = [
    ['GET', '', undefined, 200],
    ['GET', '/tags', undefined, 200],
    ['GET', '/permissions', undefined, 200],
    ['GET', '/autonomy', undefined, 200],
    ['GET', '/logs', undefined, 200],
    ['POST', '/stop', undefined, 200],
    ['POST', '/start', undefined, 200],
    ['GET', '/shares', undefined, 403],
    ['GET', '/access', undefined, 403],
    ['POST', '/share', { email: 'eve@example.com' }, 403],
    ['DELETE', '/share/eve@example.com', undefined, 403],
    ['PUT', '/permissions', { permitted_agents: [] }, 403],
    ['POST', '/permissions/two', undefined, 403],
    ['DELETE', '/permissions/two', undefined, 403],
    ['PUT', '/tags', { tags: ['x'] }, 403],
    ['POST', '/tags/x', undefined, 403],
    ['PUT', '/label', { label: 'x' }, 403],
    ['PUT', '/autonomy', { enabled: false }, 403],
    ['PUT', '/rename', { new_name: 'x' }, 403],
    ['DELETE', '', undefined, 403],
  ]
  for (const [method, path, body, expected] of cases) {
    const call = `${method} ${path}`
    const shared = await world.request(ben.key, method, `/api/agents/one${path}`, body)
    assert.deepEqual(
      [shared.status, shared.json?.error],
      [expected, expected === 200 ? undefined : 'owner_required'],
      call,
    )
    const strange = await world.request(eve.key, method, `/api/agents/one${path}`, body)
    assert.deepEqual([strange.status, strange.json.error], [404, 'agent_not_found'], call)
    // The refusal does not depend on the request body.
    const bad = await world.request(
      eve.key,
      method,
      `/api/agents/one${path}`,
      body === undefined ? undefined : {},
    )
    assert.equal(bad.status, 404, call)
  }
  const { json } = await world.request(ann.key, 'GET', '/api/agents/one')
  assert.deepEqual([json.name, json.label, json.tags, json.shares.length], ['one', null, [], 1])
})
