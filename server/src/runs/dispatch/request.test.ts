import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyScope } from '@roost/contracts/kit/access'
import type { KeyCaller } from '../../identity/access/caller.ts'
import { isFault } from '../../kit/fault.ts'
import { person } from '../../test/run-platform.ts'
import { holderOf, modelOf, readSource, sourceOf, triggerOf } from './request.ts'

const key = (scope: KeyScope): KeyCaller => ({
  kind: 'key',
  user: person().user,
  key: { id: 'k1', name: 'k', scope, agent_id: scope === 'agent' ? 'a7' : null },
})

test("a person's sessions and user keys are one holder; agents and connectors are separate", () => {
  assert.equal(holderOf(person()), 'user:u1')
  assert.equal(holderOf(key('user')), 'user:u1')
  assert.equal(holderOf(key('agent')), 'agent:a7')
  assert.equal(holderOf(key('connector')), 'key:k1')
})

test("a person's trigger depends on the endpoint, an agent's on its target", () => {
  const direct = { viaMcp: false }
  assert.equal(triggerOf(person(), 'a1', { way: 'chat', ...direct }), 'chat')
  assert.equal(triggerOf(key('user'), 'a1', { way: 'session', ...direct }), 'session')
  assert.equal(triggerOf(key('user'), 'a1', { way: 'manual', ...direct }), 'manual')
  assert.equal(triggerOf(key('agent'), 'a1', { way: 'chat', ...direct }), 'agent')
  assert.equal(triggerOf(key('agent'), 'a7', { way: 'manual', ...direct }), 'self_task')
})

test('via MCP the trigger is mcp for keys of a person, unchanged for agents and sessions', () => {
  const viaMcp = { way: 'manual', viaMcp: true } as const
  assert.equal(triggerOf(key('user'), 'a1', viaMcp), 'mcp')
  assert.equal(triggerOf(key('system'), 'a1', viaMcp), 'mcp')
  assert.equal(triggerOf(key('agent'), 'a1', viaMcp), 'agent')
  assert.equal(triggerOf(key('connector'), 'a1', viaMcp), 'manual')
  assert.equal(triggerOf(person(), 'a1', viaMcp), 'manual')
})

test('an empty model is the default; invalid_model names an unknown one', () => {
  for (const value of [null, undefined, '', '  ']) assert.equal(modelOf(value), null)
  assert.equal(modelOf(' Opus[1m] '), 'Opus[1m]')
  assert.throws(
    () => modelOf('llama-3'),
    (error) =>
      isFault(error, 'invalid_model') && /llama-3/.test(error.message) && error.fields.value === 'llama-3',
  )
})

const runKey = (principal: string): KeyCaller => {
  const { user, key: agentKey } = key('agent')
  return { kind: 'key', user, key: { ...agentKey, principal } }
}

test('the source of a run names its principal', () => {
  const principal = (caller: Parameters<typeof sourceOf>[0]) => sourceOf(caller, null).principal
  assert.equal(principal(person()), 'user:u1')
  assert.equal(principal(person({ id: 'email:ann@example.com' })), 'email:ann@example.com')
  assert.equal(principal(key('user')), 'user:u1')
  assert.equal(principal(key('connector')), 'key:k1')
  assert.equal(principal(key('agent')), 'agent:a7')
  assert.equal(principal(runKey('public:l1:v1')), 'agent:a7/public:l1:v1')
})

test('an agent holds a conversation for each principal of its runs', () => {
  assert.equal(holderOf(runKey('user:u1')), 'agent:a7/user:u1')
  assert.notEqual(holderOf(runKey('public:l1:v1')), holderOf(runKey('public:l1:v2')))
})

test('a source that was stored without a principal gets the one that its fields name', () => {
  const stored = (source: object) =>
    readSource(JSON.stringify({ userId: 'u1', userEmail: null, agent: null, key: null, ...source })).principal
  assert.equal(stored({}), 'user:u1')
  assert.equal(stored({ userId: 'email:ann@example.com' }), 'email:ann@example.com')
  assert.equal(stored({ agent: { id: 'a7', name: 'scout' } }), 'agent:a7')
  assert.equal(stored({ key: { id: 'k1', name: 'k', scope: 'connector' } }), 'key:k1')
  assert.equal(stored({ key: { id: 'k1', name: 'k', scope: 'user' } }), 'user:u1')
  assert.equal(stored({ principal: 'public:l1:v1' }), 'public:l1:v1')
})

test('a run that another run starts names it', () => {
  const run = { ref: 'run_e1', execution_id: 'e1', reach: 'owner' as const }
  assert.equal(sourceOf({ ...key('agent'), run }, 'scout').executionId, 'e1')
  assert.equal('executionId' in sourceOf(key('agent'), 'scout'), false)
})
