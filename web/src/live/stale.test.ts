import assert from 'node:assert/strict'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { socketEventTypes } from '@roost/contracts/operations/sockets'
import type { LiveEvent } from './socket.ts'
import { staleBy } from './stale.ts'

const features = join(import.meta.dirname, '../features')

before(async () => {
  for await (const file of glob('*/{queries,*-query}.ts', { cwd: features }))
    await import(join(features, file))
})

const keysOf = (event: LiveEvent) =>
  staleBy(event)
    .map((key) => key.join())
    .sort()

test('a finished run makes run lists, the run itself and workspace views stale', () => {
  const event = { type: 'execution_finished', agent_name: 'scout', execution_id: 'e1' }
  assert.deepEqual(keysOf(event), [
    'agent,scout,credentials',
    'agent,scout,egress',
    'agent,scout,executions',
    'agent,scout,files',
    'agent,scout,git',
    'agent,scout,history',
    'agent,scout,info',
    'agent,scout,playbooks',
    'agents,figures',
    'execution,e1',
    'execution,e1,changes',
    'executions',
  ])
})

test('a started run makes run lists and the run itself stale', () => {
  const event = { type: 'execution_started', agent_name: 'scout', execution_id: 'e1' }
  assert.deepEqual(keysOf(event), [
    'agent,scout,executions',
    'agent,scout,history',
    'agents,figures',
    'execution,e1',
    'execution,e1,changes',
    'executions',
  ])
})

test("a step of a run makes the agent's activity and the run's totals stale", () => {
  const event = { type: 'agent_activity', agent_name: 'scout', execution_id: 'e1' }
  assert.deepEqual(keysOf(event), ['agent,scout,activity', 'execution,e1,details'])
})

test('a lifecycle event names its agent in its data and makes views of the container stale', () => {
  assert.deepEqual(keysOf({ type: 'agent_started', data: { name: 'scout' } }), [
    'agent,scout,credentials',
    'agent,scout,details',
    'agent,scout,egress',
    'agent,scout,files',
    'agent,scout,git',
    'agent,scout,info',
    'agent,scout,logs',
    'agent,scout,playbooks',
    'agent,scout,settings',
    'agents',
    'folders',
    'workspace,roster',
  ])
})

test('a change of labels, tags or access makes lists and details of the agent stale', () => {
  for (const type of ['agent_label_changed', 'agent_tags_changed', 'agent_shared', 'agent_created'])
    assert.deepEqual(
      keysOf({ type, agent_name: 'scout' }),
      ['agent,scout,details', 'agent,scout,settings', 'agents', 'folders', 'workspace,roster'],
      type,
    )
})

test('notifications of agents make only their own list stale', () => {
  const keys = (type: string) => keysOf({ type, agent_name: 'scout' })
  assert.deepEqual(keys('agent_notification'), ['notifications'])
  assert.deepEqual(keys('notifications_cleared'), ['notifications'])
  assert.deepEqual(keys('agent_report'), ['reports'])
  assert.deepEqual(keys('agent_health_changed'), ['monitoring'])
})

test('a run makes the view of its trigger stale', () => {
  const event = { type: 'execution_created', agent_name: 'scout', execution_id: 'e1' }
  const views = {
    workspace: 'workspace,agent,scout',
    chat: 'agent,scout,sessions',
    loop: 'agent,scout,loops',
    public: 'agent,scout,public-links',
    paid: 'agent,scout,payments',
  }
  const others = keysOf({ ...event, triggered_by: 'schedule' })
  for (const [triggered_by, view] of Object.entries(views))
    assert.deepEqual(keysOf({ ...event, triggered_by }), [...others, view].sort(), triggered_by)
})

test('an agent with new settings makes lists, its settings and the subscriptions stale', () => {
  assert.deepEqual(keysOf({ type: 'agent_settings_changed', agent_name: 'scout' }), [
    'agent,scout,details',
    'agent,scout,egress',
    'agent,scout,settings',
    'agents,list',
    'folders',
    'provider-subscriptions',
  ])
})

test('a rename makes everything under both names stale', () => {
  const keys = keysOf({ type: 'agent_renamed', agent_name: 'new', old_name: 'old' })
  assert.deepEqual(keys, ['agent,new', 'agent,old', 'agents', 'folders', 'workspace,roster'])
})

test('a skill delivery and a library sync make all skill queries stale', () => {
  assert.deepEqual(keysOf({ type: 'skills_changed', agent_name: 'scout' }), [
    'agent,scout,playbooks',
    'skills',
  ])
  assert.deepEqual(keysOf({ type: 'skills_library_synced' }), ['skills'])
  assert.deepEqual(keysOf({ type: 'git_sync_changed', agent_name: 'scout' }), ['agent,scout,git'])
})

test('a question or alert makes the inbox, the asks of the Workspace and the alerts stale', () => {
  const event = { type: 'operator_queue_new', agent_name: 'scout' }
  assert.deepEqual(keysOf(event), ['monitoring,alerts', 'operator-queue', 'workspace,asks'])
})

test('every event of the platform makes a view stale, except the progress of a fleet restart', () => {
  const without = socketEventTypes.filter((type) => keysOf({ type, agent_name: 'scout' }).length === 0)
  assert.deepEqual(without, ['fleet_restart_progress'])
})

test('an unknown event makes nothing stale', () => {
  assert.deepEqual(keysOf({ type: 'something_new', agent_name: 'scout' }), [])
})
