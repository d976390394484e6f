import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lateSchedules } from './late-schedules.ts'

const now = Date.parse('2026-01-05T08:00:00.000Z')
const schedule = (name: string, fields: Partial<Parameters<typeof lateSchedules>[0][number]> = {}) => ({
  name,
  enabled: true,
  cron_expression: '0 3 * * *',
  timezone: 'UTC',
  updated_at: '2026-01-01T00:00:00.000Z',
  registration_error: null,
  last_fire: { due_at: '2026-01-05T03:00:00.000Z', outcome: 'fired' as const, reason: null },
  ...fields,
})
const problems = (...schedules: ReturnType<typeof schedule>[]) =>
  lateSchedules(schedules, now).map(({ schedule: { name }, late }) => [name, late.problem])

test('schedules with a problem are listed, the most severe first', () => {
  const missed = { due_at: '2026-01-05T03:00:00.000Z', outcome: 'missed' as const, reason: 'outside_grace' }
  const found = problems(
    schedule('fired'),
    schedule('missed', { last_fire: missed }),
    schedule('overdue', { last_fire: { ...missed, due_at: '2026-01-04T03:00:00.000Z' } }),
    schedule('invalid', { registration_error: 'Invalid timezone', timezone: 'Mars/Base' }),
    schedule('off', { enabled: false, last_fire: missed }),
  )
  assert.deepEqual(found, [
    ['invalid', 'invalid'],
    ['overdue', 'overdue'],
    ['missed', 'missed'],
  ])
})

test('a schedule is overdue in its own time zone, five minutes after its due time', () => {
  // 08:55 in Berlin is 07:55 UTC.
  const minutes = (minute: string) => ({
    cron_expression: `${minute} 8 * * *`,
    timezone: 'Europe/Berlin',
    last_fire: null,
  })
  assert.deepEqual(
    problems(schedule('just due', minutes('55')), schedule('late', minutes('54'))),
    [
      ['just due', 'overdue'],
      ['late', 'overdue'],
    ],
    'since 1 January',
  )
  const changed = { updated_at: '2026-01-05T00:00:00.000Z' }
  assert.deepEqual(
    problems(
      schedule('just due', { ...minutes('55'), ...changed }),
      schedule('late', { ...minutes('54'), ...changed }),
    ),
    [['late', 'overdue']],
  )
})

test('an old miss and a new schedule are no problem', () => {
  const old = { due_at: '2026-01-04T03:00:00.000Z', outcome: 'missed' as const, reason: null }
  assert.deepEqual(
    problems(
      schedule('weekly', { cron_expression: '0 3 * * SUN', last_fire: old }),
      schedule('new', { last_fire: null, updated_at: '2026-01-05T07:00:00.000Z' }),
    ),
    [],
  )
})
