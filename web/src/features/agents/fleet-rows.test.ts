import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentRow } from '@roost/contracts/agents/agent'
import { filterFleet, fleetRows } from './fleet-rows.ts'

function agent(name: string, fields: Partial<AgentRow> = {}): AgentRow {
  return {
    name,
    type: 'business-assistant',
    status: 'running',
    port: 2222,
    created: '2026-01-01T00:00:00.000Z',
    runtime: 'claude-code',
    runtime_model: null,
    resources: { cpu: '2', memory: '4g' },
    template: null,
    container_id: null,
    tags: [],
    label: null,
    owner: 'admin',
    is_owner: true,
    is_shared: false,
    is_system: false,
    ephemeral: false,
    autonomy_enabled: true,
    read_only_enabled: false,
    github_repo: null,
    avatar_url: '',
    max_parallel_tasks: 3,
    base_image_version: null,
    ...fields,
  }
}

test('an agent without metrics has null values instead of zero', () => {
  const [row] = fleetRows([agent('scout')], undefined, undefined)
  assert.equal(row?.cpuPercent, null)
  assert.equal(row?.successRate, null)
})

test('metrics with an error are ignored', () => {
  const [row] = fleetRows([agent('scout')], [], {
    timestamp: '',
    running_count: 1,
    total_cpu_percent: 0,
    total_memory_mb: 0,
    containers: [{ name: 'scout', cpu: 0, memory_mb: 0, error: 'no metrics yet' }],
    age_seconds: 0,
    stale: false,
    no_data: true,
  })
  assert.equal(row?.cpuPercent, null)
})

test('only the owner and admins may edit an agent', () => {
  const theirs = agent('scout', { is_owner: false, is_shared: true })
  assert.equal(fleetRows([theirs], [], undefined)[0]?.may_edit, false)
  assert.equal(fleetRows([theirs], [], undefined, true)[0]?.may_edit, true)
  assert.equal(fleetRows([agent('scout')], [], undefined)[0]?.may_edit, true)
})

const rows = fleetRows(
  [
    agent('scout', { tags: ['research'], label: 'The Scout' }),
    agent('writer', { status: 'stopped', tags: ['docs'], owner: 'ann@example.com' }),
    agent('coder', { runtime: 'codex', tags: ['docs', 'research'] }),
  ],
  [],
  undefined,
)
const names = (filter: Parameters<typeof filterFleet>[1]) => filterFleet(rows, filter).map(({ name }) => name)

test('each word must match the name, label, runtime or tags', () => {
  assert.deepEqual(names({ text: 'SCOUT' }), ['scout'])
  assert.deepEqual(names({ text: 'codex docs' }), ['coder'])
  assert.deepEqual(names({ text: 'nothing' }), [])
})

test('tags are alternatives, all other filters must match', () => {
  assert.deepEqual(names({ tags: 'docs,research' }), ['scout', 'writer', 'coder'])
  assert.deepEqual(names({ tags: 'docs', status: 'running' }), ['coder'])
  assert.deepEqual(names({ owner: 'ann@example.com' }), ['writer'])
})
