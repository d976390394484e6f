import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activityReply, bytesOf, currentUse, statsOf } from './rules.ts'

const agent = {
  name: 'a',
  status: 'running',
  started_at: '2030-01-01T00:00:00.000Z',
  cpu: '2',
  memory: '4g',
  applied: null,
} as const
const now = new Date('2030-01-01T00:01:00.500Z')
const none = { use: null, sample: null, beat: null }
const sample = {
  cpuPercent: 12.34,
  memoryUsedBytes: 1024 ** 3,
  memoryLimitBytes: 4 * 1024 ** 3,
  networkRxBytes: 5,
  networkTxBytes: 6,
  sampledAt: '2030-01-01T00:00:55.000Z',
}

test("uses the sampler's figures, with their age", () => {
  const stats = statsOf(agent, { ...none, sample }, now)
  assert.equal(stats.source, 'engine')
  assert.equal(stats.cpu_percent, 12.3)
  assert.equal(stats.memory_percent, 25)
  assert.equal(stats.uptime_seconds, 60.5)
  assert.equal(stats.age_seconds, 5.5)
})

test('without a sample uses the memory of the heartbeat; without both, nulls', () => {
  const stats = statsOf(
    agent,
    { ...none, beat: { at: now.getTime() - 2000, beat: { memory_mb: 1024 } } },
    now,
  )
  assert.equal(stats.memory_percent, 25)
  assert.equal(stats.cpu_percent, null)
  assert.equal(stats.age_seconds, 2)
  assert.equal(statsOf(agent, none, now).memory_used_bytes, null)
  const unlimited = { ...none, sample: { ...sample, memoryLimitBytes: null } }
  assert.equal(statsOf(agent, unlimited, now).memory_percent, null)
})

const reported = { cpu_percent: 150.04, memory_bytes: 1024 ** 3, network_rx_bytes: 7, network_tx_bytes: 8 }
const use = { at: now.getTime() - 3000, use: reported }

test("the agent's own report comes before the engine's sample, and says so", () => {
  const stats = statsOf(agent, { ...none, use, sample }, now)
  assert.deepEqual([stats.source, stats.cpu_percent, stats.memory_percent], ['agent', 150, 25])
  assert.deepEqual([stats.network_rx_bytes, stats.network_tx_bytes, stats.age_seconds], [7, 8, 3])
})

test('an agent that reports more than its limits gets exactly its limits', () => {
  const most = Number.MAX_SAFE_INTEGER
  const lie = { at: use.at, use: { ...reported, cpu_percent: 1_000_000, memory_bytes: most } }
  const shown = (row: Parameters<typeof statsOf>[0]) => {
    const { cpu_percent, memory_used_bytes, memory_percent } = statsOf(row, { ...none, use: lie }, now)
    return [cpu_percent, memory_used_bytes, memory_percent]
  }
  assert.deepEqual(shown(agent), [200, 4 * 1024 ** 3, 100])
  // New limits apply from the next container on.
  assert.deepEqual(shown({ ...agent, applied: { cpu: '1', memory: '2g' } }), [100, 2 * 1024 ** 3, 100])
  const beat = { at: use.at, beat: { memory_mb: 1_000_000 } }
  assert.equal(statsOf(agent, { ...none, beat }, now).memory_percent, 100)
})

test('a report counts for 20 seconds, and not beyond the start of its container', () => {
  const at = (ms: number) => currentUse(agent, { at: ms, use: reported }, now)
  assert.equal(currentUse(agent, null, now), null)
  assert.equal(at(now.getTime() - 20_000)?.use, reported)
  assert.equal(at(now.getTime() - 20_001), null)
  const restarted = { ...agent, started_at: now.toISOString() }
  assert.equal(currentUse(restarted, { at: now.getTime() - 1, use: reported }, now), null)
})

test('nulls when the agent is not running, even with a cached sample', () => {
  const stats = statsOf({ ...agent, status: 'exited' }, { ...none, sample, use }, now)
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
