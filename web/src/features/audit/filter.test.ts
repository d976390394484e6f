import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFiltered, queryOf, routineOf, windowOf } from './filter.ts'

const now = Date.parse('2026-03-08T12:34:56.789Z')

test('the default is the last week, rounded down to the minute', () => {
  assert.deepEqual(windowOf({}, now), { start_time: '2026-03-01T12:34:00.000Z' })
  assert.deepEqual(windowOf({ hours: 0 }, now), {})
})

test('days take precedence over hours and are both included', () => {
  assert.deepEqual(windowOf({ hours: 24, from: '2026-03-01', to: '2026-03-02' }, now), {
    start_time: new Date(2026, 2, 1).toISOString(),
    end_time: new Date(new Date(2026, 2, 3).getTime() - 1).toISOString(),
  })
  assert.deepEqual(Object.keys(windowOf({ to: '2026-03-02' }, now)), ['end_time'])
  assert.deepEqual(windowOf({ from: 'soon', hours: 0 }, now), {})
})

test('search parameters become API filters', () => {
  assert.deepEqual(queryOf({ type: 'sharing', agent: 'scout', hours: 24 }), {
    event_type: 'sharing',
    target_type: 'agent',
    target_id: 'scout',
  })
  assert.equal(isFiltered({ hours: 0, from: '2026-03-01' }), false)
  assert.equal(isFiltered({ outcome: 'refused' }), true)
})

test('tickets for live sockets are hidden unless they are asked for or an action is selected', () => {
  assert.deepEqual(routineOf({}), { routine: 'false' })
  assert.deepEqual(routineOf({ type: 'authentication' }), { routine: 'false' })
  assert.deepEqual(routineOf({ routine: true }), {})
  assert.deepEqual(routineOf({ action: 'create_socket_ticket' }), {})
  assert.equal(isFiltered({ routine: true }), true)
})
