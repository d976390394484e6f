import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SweepDeps } from '../../foundation/settings/index.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, type TestDb } from '../../test/dialects.ts'
import { reminderRetention } from '../reminders/index.ts'
import { type ReminderRow, reminderStore } from '../reminders/store.ts'
import { type EventRow, eventStore } from '../subscriptions/event-store.ts'
import { eventRetention } from '../subscriptions/index.ts'

const never = new AbortController().signal
const [old, young] = ['2026-01-01T00:00:00.000Z', '2026-05-31T00:00:00.000Z']

function deps(db: TestDb): SweepDeps {
  return {
    ...{ db, clock: createTestClock('2026-06-01T00:00:00.000Z'), log: silentLog },
    settings: {
      value: () => 30,
      retention: { admit: async () => ({ isAdmitted: true, isNew: false }) },
    },
    alerts: createTestAlerts().alerts,
  }
}

forEachDialect((_name, open) => {
  test('old events are removed with their deliveries; undelivered events stay', async () => {
    await using db = await open()
    const store = eventStore(db)
    const event = (id: string, over: Partial<EventRow> = {}): EventRow => ({
      ...{ id, source_agent: 'scout', source_agent_id: 'a1', source_user_id: null, event_type: 'x' },
      ...{ payload: null, source: '{}', chain_depth: 0, subscriptions_triggered: 1, created_at: old },
      ...over,
    })
    const events = [
      event('done'),
      event('waits'),
      event('unmatched', { subscriptions_triggered: null }),
      event('young', { created_at: young }),
    ]
    for (const row of events) await store.insert(row)
    const delivery = { subscription_id: 's', agent_id: 'a2', agent_name: 'helper' }
    const over = { execution_id: null, dropped: null }
    await store.addDeliveries([
      { event_id: 'done', ...delivery, state: 'done', ...over },
      { event_id: 'waits', ...delivery, state: 'pending', ...over },
    ])
    await eventRetention(deps(db)).run(never)
    const left = await store.list({ readable: null }, 10)
    assert.deepEqual(left.map(({ id }) => id).sort(), ['unmatched', 'waits', 'young'])
    const deliveries = await store.deliveriesOf(['done', 'waits'])
    assert.deepEqual(
      deliveries.map(({ event_id }) => event_id),
      ['waits'],
    )
  })

  test('reminders are removed one retention period after they fired, were cancelled or expired', async () => {
    await using db = await open()
    const store = reminderStore(db)
    const reminder = (id: string, over: Partial<ReminderRow>): ReminderRow => ({
      ...{ id, agent_id: 'a1', message: 'look', fire_at: old, next_attempt_at: old, status: 'pending' },
      ...{ model: null, timeout_seconds: null, allowed_tools: null, origin_session_id: null, source: '{}' },
      ...{ derived_key: null, execution_id: null, fire_attempts: 0, error: null, created_at: old },
      ...{ fired_at: null, cancelled_at: null, deliver_until: null },
      ...over,
    })
    const rows = [
      reminder('held', {}),
      reminder('fired', { status: 'fired', fired_at: old }),
      reminder('fired late', { status: 'fired', fired_at: young }),
      reminder('cancelled', { status: 'cancelled', cancelled_at: old }),
      reminder('failed', { status: 'failed' }),
      reminder('undelivered', { status: 'fired', fired_at: old, deliver_until: old }),
    ]
    for (const row of rows) await store.insert(row)
    await reminderRetention(deps(db)).run(never)
    const left = await store.list('a1', null, 10)
    assert.deepEqual(left.map(({ id }) => id).sort(), ['fired late', 'held', 'undelivered'])
  })
})
