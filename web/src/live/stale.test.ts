import assert from 'node:assert/strict'
import { test } from 'node:test'
import { staleBy } from './stale.ts'

test('a finished run makes run lists, the run itself and workspace views stale', () => {
  const keys = staleBy({ type: 'execution_finished', agent_name: 'scout', execution_id: 'e1' })
  assert.deepEqual(keys, [
    ['executions'],
    ['agents', 'figures'],
    ['agent', 'scout', 'executions'],
    ['execution', 'e1'],
    ['agent', 'scout', 'files'],
    ['agent', 'scout', 'info'],
    ['agent', 'scout', 'credentials'],
    ['agent', 'scout', 'git'],
    ['agent', 'scout', 'egress'],
    ['agent', 'scout', 'playbooks'],
  ])
})

test("a step of a run makes the agent's activity and the run's totals stale", () => {
  const keys = staleBy({ type: 'agent_activity', agent_name: 'scout', execution_id: 'e1' })
  assert.deepEqual(keys, [
    ['agent', 'scout', 'activity'],
    ['execution', 'e1', 'details'],
  ])
})

test('a lifecycle event names its agent in its data', () => {
  const keys = staleBy({ type: 'agent_started', data: { name: 'scout' } })
  assert.ok(keys.some((key) => key[0] === 'agent' && key[1] === 'scout'))
  assert.ok(keys.some((key) => key[0] === 'agents'))
})

test('notifications of agents make only their own list stale', () => {
  const keysOf = (type: string) => staleBy({ type, agent_name: 'scout' })
  assert.deepEqual(keysOf('agent_notification'), [['notifications']])
  assert.deepEqual(keysOf('notifications_cleared'), [['notifications']])
  assert.deepEqual(keysOf('agent_report'), [['reports']])
  assert.deepEqual(keysOf('agent_health_changed'), [['monitoring']])
})

test('a turn in the Workspace makes the conversations with its agent stale', () => {
  const event = { type: 'execution_created', agent_name: 'scout', execution_id: 'e1' }
  const isStale = (triggered_by: string) =>
    staleBy({ ...event, triggered_by }).some((key) => key.join() === 'workspace,agent,scout')
  assert.deepEqual([isStale('workspace'), isStale('chat')], [true, false])
})

test('an agent with another subscription makes the list of subscriptions stale', () => {
  const keys = staleBy({ type: 'agent_settings_changed', agent_name: 'scout' })
  assert.ok(keys.some(([first]) => first === 'provider-subscriptions'))
  assert.ok(keys.some((key) => key.join() === 'agent,scout,settings'))
})

test('a rename makes both names stale', () => {
  const names = staleBy({ type: 'agent_renamed', agent_name: 'new', old_name: 'old' }).map((key) => key[1])
  assert.ok(names.includes('old') && names.includes('new'))
})

test('a skill delivery and a library sync make all skill queries stale', () => {
  assert.deepEqual(staleBy({ type: 'skills_changed', agent_name: 'scout' }), [
    ['skills'],
    ['agent', 'scout', 'playbooks'],
  ])
  assert.deepEqual(staleBy({ type: 'skills_library_synced' }), [['skills']])
  assert.deepEqual(staleBy({ type: 'git_sync_changed', agent_name: 'scout' }), [['agent', 'scout', 'git']])
})

test('an event without a view makes nothing stale', () => {
  assert.deepEqual(staleBy({ type: 'something_new', agent_name: 'scout' }), [])
})
