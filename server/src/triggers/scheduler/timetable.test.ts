import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScheduleTimes } from '../../kit/schedule-times.ts'
import { type Change, createTimetable } from './timetable.ts'

const at = (time: string) => Date.parse(`2026-01-05T${time}Z`)
const start = at('08:00:00')

function schedule(over: Partial<Change> = {}): Change {
  return {
    id: 's1',
    agent_id: 'a1',
    cron_expression: '0 * * * *',
    timezone: 'UTC',
    misfire_policy: 'run_once',
    armed_at: '2026-01-05T07:30:00.000Z',
    active: true,
    ...over,
  }
}

function begin(...schedules: Change[]) {
  const timetable = createTimetable({ times: createScheduleTimes() })
  for (const one of schedules) timetable.apply(one, start)
  const due = (time: string) =>
    timetable
      .due(at(time))
      .map(({ schedule: { id }, plan }) => `${id} ${plan.fire.map((fire) => clock(fire.dueAt)).join()}`)
  return { timetable, due }
}
const clock = (time: number | null) => (time === null ? null : new Date(time).toISOString().slice(11, 16))

test('reading the next due schedules does not remove them', () => {
  const same = Array.from({ length: 5 }, (_, index) => schedule({ id: `s${index}` }))
  const { timetable, due } = begin(...same, schedule({ id: 'other', cron_expression: '5 * * * *' }))
  timetable.apply(schedule({ id: 's4', active: false }), start)
  const next = (max: number) => timetable.dueNext(max).map(({ id }) => id)
  assert.deepEqual(next(10).toSorted(), ['s0', 's1', 's2', 's3'])
  assert.equal(next(2).length, 2)
  assert.equal(due('08:00:00').length, 4)
  assert.deepEqual(next(10), ['other'])
})

test('the next due time is known, and each schedule is due once', () => {
  const { timetable, due } = begin(schedule(), schedule({ id: 's2', cron_expression: '5 * * * *' }))
  assert.deepEqual([timetable.size(), clock(timetable.nextAt())], [2, '08:00'])
  assert.deepEqual(due('08:00:00'), ['s1 08:00'])
  assert.deepEqual(due('08:00:00'), [])
  assert.equal(clock(timetable.nextAt()), '08:05')
  assert.deepEqual(due('09:00:00').toSorted(), ['s1 09:00', 's2 08:05'])
})

test('a change applies immediately, and handled times are not due again', () => {
  const { timetable, due } = begin(schedule())
  due('08:00:00')
  timetable.apply(
    schedule({ cron_expression: '*/10 * * * *', armed_at: '2026-01-05T08:15:00.000Z' }),
    at('08:15:00'),
  )
  assert.equal(clock(timetable.nextAt()), '08:20')
  timetable.apply(schedule({ active: false }), at('08:16:00'))
  assert.deepEqual([timetable.size(), timetable.nextAt(), due('10:00:00')], [0, null, []])
})

test('schedules that could not be recorded are due again', () => {
  const { timetable, due } = begin(schedule())
  timetable.putBack(timetable.due(at('08:00:00')))
  assert.deepEqual(due('08:00:03'), ['s1 08:00'])
})

test('after a start, times up to the newest record are not due again', () => {
  const timetable = createTimetable({ times: createScheduleTimes() })
  timetable.apply(schedule({ armed_at: '2026-01-01T00:00:00.000Z' }), at('10:20:00'), at('09:00:00'))
  assert.equal(clock(timetable.nextAt()), '10:00')
})

test('a clock that jumped far ahead and was corrected continues from the present', () => {
  const { timetable, due } = begin(schedule())
  timetable.due(Date.parse('2027-06-01T00:00:00Z'))
  timetable.setBack(at('08:10:00'))
  assert.deepEqual(due('09:00:00'), ['s1 09:00'])
})

test('changes of a schedule that is due in a year do not pile up', () => {
  const yearly = { cron_expression: '0 0 1 1 *' }
  const { timetable } = begin(schedule(yearly))
  for (let change = 0; change < 10_000; change += 1) timetable.apply(schedule(yearly), start)
  assert.ok(timetable.held() < 1100, `${timetable.held()} items`)
  assert.deepEqual([timetable.size(), timetable.dueNext(9).length], [1, 1])
})

test('repeated changes of 10,000 schedules leave no entries behind', () => {
  const { timetable } = begin()
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 10_000; index += 1) timetable.apply(schedule({ id: `s${index}` }), start)
  }
  assert.equal(timetable.size(), 10_000)
  assert.equal(timetable.due(start).length, 10_000)
})
