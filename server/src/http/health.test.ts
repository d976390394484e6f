import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoreProblem } from '@roost/contracts/operations/health'
import { migrate, runningState } from '../ports/database/migrator.ts'
import type { Db, Migration } from '../ports/database/port.ts'
import { silentLog } from '../ports/log.ts'
import { createTestClock } from '../test/clock.ts'
import { forEachDialect } from '../test/dialects.ts'
import { healthRoutes } from './health.ts'
import { createServer } from './serve.ts'

const [nest, egg] = ['nest', 'egg'].map(
  (name, index): Migration => ({
    name: `000${index + 1}-${name}`,
    up: (db) => db.schema.createTable(name).addColumn('id', 'text').execute(),
  }),
) as [Migration, Migration]
const clock = createTestClock('2030-01-01T00:00:00.000Z')

let isStopping = false

async function healthOf(db: Db, migrations: Migration[], problems: StoreProblem[] = [], url = '/health') {
  const app = createServer({
    routes: healthRoutes({
      clock,
      migrations: () => runningState(db, migrations),
      storeProblems: async () => problems,
      isStopping: () => isStopping,
    }),
    guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
  })
  const reply = await app.inject({ method: 'GET', url, headers: { 'x-request-id': 'r1' } })
  return { code: reply.statusCode, ...reply.json() }
}

forEachDialect((_dialect, open) => {
  test('200 with every migration applied, 503 with the first one that is missing', async () => {
    await using db = await open({ migrated: false })
    await migrate(db, [nest], { now: clock.now })
    const healthy = await healthOf(db, [nest])
    assert.deepEqual([healthy.code, healthy.status], [200, 'healthy'])
    assert.deepEqual(healthy.migrations, { state: 'complete', applied: 1, expected: 1, first_pending: null })

    const { timestamp: _, detail: __, ...pending } = await healthOf(db, [nest, egg])
    assert.deepEqual(pending, {
      code: 503,
      status: 'unhealthy',
      error: 'migrations_incomplete',
      migrations: { state: 'incomplete', applied: 1, expected: 2, first_pending: '0002-egg' },
      request_id: 'r1',
      docs_url: '/help/errors/migrations_incomplete',
    })
  })

  test('liveness answers 200 without any store', async () => {
    const db = await open({ migrated: false })
    await db.close()
    const { code, status } = await healthOf(db, [nest], [], '/health/live')
    assert.deepEqual([code, status], [200, 'alive'])
    assert.equal((await healthOf(db, [nest], [], '/health/ready')).code, 503)
  })

  test('200 degraded while a store cannot be written; readiness then answers 503', async () => {
    await using db = await open({ migrated: false })
    await migrate(db, [nest], { now: clock.now })
    const answers = async (problems: StoreProblem[]) => {
      const health = await healthOf(db, [nest], problems)
      const ready = await healthOf(db, [nest], problems, '/health/ready')
      return [
        health.code,
        health.status,
        health.problems,
        ready.code,
        ready.error ?? ready.status,
        ready.detail,
      ]
    }
    assert.deepEqual(await answers([]), [200, 'healthy', [], 200, 'ready', undefined])
    const full: StoreProblem[] = [{ store: 'data_directory', reason: 'The disk is full.' }]
    const detail = 'Cannot write to the data directory. The disk is full.'
    assert.deepEqual(await answers(full), [200, 'degraded', full, 503, 'store_unavailable', detail])
    const away: StoreProblem[] = [{ store: 'ephemeral', reason: 'It cannot be reached.' }]
    assert.deepEqual(await answers(away), [200, 'degraded', away, 200, 'ready', undefined])
    assert.equal((await healthOf(db, [nest, egg], [], '/health/ready')).error, 'migrations_incomplete')
  })

  test('200 and ready while a later version has migrated the database, so that both run side by side', async () => {
    await using db = await open({ migrated: false })
    await migrate(db, [nest, egg], { now: clock.now })
    const { code, status, migrations } = await healthOf(db, [nest])
    assert.deepEqual([code, status], [200, 'healthy'])
    assert.deepEqual(migrations, { state: 'newer', applied: 1, expected: 1, first_pending: null })
    assert.equal((await healthOf(db, [nest], [], '/health/ready')).code, 200)
    assert.equal((await healthOf(db, [nest, { ...egg, name: '0001-yolk' }])).code, 503)
  })

  test('503 with the reason after a migration that this version cannot work beside', async () => {
    await using db = await open({ migrated: false })
    await migrate(db, [nest, { ...egg, name: '0002-egg-breaking' }], { now: clock.now })
    const { code, error, detail, migrations } = await healthOf(db, [nest])
    assert.deepEqual([code, error, migrations.state], [503, 'migrations_incomplete', 'newer'])
    assert.match(detail, /newer schema.*0002-egg-breaking/)
    assert.equal((await healthOf(db, [nest], [], '/health/ready')).code, 503)
  })

  test('503 store_unavailable, not migrations_incomplete, while the database is down', async () => {
    await using db = await open({ migrated: false })
    await migrate(db, [nest], { now: clock.now })
    await db.close()
    const { timestamp: _, ...away } = await healthOf(db, [nest])
    assert.deepEqual(away, {
      code: 503,
      status: 'unhealthy',
      error: 'store_unavailable',
      detail: 'The database cannot be read, so the state of its schema is unknown.',
      migrations: { state: 'unknown', applied: null, expected: null, first_pending: null },
      request_id: 'r1',
      docs_url: '/help/errors/store_unavailable',
    })
  })

  test('a stopping process is not ready but healthy', async () => {
    await using db = await open({ migrated: false })
    await migrate(db, [nest], { now: clock.now })
    isStopping = true
    try {
      const { code, error } = await healthOf(db, [nest], [], '/health/ready')
      assert.deepEqual([code, error], [503, 'stopping'])
      assert.equal((await healthOf(db, [nest])).code, 200)
    } finally {
      isStopping = false
    }
  })
})
