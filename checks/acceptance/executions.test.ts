/** The record of a run, its transcript, its live stream, and ending it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import {
  answerOf,
  assertShape,
  beginTurn,
  chat,
  createAgent,
  docker,
  execution,
  isOver,
  isSpawned,
  untilExecution,
} from './steps.ts'

const name = 'qa-runs'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const api = (method: string, path: string, body?: object) =>
  platform.request(method, `/api/agents/${name}/${path}`, body)
const begin = (message: string) => beginTurn(platform, name, message)
const until = (id: string, accept: (row: Loose) => boolean) => untilExecution(platform, name, id, accept)
const terminate = (id: string) => api('POST', `executions/${id}/terminate`)

type Event = { id: number | null; data: Loose }
/** Reads a run's live stream to its end; `onEvent` is called for each event. */
async function readStream(
  id: string,
  {
    query = '',
    headers = {},
    onEvent = () => {},
  }: { query?: string; headers?: Record<string, string>; onEvent?: (event: Event) => void } = {},
): Promise<{ response: Response; events: Event[] }> {
  const response = await fetch(`${platform.url}/api/agents/${name}/executions/${id}/stream${query}`, {
    headers: { authorization: `Bearer ${platform.token}`, ...headers },
  })
  const events: Event[] = []
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of response.body ?? []) {
    const blocks = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data === undefined) continue
      const number = /^id: (\d+)$/m.exec(block)?.[1]
      const event = { id: number === undefined ? null : Number(number), data: JSON.parse(data) }
      events.push(event)
      onEvent(event)
    }
  }
  return { response, events }
}
const numbers = (events: Event[]) => events.flatMap(({ id }) => (id === null ? [] : [id]))

describe('the record', () => {
  test('has every field of a summary, and details add theirs', async () => {
    const reply = await chat(platform, name, 'look at me [[tool:Bash:echo hi]] [[reply:seen]]')
    const { id } = reply.json.execution
    const [summary] = (await api('GET', 'executions?limit=1')).json
    const fields =
      'id agent_name status message triggered_by schedule_id created_at queued_at started_at completed_at duration_ms cost model_used context_used context_max input_tokens output_tokens attempt_number retry_of_execution_id retry_scheduled_at business_status fan_out_id fan_out_task_id loop_id reminder_id session_id parent_execution_id chain_depth source_user_id source_user_email source_agent_name source_mcp_key_id source_mcp_key_name source_mcp_scope error_summary'
    for (const field of fields.split(' ')) assert.ok(field in summary, `summary.${field}`)
    assert.equal(summary.id, id)
    assert.ok(!('response' in summary) && !('tool_calls' in summary))
    const details = await execution(platform, name, id)
    const more =
      'response error error_code terminal_reason skip_reason parked tool_calls compact_events timeout_seconds allowed_tools model runtime_session_id num_turns tool_count'
    for (const field of `${fields} ${more}`.split(' ')) assert.ok(field in details, `details.${field}`)
    assert.deepEqual(
      [
        details.status,
        details.triggered_by,
        details.response,
        details.terminal_reason,
        details.attempt_number,
      ],
      ['success', 'chat', 'seen', 'completed', 1],
    )
    assert.equal(details.message, 'look at me [[tool:Bash:echo hi]] [[reply:seen]]')
    assert.ok(details.cost > 0 && details.duration_ms > 0 && details.input_tokens > 0)
    assert.ok(details.created_at <= details.started_at && details.started_at <= details.completed_at)
    assert.equal(details.tool_calls.length, 1)
    assertShape(
      details.tool_calls[0],
      { id: 'string', tool: 'string', input_summary: 'string', started_at: 'string', success: 'boolean' },
      'call',
    )
    assert.ok(
      !('claim_token' in details) && !('lease_expires_at' in details),
      'internal columns must not appear',
    )
  })

  test('the transcript is in order, numbered and timed', async () => {
    const [{ id }] = (await api('GET', 'executions?limit=1')).json
    const reply = (await api('GET', `executions/${id}/log`)).json
    assert.deepEqual([reply.execution_id, reply.has_log, reply.status], [id, true, 'success'])
    assert.deepEqual(
      reply.log.map(({ type }: Loose) => type),
      ['system', 'assistant', 'user', 'assistant', 'result'],
    )
    for (const [index, line] of reply.log.entries()) {
      assert.equal(line._n, index + 1)
      assert.ok(!Number.isNaN(Date.parse(line._ts)))
    }
    const [, use, result] = reply.log
    const call = use.message.content.find((block: Loose) => block.type === 'tool_use')
    assert.equal(result.message.content[0].tool_use_id, call.id)
  })

  test('activity shows the call, newest first', async () => {
    const activity = (await api('GET', 'activity')).json
    assert.deepEqual(
      [activity.status, activity.active_tool, activity.tool_counts],
      ['idle', null, { Bash: 1 }],
    )
    const [call] = activity.timeline
    assert.deepEqual([call.tool, call.status, call.success], ['Bash', 'completed', true])
    assert.match(call.output_summary, /hi/)
    assert.equal(activity.totals.calls, 1)
  })

  test('lists are filtered and paged; unknown values are refused with the valid ones', async () => {
    await chat(platform, name, '[[fail:400]]')
    await answerOf(platform, name, 'one more')
    const statusesOf = async (query: string) => {
      const reply = await api('GET', `executions?${query}`)
      return [reply.json.map(({ status }: Loose) => status), Number(reply.headers.get('x-total-count'))]
    }
    assert.deepEqual(await statusesOf('status=failed'), [['failed'], 1])
    assert.deepEqual(await statusesOf('status=success&limit=1'), [['success'], 2])
    assert.deepEqual(await statusesOf('triggered_by=schedule'), [[], 0])
    assert.deepEqual(await statusesOf('limit=1&offset=1'), [['failed'], 3])
    for (const query of ['status=odd', 'triggered_by=odd']) {
      const reply = await api('GET', `executions?${query}`)
      assert.deepEqual([reply.status, reply.json.error], [422, 'unknown_filter'])
    }
    for (const query of ['limit=0', 'limit=201', 'offset=-1'])
      assert.equal((await api('GET', `executions?${query}`)).status, 422, query)
  })

  test('unknown ids and ids of another agent get the same 404', async () => {
    await createAgent(platform, 'qa-stranger')
    const [{ id }] = (await api('GET', 'executions?limit=1')).json
    for (const path of [`qa-stranger/executions/${id}`, `${name}/executions/unknown`]) {
      for (const [method, tail] of [
        ['GET', ''],
        ['GET', '/log'],
        ['GET', '/stream'],
        ['POST', '/terminate'],
      ] as const) {
        const reply = await platform.request(method, `/api/agents/${path}${tail}`)
        assert.deepEqual([reply.status, reply.json.error], [404, 'execution_not_found'], `${path}${tail}`)
      }
    }
    await platform.request('DELETE', '/api/agents/qa-stranger')
  })
})

describe('the live stream', () => {
  test('a finished run replays and ends; Last-Event-ID and after resume behind a line', async () => {
    const [{ id }] = (await api('GET', 'executions?limit=1')).json
    const { response, events } = await readStream(id)
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.equal(response.headers.get('cache-control'), 'no-cache')
    assert.equal(response.headers.get('x-accel-buffering'), 'no')
    assert.deepEqual(numbers(events), [1, 2, 3])
    for (const event of events) if (event.id) assert.equal(event.data._n, event.id)
    assert.deepEqual(events.at(-1)?.data, { type: 'stream_end', status: 'success', execution_id: id })
    assert.deepEqual(numbers((await readStream(id, { headers: { 'last-event-id': '2' } })).events), [3])
    assert.deepEqual(numbers((await readStream(id, { query: '?after=1' })).events), [2, 3])
    assert.deepEqual(numbers((await readStream(id, { headers: { 'last-event-id': '99' } })).events), [])
  })

  test('a late reader gets the earlier lines and then the live ones, once each', async () => {
    const turn = await begin('[[tool:Bash:sleep 1; echo late]] [[reply:end of it]]')
    await until(turn.id, (row) => row.tool_calls?.length === 1)
    let runningAtFirst: Promise<Loose> | null = null
    const { events } = await readStream(turn.id, {
      onEvent: () => {
        runningAtFirst ??= execution(platform, name, turn.id)
      },
    })
    assert.equal((await (runningAtFirst as Promise<Loose> | null))?.status, 'running')
    assert.deepEqual(numbers(events), [1, 2, 3, 4, 5])
    assert.equal(events.at(-1)?.data.type, 'stream_end')
    await turn.ended
  })

  test("a queued run's stream waits, and shows the run when it starts", async () => {
    const first = await begin('[[sleep:1]] [[reply:a]]')
    await until(first.id, isSpawned)
    const second = await begin('[[reply:b]]')
    const { events } = await readStream(second.id)
    assert.deepEqual(numbers(events), [1, 2, 3])
    assert.equal(events.at(-1)?.data.status, 'success')
    await Promise.all([first.ended, second.ended])
  })
})

describe('terminate', () => {
  test('terminated: the runtime and its children are stopped, and the row is cancelled', async () => {
    const turn = await begin('[[tool:Bash:sleep 4321]] [[reply:never]]')
    await until(turn.id, (row) => row.tool_calls?.length === 1)
    const running = (await api('GET', 'executions/running')).json.executions
    assert.deepEqual(
      running.map((each: Loose) => each.execution_id),
      [turn.id],
    )
    assert.deepEqual([running[0].metadata.type, running[0].metadata.triggered_by], ['chat', 'chat'])
    const active = (await api('GET', 'activity')).json
    assert.deepEqual([active.status, active.active_tool.name], ['running', 'Bash'])
    const reply = await terminate(turn.id)
    assert.deepEqual([reply.status, reply.json.status, reply.json.execution_id], [200, 'terminated', turn.id])
    const row = await execution(platform, name, turn.id)
    assert.deepEqual(
      [row.status, row.error_code, row.terminal_reason, row.response],
      ['cancelled', 'user_cancelled', 'cancelled', null],
    )
    assert.match(row.error, /admin/)
    const done = JSON.parse((await turn.ended).trim().split('\n').at(-1) ?? '')
    assert.deepEqual([done.type, done.status], ['done', 'cancelled'])
    await eventually(
      () => docker('exec', `agent-${name}`, 'sh', '-c', 'ps aux | grep -c "[s]leep 4321"'),
      (count) => count.trim() !== '1',
    )
    const idle = (await api('GET', 'activity')).json
    assert.deepEqual([idle.status, idle.active_tool], ['idle', null])
    assert.deepEqual((await api('GET', 'executions/running')).json, { executions: [] })
    assert.equal(await answerOf(platform, name, '[[reply:goes on]]'), 'goes on')
  })

  test('cancelled_while_queued and already_finished', async () => {
    const first = await begin('[[sleep:60]]')
    await until(first.id, isSpawned)
    const second = await begin('waits')
    assert.equal((await terminate(second.id)).json.status, 'cancelled_while_queued')
    assert.equal((await execution(platform, name, second.id)).status, 'cancelled')
    assert.equal((await terminate(first.id)).json.status, 'terminated')
    for (const { id } of [first, second]) assert.equal((await terminate(id)).json.status, 'already_finished')
    await Promise.all([first.ended, second.ended])
  })

  test('a waiting JSON request gets status cancelled', async () => {
    const blocker = await begin('[[sleep:60]]')
    await until(blocker.id, isSpawned)
    const waiting = chat(platform, name, 'waits [[reply:x]]')
    const [queued] = await eventually(
      async () => (await api('GET', 'executions?status=queued')).json,
      (rows) => rows.length === 1,
    )
    await terminate(queued.id)
    const reply = await waiting
    assert.deepEqual([reply.status, reply.json.status, reply.json.response], [200, 'cancelled', null])
    await terminate(blocker.id)
    await blocker.ended
  })

  test('of twenty concurrent requests one stops the run, and all get a response', async () => {
    const turn = await begin('[[sleep:60]]')
    await until(turn.id, isSpawned)
    const replies = await Promise.all(Array.from({ length: 20 }, () => terminate(turn.id)))
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
    const outcomes = replies.map((reply) => reply.json.status)
    assert.equal(outcomes.filter((word) => word === 'terminated').length, 1)
    assert.equal(outcomes.filter((word) => word === 'already_finished').length, 19)
    await turn.ended
  })
})

test('runs beyond the slots are queued; beyond fifty queued runs requests are refused without a row', async () => {
  const total = async () => Number((await api('GET', 'executions?limit=1')).headers.get('x-total-count'))
  const blocker = await begin('[[sleep:60]]')
  await until(blocker.id, isSpawned)
  const waiting = await Promise.all(Array.from({ length: 50 }, (_, index) => begin(`number ${index}`)))
  const before = await total()
  const refused = await chat(platform, name, 'one too many')
  assert.deepEqual([refused.status, refused.json.error], [429, 'queue_full'])
  assert.deepEqual([refused.json.agent_name, refused.json.queue_length], [name, 50])
  assert.equal(await total(), before)
  await Promise.all(waiting.map(({ id }) => terminate(id)))
  await terminate(blocker.id)
  await Promise.all([blocker, ...waiting].map(({ ended }) => ended))
})

test('an agent that dies during a run fails it with agent_lost, and works again', async () => {
  const turn = await begin('[[sleep:60]]')
  await until(turn.id, isSpawned)
  await docker('exec', `agent-${name}`, 'sh', '-c', 'kill -9 -1')
  await docker('kill', `agent-${name}`)
  const row = await until(turn.id, isOver)
  assert.deepEqual([row.status, row.error_code], ['failed', 'agent_lost'])
  await turn.ended
  await api('POST', 'start')
  assert.equal(await answerOf(platform, name, '[[reply:here again]]'), 'here again')
})
