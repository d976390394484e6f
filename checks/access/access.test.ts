import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { endpoints } from '@roost/contracts'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { type EntryPoint, entryPoints } from './entry-points.ts'
import { kinds, type RefusedCredential } from './kinds.ts'
import { runsOf } from './runs.ts'
import { accessPage, byFeature, nameOf, readPage } from './table.ts'
import { tryToConnect } from './try-to-connect.ts'
import { openWorld, type Reply, type World } from './world.ts'

/** The content of `docs/reference/access.md`; `checks/reference.ts` checks that the file is current. */
const page = readPage(await accessPage())
/** Errors that refuse a caller for its identity. Any other response shows that the call passed the guard. */
const refusals = [
  'not_authenticated',
  'invalid_token',
  'run_key_ended',
  'principal_not_allowed',
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
  'workspace_read_only',
  'agent_not_found',
  'agent_not_permitted',
  'agent_access_denied',
]
const target = 'scout'
const readerShare = { email: 'reader@example.org', access: 'read' }

let world: World
/** The credentials of each kind of caller; several for refused ones. */
let credentialsOf: Map<string, Record<string, string | undefined>>
/** Another person with an agent: the tenant from which the foreign keys come. */
let foreigner: string
let foreignKey: string
const owner = () => credentialsOf.get('owner')?.session

before(async () => {
  world = await openWorld()
  credentialsOf = await credentials()
})
after(() => world?.[Symbol.asyncDispose]())

async function credentials(): Promise<typeof credentialsOf> {
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
  const reader = await person('reader@example.org', 'user')
  await world.ok('POST', `/api/agents/${target}/share`, {
    token: ownerSession,
    body: readerShare,
  })
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
  foreigner = await person('foreigner@example.org', 'creator')
  const foreignId = await world.makeAgent(foreigner, 'foreign')
  foreignKey = await world.plantKey('agent', await world.idOf(foreigner), foreignId)
  return new Map<string, Record<string, string | undefined>>([
    ['nobody', { none: undefined }],
    ['refused', refused],
    ['stranger', { session: await person('stranger@example.org', 'user'), 'ex-admin': exAdmin, unshared }],
    ['shared', { session: shared }],
    ['reader', { session: reader }],
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

/** Started last, because other kinds of callers stop and delete the agent. */
async function startRuns(): Promise<void> {
  const token = (kind: string) => credentialsOf.get(kind)?.session ?? assert.fail(kind)
  const agentKey = credentialsOf.get('agent key')?.key ?? assert.fail('no key')
  await world.ok('POST', `/api/agents/${target}/start`, { token: token('owner') })
  const start = (...people: string[]) => runsOf(world, { agent: target, agentKey, tokens: people.map(token) })
  credentialsOf.set('ended run', await endedRuns(agentKey))
  const [ownerRun, sharedRun, guestRun] = (await start('owner', 'shared', 'reader')).keys
  credentialsOf.set('owner run', { key: ownerRun })
  credentialsOf.set('shared run', { key: sharedRun })
  credentialsOf.set('guest run', { key: guestRun })
  await world.ok('POST', '/api/agents/foreign/start', { token: foreigner })
  for (const agent of [target, 'foreign']) {
    const body = { max_parallel_tasks: 10 }
    await world.ok('PUT', `/api/agents/${agent}/capacity`, { token: world.admin, body })
  }
  const foreign = { agent: 'foreign', agentKey: foreignKey }
  credentialsOf.set('foreign run', {
    key: (await runsOf(world, { ...foreign, tokens: [foreigner] })).keys[0],
  })
  const waiting = [(await visit('foreign', foreigner)).run]
  credentialsOf.set('foreign guest', {
    key: (await runsOf(world, { ...foreign, tokens: [], waiting })).keys[0],
  })
  // The table describes a stopped agent. A stop would end the runs.
  await world.setStopped(target)
}

let guests = 0

/** One key for each way in which a run and its key end. */
async function endedRuns(agentKey: string): Promise<Record<string, string | undefined>> {
  const token = owner()
  const keyFor = async (tokens: string[], waiting: string[] = []) =>
    (await runsOf(world, { agent: target, agentKey, tokens, waiting })).keys[0]
  const path = `/api/agents/${target}`
  const { ids, keys } = await runsOf(world, { agent: target, agentKey, tokens: [token ?? assert.fail()] })
  await world.ok('POST', `${path}/executions/${ids[0]}/terminate`, { token })
  guests += 1
  const email = `guest-${guests}@example.org`
  const guest = await world.person(email, 'user')
  await world.ok('POST', `${path}/share`, { token, body: { email } })
  const ofShare = await keyFor([guest])
  await world.ok('DELETE', `${path}/share/${email}`, { token })
  const { link, run } = await visit(target, token)
  const ofLink = await keyFor([], [run])
  await world.ok('PUT', `${path}/public-links/${link}`, { token, body: { enabled: false } })
  return { terminated: keys[0], 'of an ended share': ofShare, 'of a disabled link': ofLink }
}

/** A visitor of a new public link sends a message. Returns the ids of the link and of the run. */
async function visit(agent: string, token: string | undefined): Promise<{ link: string; run: string }> {
  const link = await world.ok('POST', `/api/agents/${agent}/public-links`, { token, body: { name: 'site' } })
  const body = { message: 'hello', async_mode: true }
  const { execution_id } = await world.ok('POST', `/api/public/chat/${link.token}`, { body })
  return { link: link.id, run: execution_id }
}

async function connectorKey(token: string, agent: string): Promise<string> {
  return (await world.ok('POST', `/api/agents/${agent}/connector/key`, { token })).key
}

test('the table has exactly one row for each endpoint and entry point', () => {
  const named = [...endpoints.map(nameOf), ...entryPoints.map(({ name }) => name)]
  assert.deepEqual([...page.keys()].sort(), [...named].sort())
})

for (const kind of kinds) {
  test(`${kind.id}: every route answers as the table says`, async () => {
    if (kind.id === 'demoted owner') await world.setRole('owner@example.org', 'user')
    if (kind.id === 'owner run') await startRuns()
    const mismatches: string[] = []
    let calls = 0
    for (const endpoint of inOrder(endpoints)) {
      const expected = page.get(nameOf(endpoint))?.get(kind.id)
      for (const [credential, token] of Object.entries(credentialsOf.get(kind.id) ?? {})) {
        const reply = await call(endpoint, token)
        const verdict = verdictOf(endpoint, reply)
        if (endpoint.access.acceptsLoggedOut && credential === leftSession) {
          if (verdict !== 'ok') mismatches.push(`${nameOf(endpoint)} (${credential}): ${verdict}, not ok`)
        } else if (!isAsExpected(endpoint, verdict, expected))
          mismatches.push(`${nameOf(endpoint)} (${credential}): ${verdict}, not ${expected}`)
        calls += 1
      }
      if (endpoint.method !== 'GET' && expected === 'ok') await restore(kind.id, endpoint)
    }
    if (kind.id === 'demoted owner') await world.setRole('owner@example.org', 'creator')
    assert.deepEqual(mismatches.slice(0, 12), [])
    assert.ok(calls >= endpoints.length)
  })
}

/** A session may log out again after its logout, and nothing else. */
const leftSession: RefusedCredential = 'session after logout'

/** Logout comes last, because it ends the credential. */
function inOrder(all: readonly Endpoint[]): Endpoint[] {
  return [...all].sort((one, other) => Number(one.id === 'logout') - Number(other.id === 'logout'))
}

/** Sends an invalid body on purpose: admitted callers get an error, and nothing changes. */
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

/** The Workspace checks its own tokens after body and query, and with its own error. */
function isAsExpected(
  { access, body, query }: Endpoint,
  verdict: string,
  expected: string | undefined,
): boolean {
  if (verdict === expected || access.who !== 'workspace') return verdict === expected
  if (expected === byFeature) return true
  return verdict.startsWith('401 ') || ((body ?? query) !== undefined && verdict === 'ok')
}

function verdictOf({ access }: Endpoint, { status, error }: Reply): string {
  const isRefused = error !== null && refusals.includes(error)
  // On other routes `not_found` concerns an object below the route, so the caller passed.
  const isHidden = access.who === 'internal' && error === 'not_found'
  return isRefused || isHidden ? `${status} ${error}` : 'ok'
}

/** Restores what an admitted call has deleted. */
async function restore(kind: string, endpoint: Endpoint): Promise<void> {
  if (endpoint.id === 'deleteAgent') {
    const isDeleted = (await world.ask('GET', `/api/agents/${target}`, { token: world.admin })).status === 404
    if (isDeleted) await recreateAgent()
    // Creating it again needed the role.
    if (isDeleted && kind === 'demoted owner') await world.setRole('owner@example.org', 'user')
  }
  if (endpoint.id === 'logout') await signInAgain(kind)
}

async function signInAgain(kind: string): Promise<void> {
  // Email codes are rate limited for each address.
  await world.clock.advance(601)
  const session = async (name: string) => (await world.signIn(`${name}@example.org`)).access_token
  if (kind === 'admin') credentialsOf.set(kind, { session: await world.renewAdmin() })
  if (kind === 'shared' || kind === 'reader') credentialsOf.set(kind, { session: await session(kind) })
  if (kind === 'owner' || kind === 'demoted owner') {
    const renewed = { session: await session('owner') }
    credentialsOf.set('owner', renewed).set('demoted owner', renewed)
  }
  if (kind === 'stranger') {
    credentialsOf.set(kind, {
      session: await session('stranger'),
      'ex-admin': await session('ex-admin'),
      unshared: await session('unshared'),
    })
  }
}

/** Creates the agent again with the same owner, share and permission; its keys were deleted with it. */
async function recreateAgent(): Promise<void> {
  const ownerSession = owner() ?? assert.fail('no owner')
  await world.setRole('owner@example.org', 'creator')
  const id = await world.makeAgent(ownerSession, target)
  const email = 'shared@example.org'
  await world.ok('POST', `/api/agents/${target}/share`, { token: ownerSession, body: { email } })
  await world.ok('POST', `/api/agents/${target}/share`, { token: ownerSession, body: readerShare })
  await world.ok('POST', `/api/agents/permitted/permissions/${target}`, { token: ownerSession })
  const ownerId = await world.idOf(ownerSession)
  credentialsOf.set('agent key', { key: await world.plantKey('agent', ownerId, id) })
  credentialsOf.set('connector key', { key: await connectorKey(ownerSession, target) })
}

test('every entry point answers as the table says', async () => {
  // Callers in between have ended the runs.
  await startRuns()
  const mismatches: string[] = []
  for (const entry of entryPoints)
    for (const [kind, credentials] of credentialsOf)
      for (const [credential, token] of Object.entries(credentials)) {
        const verdict = await answerOf(entry, token)
        const expected = page.get(entry.name)?.get(kind)
        if (verdict !== expected)
          mismatches.push(`${entry.name}: ${kind} (${credential}): ${verdict}, not ${expected}`)
      }
  assert.deepEqual(mismatches.slice(0, 12), [])

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
    const isLogged = entries.some(
      (entry: Record<string, unknown>) =>
        entry.event_action === 'open_socket' &&
        entry.endpoint === endpoint &&
        entry.mcp_scope === mcp_scope &&
        entry.status === status,
    )
    assert.ok(isLogged, `the log has a refused ${endpoint} (${status})`)
  }
})

async function answerOf(entry: EntryPoint, token: string | undefined): Promise<string> {
  const internal = entry.listener === 'internal'
  if (entry.method !== 'WS') {
    const reply = await world.ask(entry.method, entry.path, {
      token,
      internal,
      body: entry.method === 'POST' ? {} : undefined,
    })
    if (reply.status < 400) return 'ok'
    // The broker uses the providers' error formats.
    return entry.path.startsWith('/broker') && internal
      ? String(reply.status)
      : `${reply.status} ${reply.error}`
  }
  const base = (internal ? world.internalUrl : world.url).replace('http', 'ws')
  const query = entry.sends === 'bearer' ? '' : `?${await queryOf(entry, token)}`
  const headers = entry.sends === 'bearer' && token ? { authorization: `Bearer ${token}` } : {}
  return tryToConnect(base + entry.path + query, headers as Record<string, string>)
}

async function queryOf(entry: EntryPoint, token: string | undefined): Promise<string> {
  if (entry.sends === 'query') return `token=${token ?? ''}`
  const reply = await world.ask('POST', '/api/ws/ticket', { token })
  const ticket = reply.status === 200 ? JSON.parse(reply.text).ticket : token
  return `ticket=${ticket ?? ''}`
}
