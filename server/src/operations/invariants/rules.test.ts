import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentRecord, EventRecord, Records, RunRecord } from './records.ts'
import { type AgentNow, readOf, violationsOf } from './rules.ts'

const now = new Date('2026-01-05T08:00:00.000Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()

const scout: AgentRecord = {
  id: 'a1',
  name: 'scout',
  desired: 'running',
  status: 'running',
  max_parallel_tasks: 2,
  disk_state: 'ok',
}
const run = (over: Partial<RunRecord> = {}): RunRecord => ({
  id: 'x1',
  agent_id: 'a1',
  status: 'queued',
  triggered_by: 'manual',
  created_at: ago(100),
  queued_at: ago(100),
  started_at: null,
  completed_at: null,
  claim_token: null,
  lease_expires_at: null,
  serial_key: null,
  fan_out_id: null,
  ...over,
})
const running = (over: Partial<RunRecord> = {}) =>
  run({ status: 'running', started_at: ago(90), claim_token: 4, lease_expires_at: ago(-30), ...over })
const ended = (over: Partial<RunRecord> = {}) =>
  run({ status: 'success', started_at: ago(90), claim_token: 4, completed_at: ago(80), ...over })
const event = (over: Partial<EventRecord> = {}): EventRecord => ({
  sequence: 1,
  type: 'execution.created',
  ts: ago(100),
  agentIds: ['a1'],
  executionId: 'x1',
  status: 'queued',
  setting: null,
  ...over,
})
const finished = (over: Partial<EventRecord> = {}) =>
  event({ sequence: 9, type: 'execution.finished', ts: ago(80), status: 'success', ...over })

const none: Records = {
  agents: [scout],
  open: [],
  newest: [],
  named: [],
  leased: [],
  fanOuts: [],
  events: [],
  ceilingChangedAt: null,
}
const idle: AgentNow = { limit: 2, isReachable: true }
const found = (records: Partial<Records>, agent: Partial<AgentNow> = {}) =>
  violationsOf({ records: { ...none, ...records }, now, agentNow: () => ({ ...idle, ...agent }) }).map(
    ({ rule, subject }) => `${rule} ${subject}`,
  )

test('consistent records break no rule and are counted once each', () => {
  const records: Records = {
    ...none,
    open: [running(), run({ id: 'x2', queued_at: ago(5) })],
    newest: [running(), ended({ id: 'x3' })],
    named: [ended({ id: 'x4' })],
    events: [event(), finished({ executionId: 'x3' }), finished({ executionId: 'x4' })],
  }
  assert.deepEqual(found(records), [])
  assert.deepEqual(readOf(records), { executions: 4, queued: 1, running: 1, terminal: 2, events: 3 })
})

test('finds more running rows than slots, unless the limit or ceiling was lowered since', () => {
  const open = ['x1', 'x2', 'x3'].map((id) => running({ id }))
  const surplus = ['slots_equal_running_rows scout']
  assert.deepEqual(found({ open }), surplus)
  assert.deepEqual(found({ open }, { limit: 3 }), [])
  const capacity = { type: 'agent.settings_changed', executionId: null, setting: 'capacity' }
  assert.deepEqual(found({ open, events: [event({ ...capacity, ts: ago(50) })] }), [])
  assert.deepEqual(found({ open, events: [event({ ...capacity, ts: ago(91) })] }), surplus)
  assert.deepEqual(found({ open, events: [event({ ...capacity, ts: ago(50), agentIds: ['a2'] })] }), surplus)
  assert.deepEqual(found({ open, ceilingChangedAt: ago(50) }), [])
  assert.deepEqual(found({ open: [running({ agent_id: 'gone' })] }), ['slots_equal_running_rows x1'])
})

test('finds a run that waits next to a free slot of an idle agent that takes runs', () => {
  const open = [run()]
  const stuck = ['no_queued_beside_free_slot scout']
  assert.deepEqual(found({ open }), stuck)
  assert.deepEqual(found({ open }, { isReachable: false }), [])
  assert.deepEqual(found({ open, agents: [{ ...scout, status: 'exited' }] }), [])
  assert.deepEqual(found({ open, agents: [{ ...scout, desired: 'stopped' }] }), [])
  assert.deepEqual(found({ open, agents: [{ ...scout, disk_state: 'low' }] }), stuck)
  assert.deepEqual(found({ open, agents: [{ ...scout, disk_state: 'full' }] }), [], 'its runs wait for room')
  assert.deepEqual(found({ open: [run({ queued_at: ago(29) })] }), [])
  assert.deepEqual(found({ open: [run({ queued_at: null })] }), [], 'not in the queue yet')
  assert.deepEqual(found({ open: [run(), running({ id: 'x2' }), running({ id: 'x3' })] }), [])
  assert.deepEqual(
    found({ open, events: [event({ type: 'agent.started', executionId: null, ts: ago(3) })] }),
    [],
  )
})

test('a turn that waits for the one before it is valid', () => {
  const turns = [running({ id: 'x2', serial_key: 's1' }), run({ serial_key: 's1' })]
  assert.deepEqual(found({ open: turns }), [])
  assert.deepEqual(found({ open: [...turns, run({ id: 'x3', serial_key: 's2' })] }).length, 1)
})

test('finds a running row without lease, claim token or start', () => {
  for (const missing of ['lease_expires_at', 'claim_token', 'started_at'] as const) {
    assert.deepEqual(
      found({ open: [running({ [missing]: null })] }),
      ['no_running_without_lease x1'],
      missing,
    )
  }
})

test('finds events of a run without a record, once per run', () => {
  const events = [event(), event({ sequence: 2, type: 'execution.started' })]
  assert.deepEqual(found({ events }), ['no_event_without_row x1'])
  assert.deepEqual(found({ events, named: [running()] }), [])
  assert.deepEqual(found({ events: [event({ type: 'agent.created', executionId: null })] }), [])
})

test('finds an ended row that differs from its end event', () => {
  const changed = ['terminal_rows_unchanged x1']
  const newest = [ended()]
  assert.deepEqual(found({ newest, events: [finished()] }), [])
  assert.deepEqual(found({ newest }), changed, 'no end event')
  assert.deepEqual(found({ named: [ended()] }), [], 'its events may have been removed')
  assert.deepEqual(found({ newest, events: [finished({ status: 'failed' })] }), changed)
  assert.deepEqual(found({ newest: [running()], open: [running()], events: [finished()] }), changed)
  assert.deepEqual(found({ newest, events: [finished(), finished({ sequence: 10 })] }), changed)
  const again = event({ sequence: 10, type: 'execution.started', status: 'running' })
  assert.deepEqual(found({ newest, events: [finished(), again] }), changed)
  assert.deepEqual(found({ newest: [ended({ completed_at: null })], events: [finished()] }), changed)
  assert.deepEqual(found({ open: [run({ completed_at: ago(1), queued_at: ago(2) })] }), changed)
  assert.deepEqual(found({ leased: [ended({ lease_expires_at: ago(1) })] }), changed)
})

test('finds a fan-out whose end contradicts its runs', () => {
  const fanOut = { id: 'fo_1', agent_id: 'a1', created_at: ago(100), completed_at: null }
  const open = [running({ fan_out_id: 'fo_1' })]
  const broken = ['fan_outs_follow_their_runs fo_1']
  assert.deepEqual(found({ open, fanOuts: [fanOut] }), [])
  assert.deepEqual(found({ open, fanOuts: [{ ...fanOut, completed_at: ago(1) }] }), broken)
  assert.deepEqual(found({ fanOuts: [fanOut] }), broken)
  assert.deepEqual(found({ fanOuts: [{ ...fanOut, created_at: ago(5) }] }), [])
  const newest = [ended({ completed_at: ago(5) })]
  assert.deepEqual(
    found({ newest, fanOuts: [fanOut], events: [finished({ ts: ago(5) })] }),
    [],
    'the end event follows soon',
  )
})

test('a call is carried by the platform: it needs no lease and uses no slot', () => {
  const call = running({ id: 'c1', triggered_by: 'voip', claim_token: null, lease_expires_at: null })
  const others = [running({ id: 'x1' }), running({ id: 'x2' })]
  assert.deepEqual(found({ open: [call, ...others] }), [])
  assert.deepEqual(found({ open: [{ ...call, triggered_by: 'manual' }] }), ['no_running_without_lease c1'])
})
