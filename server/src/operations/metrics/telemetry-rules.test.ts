import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentStats } from '@roost/contracts/agents/health'
import { containersTelemetry, hostTelemetry, type Reading } from './telemetry-rules.ts'

const gigabyte = 1024 ** 3
const reading = (over: Partial<Reading> = {}): Reading => ({
  cpuCount: 4,
  cpuBusyMs: 1_000,
  cpuTotalMs: 4_000,
  memory: { usedBytes: 2 * gigabyte, totalBytes: 8 * gigabyte },
  disk: { usedBytes: gigabyte / 3, totalBytes: gigabyte },
  load: [0.514, 0.4, 0],
  ...over,
})
const stats = (name: string, over: Partial<AgentStats> = {}): AgentStats => ({
  agent_name: name,
  status: 'running',
  cpu_percent: 10,
  memory_used_bytes: 512 * 1024 ** 2,
  memory_limit_bytes: 4 * gigabyte,
  memory_percent: 12.5,
  network_rx_bytes: 0,
  network_tx_bytes: 0,
  uptime_seconds: 60,
  age_seconds: 4,
  source: 'engine',
  ...over,
})
const at = '2026-01-05T08:00:00.000Z'

test('the first reading is the mean since the machine started', () => {
  assert.deepEqual(hostTelemetry(reading(), null, at), {
    timestamp: at,
    cpu: { percent: 25, count: 4 },
    memory: { percent: 25, used_gb: 2, total_gb: 8 },
    disk: { percent: 33.3, used_gb: 0.33, total_gb: 1 },
    load: [0.51, 0.4, 0],
  })
})

test('later readings are the mean between two readings', () => {
  const next = reading({ cpuBusyMs: 4_000, cpuTotalMs: 8_000 })
  assert.equal(hostTelemetry(next, reading(), at).cpu.percent, 75)
})

test('equal readings, reset counters and an empty disk give numbers', () => {
  assert.equal(hostTelemetry(reading(), reading(), at).cpu.percent, 25)
  assert.equal(hostTelemetry(reading(), reading({ cpuTotalMs: 9_000 }), at).cpu.percent, 25)
  const none = { usedBytes: 0, totalBytes: 0 }
  const blank = hostTelemetry(reading({ disk: none, cpuBusyMs: 0, cpuTotalMs: 0 }), null, at)
  assert.deepEqual([blank.disk.percent, blank.cpu.percent], [0, 0])
})

test('lists containers, the busiest first, and their totals', () => {
  const view = containersTelemetry([stats('b'), stats('a'), stats('c', { cpu_percent: 150.5 })], at)
  assert.deepEqual(
    view.containers.map(({ name }) => name),
    ['c', 'a', 'b'],
  )
  assert.deepEqual([view.running_count, view.total_cpu_percent, view.total_memory_mb], [3, 170.5, 1536])
  assert.deepEqual([view.age_seconds, view.stale, view.no_data], [4, false, false])
})

test('a container without figures has an error and does not hide the others', () => {
  const none = { cpu_percent: null, memory_used_bytes: null, age_seconds: null }
  const view = containersTelemetry([stats('new', none), stats('old', { age_seconds: 31 })], at)
  assert.deepEqual(view.containers[1], {
    name: 'new',
    cpu: 0,
    memory_mb: 0,
    error: 'There are no figures of this container yet.',
  })
  assert.deepEqual([view.running_count, view.age_seconds, view.stale, view.no_data], [2, 31, true, false])
  assert.equal(containersTelemetry([stats('new', none)], at).no_data, true)
})

test('no data is missing when nothing runs', () => {
  const view = containersTelemetry([], at)
  assert.deepEqual([view.running_count, view.age_seconds, view.stale, view.no_data], [0, 0, false, false])
})
