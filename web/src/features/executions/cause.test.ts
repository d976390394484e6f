import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { causeLine, causesOf } from './cause.ts'

/** Only the fields that are read. */
const run = (part: Partial<ExecutionSummary>) =>
  ({
    agent_name: 'scout',
    triggered_by: 'manual',
    schedule_id: null,
    loop_id: null,
    reminder_id: null,
    fan_out_id: null,
    fan_out_task_id: null,
    session_id: null,
    parent_execution_id: null,
    source_user_id: null,
    source_user_email: null,
    source_agent_name: null,
    source_mcp_key_id: null,
    source_mcp_key_name: null,
    source_mcp_scope: null,
    ...part,
  }) as ExecutionSummary
const textsOf = (part: Partial<ExecutionSummary>) =>
  causesOf(run(part), 'me').map(({ label, text }) => `${label}: ${text}`)

test('names the requester: the user, another user, an agent or a key', () => {
  assert.deepEqual(textsOf({ source_user_id: 'me' }), ['Trigger: Manual', 'Requested by: You'])
  assert.deepEqual(textsOf({ source_user_id: 'u2', source_user_email: 'ada@example.org' }), [
    'Trigger: Manual',
    'Requested by: ada@example.org',
  ])
  assert.deepEqual(textsOf({ triggered_by: 'agent', source_agent_name: 'scout', source_user_id: 'me' }), [
    'Trigger: Agent',
    'Requested by: scout',
  ])
  assert.deepEqual(
    textsOf({ triggered_by: 'mcp', source_mcp_key_name: 'laptop', source_mcp_scope: 'user' }),
    ['Trigger: MCP', 'MCP key: laptop (user)'],
  )
})

test('links to the conversation, fan-out and parent run', () => {
  const parts = causesOf(
    run({ parent_execution_id: 'e1', fan_out_id: 'fo_1', fan_out_task_id: 't2', session_id: 's1' }),
    'me',
  )
  assert.deepEqual(
    parts.flatMap(({ target }) => target ?? []),
    [
      { to: 'fan_out', id: 'fo_1' },
      { to: 'session', id: 's1' },
      { to: 'execution', id: 'e1', agent: 'scout' },
    ],
  )
})

test('a run of a deleted agent links to no page of that agent', () => {
  const linked = { parent_execution_id: 'e1', fan_out_id: 'fo_1', schedule_id: 's', session_id: 's1' }
  const parts = causesOf(run({ ...linked, agent_deleted: true }), 'me')
  assert.deepEqual(
    parts.map(({ label, target }) => [label, target]),
    [
      ['Trigger', null],
      ['Schedule', null],
      ['Fan-out', null],
      ['Conversation', null],
      ['Parent run', { to: 'any_execution', id: 'e1' }],
    ],
  )
})

test('formats the cause as one line for lists', () => {
  assert.equal(causeLine(run({ triggered_by: 'agent', source_agent_name: 'scout' })), 'Agent · scout')
  assert.equal(causeLine(run({ triggered_by: 'schedule' })), 'Schedule')
})
