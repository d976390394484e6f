import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { endpoints } from '@roost/contracts'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { type Door, doors } from './doors.ts'
import { kinds, type RefusedCredential } from './kinds.ts'
import { knock } from './knock.ts'
import { accessPage, byFeature, nameOf, readPage } from './table.ts'
import { openWorld, type Reply, type World } from './world.ts'

/** As it is written to `docs/reference/access.md`, whose freshness `checks/reference.ts` sees to. */
const page = readPage(await accessPage())
/** Answers that refuse a caller for who it is; every other answer shows that the call passed. */
const refusals = [
  'not_authenticated',
  'invalid_token',
  'session_expired',
  'sign_in_required',
  'account_suspended',
  'scope_not_allowed',
  'human_only',
  'person_required',
  'agent_identity_required',
  'admin_required',
  'owner_required',
  'role_required',
  'agent_not_found',
  'agent_not_permitted',
  'agent_access_denied',
]
const target = 'scout'

let world: World
/** What each kind of caller shows; several for those that are refused. */
let shown: Map<string, Record<string, string | undefined>>
const owner = () => shown.get('owner')?.session

before(async () => {
  world = await openWorld()
  shown = await credentials()
})
after(() => world?.[Symbol.asyncDispose]())

async function credentials(): Promise<typeof shown> {
  const refused = await world.refused()
  const { admin } = world
  const person = (email: string, role: string) => world.person(email, role)
  const ownerSession = await person('owner@example.org', 'creator')
  const agentId = await world.makeAgent(ownerSession, target)
  const permittedId = await world.makeAgent(ownerSession, 'permitted')
  const otherId = await world.makeAgent(ownerSession, 'other')
  await world.ok('POST', `/api/agents/permitted/permissions/${target}`, { token: ownerSession })
  const shared = await person('shared@example.org', 'user')
  const email = 'shared@example.org'
  await world.ok('POST', `/api/agents/${target}/share`, { token: ownerSession, body: { email } })
  const unshared = await person('unshared@example.org', 'user')
  await world.ok('POST', `/api/agents/${target}/share`, {
    token: ownerSession,
    body: { email: 'unshared@example.org' },
  })
  await world.ok('DELETE', `/api/agents/${target}/share/unshared@example.org`, { token: ownerSession })
  const exAdmin = await person('ex-admin@example.org', 'admin')
  await world.setRole('ex-admin@example.org', 'user')
  const ownerId = await world.idOf(ownerSession)
  const adminId = await world.idOf(admin)
  return new Map<string, Record<string, string | undefined>>([
    ['nobody', { none: undefined }],
    ['refused', refused],
    ['stranger', { session: await person('stranger@example.org', 'user'), 'ex-admin': exAdmin, unshared }],
    ['shared', { session: shared }],
    ['owner', { session: ownerSession }],
    ['demoted owner', { session: ownerSession }],
    ['admin', { session: admin }],
    ['user key', { key: (await world.mint(ownerSession, { name: 'user' })).key }],
    ['agent key', { key: await world.plantKey('agent', ownerId, agentId) }],
    ['permitted agent', { key: await world.plantKey('agent', ownerId, permittedId) }],
    ['other agent', { key: await world.plantKey('agent', ownerId, otherId) }],
    ['system key', { key: await world.plantKey('system', adminId, null) }],
    ['ops key', { key: (await world.mint(admin, { name: 'ops', scope: 'ops' })).key }],
    ['portal key', { key: (await world.mint(admin, { name: 'portal', scope: 'portal_delegate' })).key }],
    ['connector key', { key: await connectorKey(ownerSession, target) }],
    ['other connector', { key: await connectorKey(ownerSession, 'other') }],
  ])
}

async function connectorKey(token: string, agent: string): Promise<string> {
  return (await world.ok('POST', `/api/agents/${agent}/connector/key`, { token })).key
}

test('every endpoint and every door has its row, and nothing else has', () => {
  const named = [...endpoints.map(nameOf), ...doors.map(({ name }) => name)]
  assert.deepEqual([...page.keys()].sort(), [...named].sort())
})

for (const kind of kinds) {
  test(`${kind.id}: every route answers as the table says`, async () => {
    if (kind.id === 'demoted owner') await world.setRole('owner@example.org', 'user')
    const wrong: string[] = []
    let asked = 0
    for (const endpoint of inOrder(endpoints)) {
      const expected = page.get(nameOf(endpoint))?.get(kind.id)
      for (const [credential, token] of Object.entries(shown.get(kind.id) ?? {})) {
        const reply = await call(endpoint, token)
        const found = verdictOf(endpoint, reply)
        if (endpoint.access.admitsLeft && credential === leftSession) {
          if (found !== 'ok') wrong.push(`${nameOf(endpoint)} (${credential}): ${found}, not ok`)
        } else if (!isAsExpected(endpoint, found, expected))
          wrong.push(`${nameOf(endpoint)} (${credential}): ${found}, not ${expected}`)
        asked += 1
      }
      if (endpoint.method !== 'GET' && expected === 'ok') await restore(kind.id, endpoint)
    }
    if (kind.id === 'demoted owner') await world.setRole('owner@example.org', 'creator')
    assert.deepEqual(wrong.slice(0, 12), [])
    assert.ok(asked >= endpoints.length)
  })
}

/** Who has left may leave again, and nothing else. */
const leftSession: RefusedCredential = 'session after logout'

/** Logging out ends the credential with which the rest is asked. */
function inOrder(all: readonly Endpoint[]): Endpoint[] {
  return [...all].sort((one, other) => Number(one.id === 'logout') - Number(other.id === 'logout'))
}

/** Bodies are broken on purpose: who is let in is told so, and nothing is changed. */
async function call(endpoint: Endpoint, token: string | undefined): Promise<Reply> {
  const path = endpoint.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => parameters[name] ?? 'none')
  const type = endpoint.bodyKind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  const isSent = endpoint.method !== 'GET' && endpoint.body !== undefined
  return world.ask(endpoint.method, path, {
    token,
    ...(isSent ? { body: '{', headers: { 'content-type': type } } : {}),
  })
}
const parameters: Record<string, string> = {
  name: target,
  provider: 'voice',
  email: 'none@example.org',
  target: 'other',
}

/** A Workspace's own tokens are read by the feature, after body and query and under a name of its own. */
function isAsExpected(
  { access, body, query }: Endpoint,
  found: string,
  expected: string | undefined,
): boolean {
  if (found === expected || access.who !== 'workspace') return found === expected
  if (expected === byFeature) return true
  return found.startsWith('401 ') || ((body ?? query) !== undefined && found === 'ok')
}

function verdictOf({ access }: Endpoint, { status, error }: Reply): string {
  const isRefused = error !== null && refusals.includes(error)
  // Elsewhere it speaks of something below the route, which was looked for.
  const isNotThere = access.who === 'internal' && error === 'not_found'
  return isRefused || isNotThere ? `${status} ${error}` : 'ok'
}

/** What a call that passed has taken away is made again. */
async function restore(kind: string, endpoint: Endpoint): Promise<void> {
  if (endpoint.id === 'deleteAgent') {
    const gone = (await world.ask('GET', `/api/agents/${target}`, { token: world.admin })).status === 404
    if (gone) await againAnAgent()
  }
  if (endpoint.id === 'logout') await signInAgain(kind)
}

async function signInAgain(kind: string): Promise<void> {
  // Codes by mail are bounded for each address.
  await world.clock.advance(601)
  const session = async (name: string) => (await world.signIn(`${name}@example.org`)).access_token
  if (kind === 'admin') shown.set(kind, { session: await world.renewAdmin() })
  if (kind === 'shared') shown.set(kind, { session: await session('shared') })
  if (kind === 'owner' || kind === 'demoted owner') {
    const again = { session: await session('owner') }
    shown.set('owner', again).set('demoted owner', again)
  }
  if (kind === 'stranger') {
    shown.set(kind, {
      session: await session('stranger'),
      'ex-admin': await session('ex-admin'),
      unshared: await session('unshared'),
    })
  }
}

/** Of the same owner, shared and permitted as before; the keys of the one before are gone with it. */
async function againAnAgent(): Promise<void> {
  const ownerSession = owner() ?? assert.fail('no owner')
  await world.setRole('owner@example.org', 'creator')
  const id = await world.makeAgent(ownerSession, target)
  const email = 'shared@example.org'
  await world.ok('POST', `/api/agents/${target}/share`, { token: ownerSession, body: { email } })
  await world.ok('POST', `/api/agents/permitted/permissions/${target}`, { token: ownerSession })
  const ownerId = await world.idOf(ownerSession)
  shown.set('agent key', { key: await world.plantKey('agent', ownerId, id) })
  shown.set('connector key', { key: await connectorKey(ownerSession, target) })
}

test('every door answers as the table says', async () => {
  const wrong: string[] = []
  for (const door of doors)
    for (const [kind, credentials] of shown)
      for (const [credential, token] of Object.entries(credentials)) {
        const found = await answerOf(door, token)
        const expected = page.get(door.name)?.get(kind)
        if (found !== expected) wrong.push(`${door.name}: ${kind} (${credential}): ${found}, not ${expected}`)
      }
  assert.deepEqual(wrong.slice(0, 12), [])

  // The log is written in batches.
  await world.clock.advance(1)
  const path = '/api/audit-log?event_type=authorization&limit=1000'
  const { entries } = await world.ok('GET', path, { token: await world.renewAdmin() })
  for (const [endpoint, mcp_scope, status] of [
    ['WS /ws', null, 401],
    ['WS /ws/events', 'ops', 403],
    ['WS /ws/events', null, 401],
    ['WS /link', 'user', 403],
    ['WS /link', null, 401],
  ]) {
    const told = entries.some(
      (entry: Record<string, unknown>) =>
        entry.event_action === 'open_socket' &&
        entry.endpoint === endpoint &&
        entry.mcp_scope === mcp_scope &&
        entry.status === status,
    )
    assert.ok(told, `the log tells of a refused ${endpoint} (${status})`)
  }
})

async function answerOf(door: Door, token: string | undefined): Promise<string> {
  const internal = door.listener === 'internal'
  if (door.method !== 'WS') {
    const reply = await world.ask(door.method, door.path, {
      token,
      internal,
      body: door.method === 'POST' ? {} : undefined,
    })
    if (reply.status < 400) return 'ok'
    // The broker speaks in the words of the providers.
    return door.path.startsWith('/broker') && internal
      ? String(reply.status)
      : `${reply.status} ${reply.error}`
  }
  const base = (internal ? world.internalUrl : world.url).replace('http', 'ws')
  const query = door.shown === 'bearer' ? '' : `?${await queryOf(door, token)}`
  const headers = door.shown === 'bearer' && token ? { authorization: `Bearer ${token}` } : {}
  return knock(base + door.path + query, headers as Record<string, string>)
}

async function queryOf(door: Door, token: string | undefined): Promise<string> {
  if (door.shown === 'query') return `token=${token ?? ''}`
  const reply = await world.ask('POST', '/api/ws/ticket', { token })
  const ticket = reply.status === 200 ? JSON.parse(reply.text).ticket : token
  return `ticket=${ticket ?? ''}`
}
