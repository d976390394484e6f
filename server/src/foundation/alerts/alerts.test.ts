import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import { createTestAlerts } from '../../test/alerts.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { createAlerts } from './index.ts'

const alert: PlatformAlert = {
  agentId: 'a1',
  kind: 'breaker_open',
  title: 'refused',
  priority: 'high',
  context: {},
}

test('an alert without a sink fails the transaction that raises or clears it', async () => {
  await using db = await openTestDatabase()
  const alerts = createAlerts()
  await assert.rejects(
    db.atomically((tx) => alerts.raise(tx, alert)),
    /no sink/,
  )
  await assert.rejects(
    db.atomically((tx) => alerts.clear(tx, 'a1', 'breaker_open')),
    /no sink/,
  )
})

test('only one sink can be registered', () => {
  const { alerts } = createTestAlerts()
  assert.throws(() => alerts.register({ raise: async () => {}, clear: async () => {} }), /a sink already/)
})

test('the sink gets alerts in the transaction of the caller: none when it rolls back', async () => {
  await using db = await openTestDatabase()
  const { alerts, raised, cleared } = createTestAlerts()
  const failed = db.atomically(async (tx) => {
    await alerts.raise(tx, alert)
    await alerts.clear(tx, null, 'cost_limit')
    throw new Error('rolled back')
  })
  await assert.rejects(failed, /rolled back/)
  assert.deepEqual([raised, cleared], [[], []])
  await db.atomically(async (tx) => {
    await alerts.raise(tx, alert)
    await alerts.clear(tx, null, 'cost_limit')
  })
  assert.deepEqual([raised, cleared], [[alert], [{ agentId: null, kind: 'cost_limit' }]])
})

test('long titles and questions are shortened to what an item holds', async () => {
  await using db = await openTestDatabase()
  const { alerts, raised } = createTestAlerts()
  const [title, question] = [`${'x'.repeat(298)}\u{1f600}`, 'y'.repeat(4001)]
  await db.atomically((tx) => alerts.raise(tx, { ...alert, title: `${title}z`, question }))
  assert.equal(raised[0]?.title, `${'x'.repeat(298)}\ufffd…`)
  assert.equal(raised[0]?.question, `${'y'.repeat(3999)}…`)
  await db.atomically((tx) => alerts.raise(tx, { ...alert, title }))
  assert.equal(raised[1]?.title, title)
})
