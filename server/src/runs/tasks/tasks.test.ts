import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { forEachDialect } from '../../test/dialects.ts'
import { agentFact } from '../../test/run-platform.ts'
import { type Loose, startTaskApp } from '../../test/task-app.ts'

const message = 'do it'
const toolUse: TranscriptLine = {
  type: 'assistant',
  message: {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }],
  },
}

forEachDialect((_, open) => {
  const start = async (options?: { queueDepth?: number; slots?: number }) =>
    startTaskApp(await open(), options)

  test('200 sync: response, figures, tool calls and transcript', async () => {
    const { task, woken, claim, lines, finish, call } = await start()
    const wake = woken()
    const reply = task('ann', { message })
    await wake
    const run = await claim()
    await lines(run, [toolUse])
    await finish(run, { metadata: { cost_usd: 0.5, input_tokens: 3, output_tokens: 4 } })
    const { status, headers, json } = await reply
    assert.deepEqual([status, headers['x-execution-id']], [200, run.execution_id])
    assert.deepEqual(
      [json.status, json.execution_id, json.task_execution_id, json.response, json.session_id],
      ['success', run.execution_id, run.execution_id, 'done', null],
    )
    assert.deepEqual([json.metadata.cost_usd, json.metadata.input_tokens], [0.5, 3])
    assert.equal(json.tool_calls[0].tool, 'Bash')
    assert.deepEqual(
      json.execution_log.map(({ _n, type }: Loose) => [_n, type]),
      [[1, 'assistant']],
    )
    assert.ok(!('deprecation' in headers) && !('x-idempotent-replay' in headers))
    // A request repeated before the reply is stored gets the same reply.
    const { completed_at } = (await call('ann', 'GET', `/executions/${run.execution_id}`)).json
    assert.equal(json.timestamp, completed_at)
  })

  test('a large transcript is streamed, and omitted for return=minimal', async () => {
    const { task, woken, claim, lines, finish } = await start()
    const wake = woken()
    const key = { 'idempotency-key': 'long' }
    const reply = task('ann', { message }, key)
    await wake
    const run = await claim()
    const text = 'x'.repeat(900 * 1024)
    const line: TranscriptLine = {
      type: 'assistant',
      message: { role: 'assistant', content: [{ type: 'text', text }] },
    }
    await lines(run, [line, line, line, line])
    await finish(run)
    const whole = await reply
    assert.deepEqual([whole.status, whole.headers['content-length']], [200, undefined])
    assert.deepEqual(
      whole.json.execution_log.map((line: Loose) => [line._n, line.message.content[0].text.length]),
      [1, 2, 3, 4].map((n) => [n, text.length]),
    )
    const least = await task('ann', { message }, { ...key, prefer: 'wait=5, return=minimal' })
    assert.deepEqual(least.json, { ...whole.json, execution_log: [] })
    assert.equal(least.headers['preference-applied'], 'return=minimal')
  })

  test('200 async: immediate, running while a slot is free, else queued', async () => {
    const { task, claim, call } = await start({ slots: 1 })
    const first = await task('ann', { message, async_mode: true })
    const second = await task('ann', { message, async_mode: true })
    assert.deepEqual(
      [first, second].map(({ status, json }) => [
        status,
        json.status,
        json.execution_status,
        json.async_mode,
      ]),
      [
        [200, 'accepted', 'running', true],
        [200, 'accepted', 'queued', true],
      ],
    )
    assert.equal(first.headers['x-execution-id'], first.json.execution_id)
    const run = await claim()
    assert.equal(run.execution_id, first.json.execution_id)
    const { json } = await call('ann', 'GET', `/executions/${run.execution_id}`)
    assert.deepEqual([json.status, json.triggered_by, json.message], ['running', 'manual', message])
  })

  test('of 20 concurrent tasks one per slot is reported as running', async () => {
    const { task } = await start({ slots: 3 })
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => task('ann', { message, async_mode: true })),
    )
    const byStatus = Map.groupBy(replies, ({ json }) => json.execution_status)
    assert.deepEqual([byStatus.get('running')?.length, byStatus.get('queued')?.length], [3, 17])
  })

  test('statuses of unsuccessful runs: failed 503, timed out 504, rate limited 429, cancelled 200', async () => {
    const { worked, task, woken, claim, call } = await start()
    const failures = [
      ['agent_error', 503, 'run_failed'],
      ['timeout', 504, 'run_timeout'],
      ['stalled', 504, 'run_timeout'],
      ['rate_limited', 429, 'provider_rate_limited'],
    ] as const
    for (const [error_code, status, error] of failures) {
      const reply = await worked('ann', { message }, { status: 'failed', error: 'went wrong', error_code })
      const { request_id: _, docs_url, ...body } = reply.json
      assert.deepEqual(
        [reply.status, body],
        [status, { detail: 'went wrong', error, execution_id: reply.run.execution_id, error_code }],
      )
      assert.equal(docs_url, `/help/errors/${error}`)
      assert.equal(reply.headers['x-execution-id'], reply.run.execution_id)
    }
    const wake = woken()
    const waiting = task('ann', { message })
    await wake
    const run = await claim()
    await call('ann', 'POST', `/executions/${run.execution_id}/terminate`)
    const { status, json } = await waiting
    assert.deepEqual(
      [status, json],
      [200, { status: 'cancelled', execution_id: run.execution_id, response: null }],
    )
  })

  test('504 with the receipt after twice the timeout; the run continues', async () => {
    const { task, woken, clock, claim, finish, platform } = await start()
    const wake = woken()
    const waiting = task('ann', { message, timeout_seconds: 60 })
    await wake
    await clock.waitingFor(120)
    await clock.advance(119)
    await clock.waitingFor(1)
    await clock.advance(1)
    const { status, headers, json } = await waiting
    assert.deepEqual([status, json.error, json.status], [504, 'sync_wait_exceeded', 'queued_timeout'])
    const run = await claim()
    assert.deepEqual([json.execution_id, headers['x-execution-id']], [run.execution_id, run.execution_id])
    await finish(run)
    assert.equal((await platform.row(run.execution_id)).status, 'success')
  })

  test('the agent gets model, tools, prompt, turns, session and the capped timeout', async () => {
    const { task, claim, call, platform } = await start()
    platform.agents.set('a1', agentFact({ execution_timeout_seconds: 600 }))
    const options = {
      message,
      async_mode: true,
      model: ' Opus[1m] ',
      timeout_seconds: 100_000,
      allowed_tools: ['Read', 'Bash(git log:*)'],
      system_prompt: 'be brief',
      max_turns: 7,
      resume_session_id: 'r-1',
      files: [{ name: '../a.txt', mimetype: 'text/plain', data_base64: 'aGk=' }],
    }
    const { headers, json } = await task('ann', options)
    assert.match(String(headers.deprecation), /^@\d+$/)
    assert.ok(!Number.isNaN(Date.parse(String(headers.sunset))))
    const run = await claim()
    assert.deepEqual(
      [run.kind, run.model, run.timeout_seconds, run.allowed_tools, run.max_turns, run.resume_session_id],
      ['task', 'Opus[1m]', 600, ['Read', 'Bash(git log:*)'], 7, 'r-1'],
    )
    assert.match(run.system_prompt, /be brief$/)
    assert.equal(run.attachments[0]?.name, 'a.txt')
    const details = (await call('ann', 'GET', `/executions/${json.execution_id}`)).json
    assert.deepEqual([details.timeout_seconds, details.allowed_tools], [600, options.allowed_tools])
  })

  test('a rejected request starts nothing and releases its key', async () => {
    const { task, call } = await start()
    const key = { 'idempotency-key': 'k1' }
    const file = (over: object) => ({ name: 'a.pdf', mimetype: 'text/plain', data_base64: 'aGk=', ...over })
    const refusals: [object, number, string][] = [
      [{}, 422, 'validation_error'],
      [{ message: '  ' }, 422, 'validation_error'],
      [{ message: 'x'.repeat(100_001) }, 422, 'validation_error'],
      [{ message, timeout_seconds: 9 }, 422, 'validation_error'],
      [{ message, max_turns: 501 }, 422, 'validation_error'],
      [{ message, files: [file({ size: -1 })] }, 422, 'validation_error'],
      [{ message, files: [file({ size: 1.5 })] }, 422, 'validation_error'],
      [{ message, allowed_tools: ['a\nb'] }, 422, 'validation_error'],
      [{ message, system_prompt: 'ü'.repeat(16_385) }, 422, 'validation_error'],
      [{ message, resume_session_id: '--help' }, 422, 'validation_error'],
      [{ message, inject_result: true, session_id: 's' }, 422, 'validation_error'],
      [{ message, model: 'llama-3' }, 422, 'invalid_model'],
      [{ message, files: [file({ mimetype: 'application/pdf' })] }, 422, 'attachment_rejected'],
      [{ message, files: [file({ data_base64: 'A'.repeat(7_000_000) })] }, 413, 'attachment_too_large'],
      [{ message, parent_execution_id: 'nope' }, 404, 'execution_not_found'],
      [{ message, session_id: 'nope' }, 404, 'session_not_found'],
    ]
    for (const [body, status, error] of refusals) {
      const reply = await task('ann', { async_mode: true, ...body }, key)
      assert.deepEqual([reply.status, reply.json.error], [status, error], JSON.stringify(body).slice(0, 100))
    }
    assert.match((await task('ann', { message, model: 'llama-3' })).json.detail, /llama-3/)
    assert.equal((await call('ann', 'GET', '/executions')).json.length, 0)
    const first = await task('ann', { message, async_mode: true }, key)
    assert.deepEqual([first.status, first.headers['x-idempotent-replay']], [200, undefined])
  })

  test('429 queue_full, 503 agent_not_running: the key is released', async () => {
    const { task, claim, finish, platform } = await start({ queueDepth: 2, slots: 1 })
    const key = { 'idempotency-key': 'k1' }
    for (let each = 0; each < 2; each += 1) await task('ann', { message, async_mode: true })
    const full = await task('ann', { message, async_mode: true }, key)
    assert.deepEqual(
      [full.status, full.json.error, full.json.agent_name, full.json.queue_length],
      [429, 'queue_full', 'scout', 2],
    )
    platform.agents.set('a1', agentFact({ status: 'stopped' }))
    const stopped = await task('ann', { message, async_mode: true }, key)
    assert.deepEqual([stopped.status, stopped.json.error], [503, 'agent_not_running'])
    platform.agents.set('a1', agentFact({ effective_slots: 1 }))
    await finish(await claim())
    assert.equal((await task('ann', { message, async_mode: true }, key)).status, 200)
  })

  test('the trigger is a person, MCP, another agent or the agent itself', async () => {
    const { task, call } = await start()
    const cases: [string, Record<string, string>, string, string | null][] = [
      ['ann', {}, 'manual', null],
      ['ann', { 'x-via-mcp': '1' }, 'manual', null],
      ['key', {}, 'manual', null],
      ['key', { 'x-via-mcp': '1' }, 'mcp', null],
      ['other', { 'x-via-mcp': '1' }, 'agent', 'name-of-a2'],
      ['self', {}, 'self_task', 'name-of-a1'],
    ]
    for (const [who, headers, trigger, agent] of cases) {
      const { json } = await task(who, { message, async_mode: true }, headers)
      const row = (await call('ann', 'GET', `/executions/${json.execution_id}`)).json
      assert.deepEqual([row.triggered_by, row.source_agent_name], [trigger, agent], who)
    }
  })

  test('404 for a parent run that the caller may not name', async () => {
    const { task, call } = await start()
    const ofAnn = (await task('ann', { message, async_mode: true })).json.execution_id
    const child = await task('bob', { message, async_mode: true, parent_execution_id: ofAnn })
    const row = (await call('ann', 'GET', `/executions/${child.json.execution_id}`)).json
    assert.equal(row.parent_execution_id, ofAnn)
    assert.equal((await task('other', { message, async_mode: true, parent_execution_id: ofAnn })).status, 404)
    assert.equal((await task('self', { message, async_mode: true, parent_execution_id: ofAnn })).status, 200)
  })
})
