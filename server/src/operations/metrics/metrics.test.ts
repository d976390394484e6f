import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { executionStore } from '../../runs/executions/index.ts'
import { startAgentsPlatform } from '../../test/agents-platform.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { accept, linked } from '../../test/run-platform.ts'
import { writeBackupStatus, writeVerifyStatus } from '../backup/index.ts'
import { metricsRoutes } from './routes.ts'
import { createMetrics } from './service.ts'

forEachDialect((_, open) => {
  const disk = new Map([
    ['rover', { used_bytes: 2048, quota_bytes: 4096, state: 'ok' as const }],
    ['a "new" one', { used_bytes: null, quota_bytes: 0, state: 'ok' as const }],
  ])

  async function start(dataDir = '/nonexistent') {
    const clock = createTestClock()
    const platform = await startAgentsPlatform(
      { db: await open(), clock },
      { a2: { name: 'rover', status: 'stopped' } },
    )
    const metrics = createMetrics({
      db: platform.db,
      clock,
      meters: platform.meters,
      hooks: platform.hooks,
      agentRecords: platform.agentRecords,
      disk: { usages: async () => disk },
      version: '1.2.3',
      dataDir,
      effectiveParallel: async ({ max_parallel_tasks }) => max_parallel_tasks,
      isLinked: (id) => id === 'a1',
      replicas: { live: async () => [{ role: 'api', version: '1.2.3', count: 3 }] },
      socketClients: () => 2,
    })
    /** All figures by name and labels. */
    const figures = async () => {
      const { text } = await metrics.page()
      const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
      return Object.fromEntries(lines.map((line) => line.split(/ (?=\S+$)/)))
    }
    return { platform, clock, metrics, figures }
  }

  test('an idle platform reports its agents, links and slots, and zeros for the rest', async () => {
    const { figures } = await start()
    const values = await figures()
    for (const [name, value] of Object.entries({
      'roost_agents{status="running"}': '1',
      'roost_agents{status="stopped"}': '1',
      'roost_agents{status="exited"}': '0',
      roost_agent_links: '1',
      roost_slots: '6',
      roost_slots_used: '0',
      'roost_replicas{role="api",version="1.2.3"}': '3',
      roost_queue_length: '0',
      roost_queue_oldest_seconds: '0',
      roost_socket_clients: '2',
      roost_scheduler_overdue_seconds: '0',
      roost_broker_cost_usd_last_day: '0',
    }))
      assert.equal(values[name], value, name)
  })

  test('counts runs, slots, the queue, leases, tokens and cost of the last day', async () => {
    const { platform, clock, figures } = await start()
    const first = await accept(platform)
    await accept(platform)
    await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    await executionStore(platform.db).addUsage(first.id, {
      ...{
        requests: 1,
        cost_micros: 1_500_000,
        is_cost_estimated: false,
        input_tokens: 10,
        output_tokens: 5,
      },
      ...{ cache_creation_tokens: 0, cache_read_tokens: 0, context_used: 0, context_max: 0, model: null },
    })
    await clock.advance(10)
    const values = await figures()
    assert.equal(values['roost_executions_last_day{status="running",trigger="manual"}'], '1')
    assert.equal(values['roost_executions_last_day{status="queued",trigger="manual"}'], '1')
    assert.deepEqual(
      [values.roost_slots_used, values.roost_queue_length, values.roost_queue_oldest_seconds],
      ['1', '1', '10'],
    )
    assert.ok(Number(values.roost_lease_shortest_seconds) > 0)
    assert.ok(Number(values.roost_outbox_pending) >= 2 && Number(values.roost_outbox_lag_seconds) >= 10)
    assert.deepEqual(
      [values['roost_broker_tokens_last_day{kind="input"}'], values.roost_broker_cost_usd_last_day],
      ['10', '1.5'],
    )
    await clock.advance(86_400)
    const later = await figures()
    assert.equal(later['roost_executions_last_day{status="running",trigger="manual"}'], undefined)
    assert.deepEqual([later.roost_slots_used, later.roost_broker_cost_usd_last_day], ['1', '0'])
    assert.ok(Number(later.roost_lease_shortest_seconds) < 0)
  })

  test('counts the wait of claimed runs and the results of ended ones, by trigger', async () => {
    const { platform, clock, figures } = await start()
    const { id } = await accept(platform)
    await clock.advance(3)
    await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const row = await platform.row(id)
    const before = await figures()
    assert.equal(before['roost_dispatch_latency_seconds_bucket{le="2.5",trigger="manual"}'], '0')
    assert.equal(before['roost_dispatch_latency_seconds_bucket{le="5",trigger="manual"}'], '1')
    assert.equal(before['roost_dispatch_latency_seconds_sum{trigger="manual"}'], '3')
    const ended = 'roost_executions_finished_total{status="failed",trigger="manual"}'
    assert.equal(before[ended], undefined)
    const settle = () =>
      platform.db.atomically((tx) =>
        platform.executions.settle(tx, row, { statuses: ['running'] }, { status: 'failed', error: 'no' }),
      )
    await settle()
    // A second end changes nothing.
    await settle()
    assert.equal((await figures())[ended], '1')
  })

  test('reports the disk of each agent by name, and no backup before the first one', async () => {
    const { figures } = await start()
    const values = await figures()
    assert.equal(values['roost_agent_disk_used_bytes{agent="rover"}'], '2048')
    assert.equal(values['roost_agent_disk_quota_bytes{agent="a \\"new\\" one"}'], '0')
    assert.equal(values['roost_agent_disk_used_bytes{agent="a \\"new\\" one"}'], undefined)
    assert.equal(values.roost_backup_last_success, undefined)
    assert.equal(values['roost_build_info{version="1.2.3"}'], '1')
    assert.equal(values.roost_agents_disconnected, '0')
  })

  test('a failed backup keeps the time and size of the last successful one', async (t) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'roost-backup-status-'))
    t.after(() => rm(dataDir, { recursive: true }))
    const { figures } = await start(dataDir)
    await writeBackupStatus(dataDir, '2030-01-01T00:00:00.000Z', { bytes: 1234 })
    await writeBackupStatus(dataDir, '2030-01-02T00:00:00.000Z', { reason: 'x' })
    const values = await figures()
    assert.deepEqual(
      [
        values.roost_backup_last_success,
        values.roost_backup_last_size_bytes,
        values.roost_backup_last_success_timestamp_seconds,
        values.roost_backup_last_attempt_timestamp_seconds,
      ],
      ['0', '1234', String(Date.parse('2030-01-01') / 1000), String(Date.parse('2030-01-02') / 1000)],
    )
    await writeFile(join(dataDir, 'backup-status.json'), '{"half')
    assert.equal((await figures()).roost_backup_last_success, undefined)
    await writeBackupStatus(dataDir, '2030-01-03T00:00:00.000Z', { bytes: 5 })
    assert.equal((await figures()).roost_backup_last_success, '1')
    assert.equal((await figures()).roost_backup_verify_last_success, undefined)
    await writeVerifyStatus(dataDir, '2030-01-03T01:00:00.000Z', { reason: 'x' })
    assert.equal((await figures()).roost_backup_verify_last_success, '0')
    await writeVerifyStatus(dataDir, '2030-01-03T02:00:00.000Z', { bytes: 0 })
    const verified = await figures()
    assert.deepEqual(
      [
        verified.roost_backup_verify_last_success,
        verified.roost_backup_verify_last_success_timestamp_seconds,
      ],
      ['1', String(Date.parse('2030-01-03T02:00:00.000Z') / 1000)],
    )
  })

  test('the page is valid Prometheus text with the latencies from before the first scrape', async () => {
    const { metrics, figures } = await start()
    const app = routesApp(metricsRoutes(metrics), {})
    for (const seconds of [0.02, 0.025, 0.3, 70])
      metrics.observe({ method: 'GET', route: '/api/agents', status: 200, seconds })
    const reply = await app.inject({ method: 'GET', url: '/metrics', headers: as('platform') })
    assert.equal(reply.statusCode, 200)
    assert.match(String(reply.headers['content-type']), /^text\/plain; version=0\.0\.4/)
    assert.match(reply.body, /\n# TYPE roost_http_request_seconds histogram\n/)
    const values = await figures()
    const labels = 'method="GET",route="/api/agents",status="200"'
    const name = 'roost_http_request_seconds'
    for (const [le, count] of Object.entries({ 0.01: 0, 0.025: 2, 0.25: 2, 0.5: 3, 60: 3, '+Inf': 4 }))
      assert.equal(values[`${name}_bucket{le="${le}",${labels}}`], String(count), le)
    assert.equal(values[`${name}_count{${labels}}`], '4')
    assert.ok(Math.abs(Number(values[`${name}_sum{${labels}}`]) - 70.345) < 1e-9)

    assert.equal(
      values['roost_http_requests_total{method="GET",route="/api/agents",status_class="2xx"}'],
      '4',
    )
    metrics.observe({ method: 'GET', route: '/api/agents', status: 200, seconds: 0.001 })
    assert.equal((await figures())[`${name}_count{${labels}}`], '5')
  })
})
