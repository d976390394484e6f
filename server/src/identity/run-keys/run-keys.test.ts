import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Principal } from '@roost/contracts/link/runs'
import type { Account } from '../users/index.ts'
import { createRunKeys, isRunKeyText, type RunOf, runOf } from './index.ts'

const task: RunOf = { kind: 'execution', id: 'e1', agentId: 'a1' }
const chat: RunOf = { kind: 'session', id: 's1', agentId: 'a1' }
const account = (id: string, over: Partial<Account> = {}): Account =>
  // Only these properties are read.
  ({ id, username: id, email: `${id}@example.com`, role: 'user', suspended_at: null, ...over }) as Account

function start() {
  const accounts = new Map([
    ['owner', account('owner')],
    ['ann', account('ann')],
  ])
  const running = new Map([
    ['execution:e1', { id: 'e1', principal: 'user:owner' }],
    ['session:s1', { id: 'e2', principal: 'user:owner' }],
  ])
  const agents = new Map([
    [
      'a1',
      { id: 'a1', name: 'scout', owner_id: 'owner', is_system: false, agent_key_id: 'k1' as string | null },
    ],
  ])
  const rights: Record<string, Omit<Principal, 'id'> | { ended: string }> = {
    'user:owner': { access: 'owner', credentials: true },
    'user:ann': { access: 'write', credentials: true },
    'public:v1': { access: 'write', credentials: false },
    'agent:a2': { access: 'write', credentials: true },
  }
  const workingKeys = new Set(['k1', 'k2'])
  let queries = 0
  const make = (secret: string) =>
    createRunKeys({
      mac: (text) => createHmac('sha256', secret).update(text).digest('base64url'),
      users: { find: async (id) => accounts.get(id) ?? null },
      running: async ({ kind, id }) => {
        queries += 1
        return running.get(`${kind}:${id}`) ?? null
      },
      isKeyWorking: async (id) => workingKeys.has(id),
      agent: async (id) => agents.get(id) ?? null,
      async principalFor(_, id) {
        const found = rights[id] ?? { ended: 'The agent is no longer shared.' }
        return 'ended' in found ? found : { id, ...found }
      },
    })
  return { accounts, running, workingKeys, agents, rights, queries: () => queries, make, keys: make('key-1') }
}

test('a key has a prefix and identifies the run, the agent and the principal of its caller', async () => {
  const { keys } = start()
  const key = keys.mint(task, 'k1', 'user:owner')
  assert.ok(key.startsWith('svc_mcp_run_') && isRunKeyText(key), key)
  const caller = await keys.verify(key)
  assert.equal(caller?.user.id, 'owner')
  assert.deepEqual(caller?.key, {
    id: 'k1',
    name: 'Agent scout',
    scope: 'agent',
    agent_id: 'a1',
    principal: 'user:owner',
  })
  assert.deepEqual([caller?.run?.execution_id, caller?.run?.reach], ['e1', 'owner'])
})

test('turns of a conversation share a key, tasks do not', () => {
  const { keys } = start()
  const row = { id: 'e1', agent_id: 'a1', kind: 'chat' as const, session_id: 's1' }
  const of = (over: object) => keys.mint(runOf({ ...row, ...over }), 'k1', 'user:owner')
  assert.equal(of({ id: 'e1' }), of({ id: 'e2' }))
  assert.notEqual(of({ kind: 'task', id: 'e1' }), of({ kind: 'task', id: 'e2' }))
  assert.notEqual(of({ session_id: 's1' }), of({ session_id: 's2' }))
})

test('a key stops with its run, its agent, the key of the agent, and the access of the principal', async () => {
  for (const end of [
    ({ running }: ReturnType<typeof start>) => running.clear(),
    ({ running }: ReturnType<typeof start>) => running.set('session:s1', { id: 'e3', principal: 'user:ann' }),
    ({ agents }: ReturnType<typeof start>) => agents.clear(),
    ({ agents }: ReturnType<typeof start>) => {
      for (const agent of agents.values()) agent.agent_key_id = 'k2'
    },
    ({ workingKeys }: ReturnType<typeof start>) => workingKeys.delete('k1'),
    ({ rights }: ReturnType<typeof start>) => delete rights['user:owner'],
    ({ accounts }: ReturnType<typeof start>) => accounts.delete('owner'),
    ({ accounts }: ReturnType<typeof start>) =>
      accounts.set('owner', account('owner', { suspended_at: '2030-01-01T00:00:00.000Z' })),
  ]) {
    const world = start()
    const key = world.keys.mint(chat, 'k1', 'user:owner')
    const ref = (await world.keys.verify(key))?.run?.ref ?? assert.fail('the key does not work')
    assert.equal((await world.keys.callerOf(ref))?.key.id, 'k1')
    end(world)
    assert.equal(await world.keys.verify(key), null, end.toString())
    assert.equal(await world.keys.callerOf(ref), null, end.toString())
    assert.ok(world.keys.isGenuine(key))
  }
})

test('a changed, invented or foreign key is refused without a query', async () => {
  const { keys, make, queries } = start()
  const key = keys.mint(task, 'k1', 'user:owner')
  const forged = [
    key.replace('_ee1.', '_ee2.'),
    key.replace('_ee1.', '_se1.'),
    key.replace('.a1.', '.a2.'),
    `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`,
    make('key-2').mint(task, 'k1', 'user:owner'),
    `svc_mcp_run_${'x'.repeat(43)}`,
    '',
  ]
  for (const each of forged) {
    assert.equal(keys.isGenuine(each), false, each)
    assert.equal(await keys.verify(each), null, each)
  }
  assert.equal(queries(), 0)
  await keys.verify(key)
  assert.equal(queries(), 1)
})

test('the reference of a key is no credential', async () => {
  const { keys } = start()
  const ref = (await keys.verify(keys.mint(task, 'k1', 'user:owner')))?.run?.ref ?? assert.fail()
  assert.equal(await keys.verify(ref), null)
  assert.equal(await keys.verify(ref.replace('run_', 'svc_mcp_run_')), null)
})

test('the key of another person reaches what that person does, the key of a stranger calls agents only', async () => {
  const { keys, running } = start()
  const callers = []
  for (const principal of ['user:ann', 'public:v1', 'agent:a2']) {
    running.set('execution:e1', { id: 'e1', principal })
    callers.push(await keys.verify(keys.mint(task, 'k1', principal)))
  }
  assert.deepEqual(
    callers.map((caller) => [caller?.user.id, caller?.run?.reach, caller?.key.id !== 'k1']),
    [
      ['ann', 'shared', true],
      ['owner', 'guest', true],
      ['owner', 'shared', true],
    ],
  )
})

test('the key of a person who may only read, and of one without a right, calls agents only', async () => {
  const { keys, running, rights } = start()
  running.set('execution:e1', { id: 'e1', principal: 'user:ann' })
  for (const access of ['read', 'none'] as const) {
    rights['user:ann'] = { access, credentials: false }
    assert.equal((await keys.verify(keys.mint(task, 'k1', 'user:ann')))?.run?.reach, 'guest')
  }
})
