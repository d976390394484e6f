import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Access } from '@roost/contracts/kit/access'
import { anonymous, type Caller } from '../identity/access/caller.ts'
import { Fault, isFault } from '../kit/fault.ts'
import { secret } from '../kit/secret.ts'
import { createGuard, type GuardDeps } from './guard.ts'
import { createInternalCredentials } from './internal-credentials.ts'

const caller: Caller = {
  kind: 'session',
  user: { id: 'u1', username: 'admin', email: null, role: 'user' },
  session: { jti: 'j', mode: 'admin', expires_at: '' },
}
const agent = { id: 'a1', name: 'scout', owner_id: 'u1', is_system: false }

/** A guard that records its steps in order. */
function guardWith(overrides: Partial<GuardDeps>) {
  const steps: string[] = []
  const note =
    <A extends unknown[], R>(name: string, act: (...args: A) => R) =>
    (...args: A) => {
      steps.push(name)
      return act(...args)
    }
  const deps: GuardDeps = {
    identify: async () => caller,
    refuseBefore: () => null,
    agentAccess: async () => ({ agent, relation: 'owner', mayWrite: true }),
    refuseAfter: () => null,
    ...overrides,
  }
  const guard = createGuard({
    identify: note('identify', deps.identify),
    refuseBefore: note('before', deps.refuseBefore),
    agentAccess: note('reach', deps.agentAccess),
    refuseAfter: note('after', deps.refuseAfter),
  })
  const run = (access: Access, name?: string) => guard(access, 'Bearer x', name, () => {})
  return { run, steps }
}

test('checks run in the order credential, fence and gate, visibility, relation and role', async () => {
  const { run, steps } = guardWith({})
  await run({ who: 'access' }, 'scout')
  assert.deepEqual(steps, ['identify', 'before', 'reach', 'after'])
})

test('a refused gate causes no lookup', async () => {
  const { run, steps } = guardWith({ refuseBefore: () => 'person_required' })
  await assert.rejects(run({ who: 'owner', gate: 'person' }, 'scout'), { code: 'person_required' })
  assert.deepEqual(steps, ['identify', 'before'])
})

test('404 for an agent that is not visible, before its relation is checked', async () => {
  const { run, steps } = guardWith({ agentAccess: async () => null })
  await assert.rejects(run({ who: 'owner' }, 'ghost'), { code: 'agent_not_found' })
  assert.deepEqual(steps, ['identify', 'before', 'reach'])
})

test('403 for the relation only after the agent was found', async () => {
  const { run } = guardWith({ refuseAfter: () => 'owner_required' })
  await assert.rejects(
    run({ who: 'owner' }, 'scout'),
    (error) => error instanceof Fault && error.code === 'owner_required',
  )
})

test('an open route ignores credentials', async () => {
  const { run, steps } = guardWith({})
  const admitted = await run({ who: 'none' })
  assert.equal(admitted.caller, anonymous)
  assert.deepEqual(steps, [])
})

test('an agent route without an agent in its path refuses everyone', async () => {
  const { run } = guardWith({})
  await assert.rejects(run({ who: 'access' }), { code: 'agent_not_found' })
})

test("403 agent_identity_required for another agent's key on a route of the agent itself", async () => {
  const agentAccess = () => Promise.reject(new Fault('agent_not_permitted'))
  const { run } = guardWith({ agentAccess })
  await assert.rejects(run({ who: 'agent' }, 'scout'), { code: 'agent_identity_required' })
  await assert.rejects(run({ who: 'access' }, 'scout'), { code: 'agent_not_permitted' })
})

test('an internal endpoint admits the internal secret alone, unless it names another credential', async () => {
  const withoutCredentials = guardWith({}).run
  const credentials = createInternalCredentials({
    secret: secret('the-secret'),
    metricsToken: secret('the-token'),
  })
  const identifyAgent = async (authorization: string | undefined) => {
    assert.equal(authorization, 'Bearer agent')
    return caller
  }
  const guard = createGuard({
    identify: identifyAgent,
    agentAccess: async () => null,
    refuseBefore: () => null,
    refuseAfter: () => null,
    internal: credentials,
  })
  const outcome = (access: Access, authorization?: string) =>
    guard(access, authorization, undefined, () => {}).then(
      ({ isPlatform, caller: { kind } }) => (isPlatform ? 'platform' : kind),
      (error: Fault) => error.code,
    )
  const none = { who: 'internal' } as const
  const metrics = { who: 'internal', alsoAdmits: 'metrics_token' } as const
  const agents = { who: 'internal', alsoAdmits: 'agent' } as const
  for (const access of [none, metrics, agents]) {
    assert.equal(await outcome(access, 'Bearer the-secret'), 'platform')
    assert.equal(await outcome(access), 'not_authenticated')
  }
  assert.deepEqual(
    await Promise.all(
      [none, metrics].flatMap((access) =>
        ['the-token', 'agent', 'the-secret2', ''].map((token) => outcome(access, `Bearer ${token}`)),
      ),
    ),
    [...Array(4).fill('invalid_token'), 'anonymous', ...Array(3).fill('invalid_token')],
  )
  assert.equal(await outcome(none, 'the-secret'), 'invalid_token')
  assert.equal(await outcome(agents, 'Bearer agent'), 'session')
  await assert.rejects(withoutCredentials(none), { code: 'invalid_token' })
})

test('403 workspace_read_only for a reader, only where the endpoint changes the workspace', async () => {
  const reads = { agentAccess: async () => ({ agent, relation: 'shared' as const, mayWrite: false }) }
  const { run } = guardWith(reads)
  await run({ who: 'access' }, 'scout')
  await assert.rejects(run({ who: 'access', writesWorkspace: true }, 'scout'), (error) =>
    isFault(error, 'workspace_read_only'),
  )
})
