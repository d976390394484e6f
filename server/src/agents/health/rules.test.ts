import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activityReply, bytesOf, statsOf } from './rules.ts'

const agent = { name: 'a', status: 'running', started_at: '2030-01-01T00:00:00.000Z', memory: '4g' } as const
const now = new Date('2030-01-01T00:01:00.500Z')
const sample = {
  cpuPercent: 12.34,
  memoryUsedBytes: 1024 ** 3,
  memoryLimitBytes: 4 * 1024 ** 3,
  networkRxBytes: 5,
  networkTxBytes: 6,
  sampledAt: '2030-01-01T00:00:55.000Z',
}

test("uses the sampler's figures, with their age", () => {
  const stats = statsOf(agent, sample, null, now)
  assert.equal(stats.cpu_percent, 12.3)
  assert.equal(stats.memory_percent, 25)
  assert.equal(stats.uptime_seconds, 60.5)
  assert.equal(stats.age_seconds, 5.5)
})

test('without a sample uses the memory of the heartbeat; without both, nulls', () => {
  const stats = statsOf(agent, null, { at: now.getTime() - 2000, beat: { memory_mb: 1024 } }, now)
  assert.equal(stats.memory_percent, 25)
  assert.equal(stats.cpu_percent, null)
  assert.equal(stats.age_seconds, 2)
  assert.equal(statsOf(agent, null, null, now).memory_used_bytes, null)
  assert.equal(statsOf(agent, { ...sample, memoryLimitBytes: null }, null, now).memory_percent, null)
})

test('nulls when the agent is not running, even with a cached sample', () => {
  const stats = statsOf({ ...agent, status: 'exited' }, sample, null, now)
  const { agent_name: _, status, ...figures } = stats
  assert.equal(status, 'exited')
  assert.ok(Object.values(figures).every((value) => value === null))
})

const call = (id: string, over: object = {}) => ({
  id,
  tool: 'Bash',
  input_summary: id,
  output_summary: null,
  duration_ms: 100,
  started_at: `2030-01-01T00:00:0${id}.000Z`,
  ended_at: null,
  success: true,
  status: 'completed' as const,
  ...over,
})

test('activity: the running call, counts, totals', () => {
  const timeline = [
    call('3', { status: 'running', duration_ms: null }),
    call('2', { tool: 'Read' }),
    call('1'),
  ]
  const reply = activityReply(agent, { busy: true, timeline })
  assert.equal(reply.status, 'running')
  assert.equal(reply.active_tool?.input_summary, '3')
  assert.deepEqual(reply.tool_counts, { Bash: 2, Read: 1 })
  assert.deepEqual(reply.totals, { calls: 3, duration_ms: 200, started_at: '2030-01-01T00:00:01.000Z' })
  assert.equal(activityReply(agent, { busy: false, timeline }).status, 'idle')
  const offline = activityReply({ ...agent, status: 'stopped' }, { busy: true, timeline })
  assert.equal(offline.status, 'offline')
  assert.equal(offline.active_tool, null)
})

test('converts gigabytes to bytes', () => assert.equal(bytesOf('32g'), 32 * 1024 ** 3))
