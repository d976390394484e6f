import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { start, visibleRuns } from './test/fleet-world.ts'

const rover = { agent_id: 'a2', agent_name: 'rover' }
const at = (hour: number) => `2026-01-05T0${hour}:00:00.000Z`

/** The current time is 08:00 on 5 January. */
const rows = [
  {
    message: 'timed out',
    created_at: at(2),
    status: 'failed',
    error_code: 'timeout',
    cost_micros: 500_000,
    duration_ms: 300_000,
    input_tokens: 40_000,
    output_tokens: 10_000,
    source_user_id: 'ann',
  },
  {
    message: 'broke',
    created_at: at(3),
    status: 'failed',
    error_code: 'agent_error',
    cost_micros: 500_001,
    duration_ms: 300_001,
    input_tokens: 40_000,
    output_tokens: 10_001,
    source_user_id: 'email:guest@example.org',
  },
  { ...rover, message: 'rover broke', created_at: at(4), status: 'failed', error_code: 'agent_error' },
  { message: 'broke again', created_at: at(5), status: 'failed', error_code: 'agent_error' },
  {
    message: 'stopped',
    created_at: at(6),
    status: 'cancelled',
    error_code: 'agent_error',
    source_user_id: 'ben',
    triggered_by: 'chat',
  },
  { message: 'unexplained', created_at: at(7), status: 'failed', error_code: null },
] as const

forEachDialect((_name, open) => {
  test('runs are filtered by error code, alone and with the other filters', async () => {
    const { list, get } = await start(open, [...rows])
    const messages = async (who: string, query: string) => (await list(who, query)).messages
    assert.deepEqual(await messages('admin', 'error=agent_error'), [
      'stopped',
      'broke again',
      'rover broke',
      'broke',
    ])
    assert.deepEqual(await messages('admin', 'error=agent_error&status=failed&agent=scout'), [
      'broke again',
      'broke',
    ])
    assert.deepEqual(await messages('admin', 'error='), ['unexplained'])
    assert.deepEqual(await messages('owner', 'error=agent_error'), ['stopped', 'broke again', 'broke'])
    assert.deepEqual(await messages('stranger', 'error=agent_error'), [])
    assert.equal((await get('owner', 'executions?error=timeout')).json[0].error_code, 'timeout')
    const { json } = await get('admin', 'executions/stats?error=agent_error')
    assert.deepEqual([json.total, json.failed_count, json.cancelled_count], [4, 3, 1])
    const timeline = await get('admin', 'executions/timeline?group_by=agent&error=timeout')
    assert.deepEqual(
      timeline.json.buckets.map(({ bucket, total }: { bucket: string; total: number }) => [bucket, total]),
      [
        ['rover', 0],
        ['scout', 1],
      ],
    )
  })

  test('runs are filtered by cost, tokens and duration; a run without the value never matches', async () => {
    const { list } = await start(open, [...rows])
    const cases = [
      ['cost', '>0.5', ['broke']],
      ['cost', '>=0.5', ['broke', 'timed out']],
      ['cost', '<=0.5', ['timed out']],
      ['cost', '0.1..0.5', ['timed out']],
      ['tokens', '>50k', ['broke']],
      ['tokens', '50000', ['timed out']],
      ['duration', '>5m', ['broke']],
      ['duration', '<=300', ['timed out']],
      // Beyond the integers of a column.
      ['cost', '>999999999', []],
      ['duration', '<999999999h', ['broke', 'timed out']],
    ] as const
    for (const [measure, text, expected] of cases) {
      const found = await list('admin', `${measure}=${encodeURIComponent(text)}`)
      assert.deepEqual(found, { messages: expected, total: expected.length }, `${measure} ${text}`)
    }
  })

  test('a person is named by id, address or user name, and a guest by the address', async () => {
    const { list } = await start(open, [...rows])
    for (const person of ['ann', 'ANN@example.org'])
      assert.deepEqual((await list('admin', `person=${person}`)).messages, ['timed out'], person)
    assert.deepEqual((await list('admin', 'person=Guest@example.org')).messages, ['broke'])
    assert.deepEqual((await list('admin', 'person=nobody')).messages, [])
    assert.deepEqual((await list('stranger', 'person=ann')).messages, [])
  })

  test('422 for an unknown error code, with the codes, and for text that is no comparison', async () => {
    const { get } = await start(open, [...rows])
    for (const path of ['executions', 'executions/stats', 'executions/timeline', 'executions/errors']) {
      const unknown = await get('owner', `${path}?error=bad`)
      assert.deepEqual([unknown.status, unknown.json.error], [422, 'unknown_filter'], path)
      assert.ok(unknown.json.offered.includes('agent_error'))
      const refused = await get('owner', `${path}?cost=much`)
      assert.deepEqual([refused.status, refused.json.detail[0].loc], [422, ['query', 'cost']], path)
      assert.match(refused.json.detail[0].msg, /must be a number with >/)
    }
  })

  test('failed runs are counted by error code, with the filters of the list', async () => {
    const { get, list } = await start(open, [...rows])
    const groups = async (who: string, query = '') => {
      const { status, json } = await get(who, `executions/errors?${query}`)
      assert.equal(status, 200)
      return json.groups.map(
        (group: { error_code: string; count: number; agent_count: number; first_at: string }) => [
          group.error_code,
          group.count,
          group.agent_count,
          group.first_at,
        ],
      )
    }
    assert.deepEqual(await groups('admin'), [
      ['agent_error', 3, 2, at(3)],
      [null, 1, 1, at(7)],
      ['timeout', 1, 1, at(2)],
    ])
    assert.deepEqual(await groups('owner', 'agent=scout&hours=4'), [
      [null, 1, 1, at(7)],
      ['agent_error', 1, 1, at(5)],
    ])
    assert.deepEqual(await groups('admin', 'search=BROKE%20again'), [['agent_error', 1, 1, at(5)]])
    assert.deepEqual(await groups('admin', 'triggered_by=chat'), [])
    for (const [code, count] of await groups('admin'))
      assert.equal((await list('admin', `status=failed&error=${code ?? ''}`)).total, count)
  })

  test('each caller has the errors of the runs that it sees', async () => {
    const { get, list } = await start(open)
    for (const who of Object.keys(visibleRuns)) {
      const { json } = await get(who, 'executions/errors?hours=0')
      const count = json.groups.reduce((sum: number, group: { count: number }) => sum + group.count, 0)
      assert.equal(count, (await list(who, 'hours=0&status=failed')).total, who)
    }
    for (const who of ['connector', 'portal']) assert.equal((await get(who, 'executions/errors')).status, 403)
    // A message that the caller may not read is not searched.
    const { json } = await get('owner', 'executions/errors?hours=0&search=plum')
    assert.deepEqual(json.groups, [])
  })
})
