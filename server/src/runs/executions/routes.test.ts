import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { ExecutionLog } from '@roost/contracts/runs/executions'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { accept, linked, person, resultOf, startRunPlatform } from '../../test/run-platform.ts'
import { dispatchRoutes } from '../dispatch/index.ts'
import { sourceOf } from '../dispatch/request.ts'
import { logRetention } from '../retention/index.ts'
import { executionRoutes } from './routes.ts'

const line = (text: string): TranscriptLine => ({
  type: 'system',
  subtype: 'notice',
  level: 'info',
  message: text,
})
const agentKey = {
  kind: 'key' as const,
  user: person().user,
  key: { id: 'k-agent', name: 'agent', scope: 'agent' as const, agent_id: 'a1' },
}
const opsKey = {
  kind: 'key' as const,
  user: { ...person().user, role: 'admin' as const },
  key: { id: 'k-ops', name: 'ops', scope: 'ops' as const, agent_id: null },
}
const ann = person()
const bob = person({ id: 'u2', username: 'bob', email: 'bob@example.org' })
const admin = person({ id: 'u3', username: 'root', role: 'admin' })

async function start() {
  const clock = createTestClock()
  const platform = await startRunPlatform({ db: await openTestDatabase(), clock })
  platform.hooks.onTurn(async (_, row) => ({ message: row.message, resumeSessionId: null }))
  const { executions, dispatch } = platform
  const app = routesApp(
    [...executionRoutes(executions, silentLog), ...dispatchRoutes(dispatch, executions)],
    {
      ann: { caller: ann, relation: 'owner' },
      bob: { caller: bob, relation: 'shared' },
      admin: { caller: admin, relation: 'admin' },
      stranger: { caller: person({ id: 'u9' }), relation: null },
      agent: { caller: agentKey, relation: 'self' },
      ops: { caller: opsKey, relation: 'admin' },
    },
  )
  const get = async (who: string, path: string, headers: Record<string, string> = {}) => {
    const reply = await app.inject({
      url: `/api/agents/scout/executions${path}`,
      headers: as(who, headers),
    })
    const isJson = String(reply.headers['content-type']).includes('json')
    return {
      status: reply.statusCode,
      headers: reply.headers,
      text: reply.body,
      json: isJson ? reply.json() : null,
    }
  }
  const post = async (who: string, path: string, payload?: object) => {
    const reply = await app.inject({
      method: 'POST',
      url: `/api/agents/scout/executions${path}`,
      headers: as(who),
      ...(payload ? { payload } : {}),
    })
    return { status: reply.statusCode, json: reply.json() }
  }
  /** A run with output that has ended. */
  const finished = async (over: Parameters<typeof accept>[1] = {}) => {
    const row = await accept(platform, over)
    const { runs } = await dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const run = runs[0] ?? assert.fail('no run was claimed')
    const tool: TranscriptLine = {
      type: 'assistant',
      message: {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }],
      },
    }
    const { execution_id, claim_token } = run
    await dispatch.handlers.lines(linked, {
      t: 'lines',
      execution_id,
      claim_token,
      from: 1,
      lines: [line('hi'), tool],
    })
    await dispatch.handlers.result(linked, resultOf(run, { response: 'the answer' }))
    return row.id
  }
  return { platform, clock, get, post, finished }
}

test('a list is paged, newest first, with the total count', async () => {
  const { platform, get } = await start()
  const ids: string[] = []
  for (let number = 0; number < 5; number += 1) ids.unshift((await accept(platform)).id)
  const { json, headers } = await get('ann', '?limit=2&offset=1')
  assert.deepEqual(
    json.map(({ id }: { id: string }) => id),
    ids.slice(1, 3),
  )
  assert.equal(headers['x-total-count'], '5')
})

test('lists are filtered; 422 unknown_filter names the valid values, 422 for a limit out of range', async () => {
  const { platform, get, finished } = await start()
  await finished()
  await accept(platform, { triggeredBy: 'schedule' })
  assert.equal((await get('ann', '?status=success')).json.length, 1)
  assert.equal((await get('ann', '?triggered_by=schedule')).json.length, 1)
  const byHand = await accept(platform, { triggeredBy: 'manual', links: { scheduleId: 's1' } })
  const ofSchedules = (await get('ann', '?of_schedules=true')).json
  assert.deepEqual(
    ofSchedules.map(({ id }: { id: string }) => id),
    [byHand.id],
  )
  await accept(platform, { triggeredBy: 'validation', links: { scheduleId: 's1' } })
  const totals = await Promise.all(
    ['', '&include=validations', '&triggered_by=validation'].map(
      async (more) => (await get('ann', `?of_schedules=true${more}`)).headers['x-total-count'],
    ),
  )
  assert.deepEqual(totals, ['1', '2', '1'])
  const unknown = await get('ann', '?status=done')
  assert.deepEqual([unknown.status, unknown.json.error], [422, 'unknown_filter'])
  assert.ok(unknown.json.offered.includes('success'))
  for (const query of ['?limit=0', '?limit=201', '?offset=-1', '?limit=x']) {
    assert.equal((await get('ann', query)).status, 422, query)
  }
})

test('details have the response, the tools and the usage', async () => {
  const { get, finished } = await start()
  const { json } = await get('ann', `/${await finished()}`)
  assert.equal(json.response, 'the answer')
  assert.equal(json.status, 'success')
  assert.equal(json.parked, false)
  assert.deepEqual(
    json.tool_calls.map(({ tool, input_summary }: Record<string, string>) => [tool, input_summary]),
    [['Bash', 'ls']],
  )
  assert.equal(json.tool_count, 1)
})

test('the log is the numbered transcript', async () => {
  const { get, finished } = await start()
  const { json } = await get('ann', `/${await finished()}/log`)
  assert.deepEqual(ExecutionLog.parse(json), json)
  assert.equal(json.has_log, true)
  assert.deepEqual(
    json.log.map(({ _n, type }: Record<string, unknown>) => [_n, type]),
    [
      [1, 'system'],
      [2, 'assistant'],
    ],
  )
})

test('a transcript that retention removed is shown as removed, and everything else stays', async () => {
  const { platform, clock, get, finished } = await start()
  const id = await finished()
  const before = (await get('ann', `/${id}`)).json
  assert.equal(before.log_removed_at, null)
  clock.set('2026-03-05T08:00:00.000Z')
  const sweep = logRetention({
    ...{ db: platform.db, clock, log: silentLog, alerts: createTestAlerts().alerts },
    settings: {
      value: () => 30,
      retention: { admit: async () => ({ isAdmitted: true, isNew: false }) },
    },
  })
  await sweep.run(new AbortController().signal)
  const log_removed_at = '2026-03-05T08:00:00.000Z'
  assert.deepEqual((await get('ann', `/${id}`)).json, { ...before, tool_calls: [], log_removed_at })
  const { json } = await get('ann', `/${id}/log`)
  assert.deepEqual(ExecutionLog.parse(json), json)
  assert.deepEqual([json.has_log, json.log, json.log_removed_at], [false, [], log_removed_at])
  const { text } = await get('ann', `/${id}/stream`)
  const end = { type: 'stream_end', status: 'success', execution_id: id, log_removed_at }
  assert.equal(text, `data: ${JSON.stringify(end)}\n\n`)
})

test('404 for unknown ids and runs of other agents, for every route', async () => {
  const { platform, get, post } = await start()
  platform.agents.set('a2', { ...(platform.agents.get('a1') ?? assert.fail()), id: 'a2', name: 'other' })
  const foreign = await accept(platform, { agentId: 'a2' })
  for (const id of ['nope', foreign.id]) {
    for (const path of [`/${id}`, `/${id}/log`, `/${id}/stream`]) {
      const { status, json } = await get('ann', path)
      assert.deepEqual([status, json.error], [404, 'execution_not_found'], path)
    }
    assert.equal((await post('ann', `/${id}/terminate`)).status, 404)
  }
  assert.equal((await get('stranger', '')).json.error, 'agent_not_found')
})

test('running runs are listed with their kind and parked state', async () => {
  const { platform, get } = await start()
  await accept(platform)
  await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
  const { json } = await get('ops', '/running')
  assert.equal(json.executions.length, 1)
  assert.equal(json.executions[0].parked, true)
  assert.equal(json.executions[0].metadata.type, 'task')
  assert.equal(json.executions[0].metadata.message_preview, 'do it')
})

const chat = {
  kind: 'chat' as const,
  triggeredBy: 'chat' as const,
  sessionId: 's1',
  source: sourceOf(ann, null),
}

for (const triggeredBy of ['chat', 'mcp'] as const)
  test(`others see a private conversation without message, response and log: ${triggeredBy}`, async () => {
    const { get, finished } = await start()
    const id = await finished({ ...chat, triggeredBy, message: 'a secret question' })
    for (const who of ['bob', 'ops', 'agent']) {
      const [list, details, log, stream] = await Promise.all([
        get(who, ''),
        get(who, `/${id}`),
        get(who, `/${id}/log`),
        get(who, `/${id}/stream`),
      ])
      assert.equal(list.json[0].redacted, true, who)
      assert.equal(details.json.redacted, true)
      assert.deepEqual(log.json.log, [])
      const all = [list, details, log, stream].map(({ text }) => text).join()
      assert.doesNotMatch(all, /secret question|the answer|"hi"|Bash/, who)
      assert.match(stream.text, /"stream_end","status":"success".*"redacted":true/)
    }
    for (const who of ['ann', 'admin']) {
      const details = await get(who, `/${id}`)
      assert.equal(details.json.message, 'a secret question')
      assert.equal(details.json.redacted, undefined)
    }
  })

test('a stream has line numbers as ids and an end; Last-Event-ID and after resume it', async () => {
  const { get, finished } = await start()
  const id = await finished()
  const { text, headers } = await get('ann', `/${id}/stream`)
  assert.equal(headers['content-type'], 'text/event-stream')
  assert.equal(headers['cache-control'], 'no-cache')
  assert.equal(headers['x-accel-buffering'], 'no')
  const events = text.trim().split('\n\n')
  assert.equal(events.length, 3)
  assert.match(events[0] ?? '', /^id: 1\ndata: \{"type":"system".*"_n":1/)
  assert.match(events[1] ?? '', /^id: 2\ndata: /)
  assert.deepEqual(JSON.parse((events[2] ?? '').slice('data: '.length)), {
    type: 'stream_end',
    status: 'success',
    execution_id: id,
  })
  for (const resumed of [
    await get('ann', `/${id}/stream?after=1`),
    await get('ann', `/${id}/stream`, { 'last-event-id': '1' }),
    await get('ann', `/${id}/stream?after=0`, { 'last-event-id': '1' }),
  ]) {
    assert.deepEqual(resumed.text.match(/^id: \d+/gm), ['id: 2'])
  }
})

test('the stream of a queued run sends a comment every 15 s', async () => {
  const { platform, get } = await start()
  const clock = platform.clock as ReturnType<typeof createTestClock>
  const row = await accept(platform)
  const stream = get('ann', `/${row.id}/stream`)
  await clock.waitingFor(15)
  await clock.advance(15)
  await clock.waitingFor(15)
  await platform.executions.terminate({ caller: ann, agentId: 'a1', relation: 'owner' }, row.id)
  const { text } = await stream
  assert.match(text, /^: keepalive\n\ndata: \{"type":"stream_end","status":"cancelled"/)
})

test('the result callback: 200 once, then an error; 403 for other callers', async () => {
  const { platform, post } = await start()
  const row = await accept(platform)
  const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
  const body = {
    claim_token: runs[0]?.claim_token,
    status: 'success',
    response: 'by HTTP',
    execution_log: [line('x')],
  }
  assert.equal((await post('ann', `/${row.id}/result`, body)).json.error, 'agent_identity_required')
  assert.deepEqual((await post('agent', `/${row.id}/result`, body)).json, { accepted: true })
  assert.deepEqual((await post('agent', `/${row.id}/result`, body)).json, {
    accepted: false,
    reason: 'already_final',
  })
  assert.equal((await platform.row(row.id)).response, 'by HTTP')
  assert.equal((await post('agent', `/${row.id}/result`, { status: 'success' })).status, 422)
  assert.equal((await post('agent', '/nope/result', body)).status, 404)
})
