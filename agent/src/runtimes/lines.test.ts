import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import type { Json } from '../kit/json.ts'
import { claude } from './claude.ts'
import { createCodex } from './codex.ts'
import { createGemini } from './gemini.ts'
import { toGeminiTool } from './gemini-home.ts'
import type { Dialogue, Outcome, Setup, Step } from './port.ts'
import { judgeCall } from './read-only-hook.ts'

const setup: Setup = {
  kind: 'task',
  systemPrompt: '',
  model: null,
  allowedTools: null,
  maxTurns: null,
  resumeSessionId: null,
  readOnly: null,
  broker: { url: 'http://broker', token: 'token' },
  mcp: null,
  servers: {},
  credentials: true,
  isOwner: true,
  obeys: { settings: null, hasFolder: true },
  imagePaths: [],
  places: { home: '/home/developer', state: '/state', scratch: '/scratch' },
}
const codex = createCodex({ path: '' })
const gemini = createGemini({ compileCache: null })
const now = () => 1000

function linesOf(steps: Step[]) {
  return steps.flatMap((step) => (step.do === 'line' ? [step.line] : []))
}

function outcomeOf(steps: Step[]): Outcome {
  const end = steps.find((step) => step.do === 'end')
  assert.ok(end?.do === 'end')
  return end.outcome
}

function read(dialogue: Dialogue, lines: Json[]): Step[] {
  return lines.flatMap((line) => dialogue.read(line))
}

test('claude: the cost of a turn is the difference since the last result', () => {
  const dialogue = claude.converse(setup, now)
  dialogue.begin({ text: 'x', images: [] })
  const { metadata } = outcomeOf(
    read(dialogue, [
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: 'ok',
        total_cost_usd: 9,
        modelUsage: { m: { costUSD: 9, contextWindow: 200_000 } },
        model_usage_since_last_result: { m: { costUSD: 0.25 }, n: { costUSD: 0.5 } },
        usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 5 },
      },
    ]),
  )
  assert.equal(metadata.cost_usd, 0.75)
  assert.equal(metadata.context_window, 200_000)
  assert.deepEqual([metadata.input_tokens, metadata.cache_read_tokens, metadata.output_tokens], [3, 4, 5])
})

test('claude: is_error decides, whatever the subtype is', () => {
  const cases: [Json, string][] = [
    [{ subtype: 'success', api_error_status: 429, result: 'API Error: slow down' }, 'rate_limited'],
    [
      { subtype: 'success', api_error_status: 402, result: 'The daily cap of this agent is spent.' },
      'cap_reached',
    ],
    [{ subtype: 'success', api_error_status: 404, result: 'no such model' }, 'model_unsupported'],
    [
      { subtype: 'success', api_error_status: null, result: 'Unable to connect to API (ECONNREFUSED)' },
      'network',
    ],
    [{ subtype: 'error_max_turns' }, 'max_turns'],
    [{ subtype: 'error_during_execution', errors: ['it broke'] }, 'agent_error'],
  ]
  for (const [line, code] of cases) {
    const steps = claude.converse(setup, now).read({ type: 'result', is_error: true, ...line })
    assert.equal(outcomeOf(steps).errorCode, code, JSON.stringify(line))
    assert.partialDeepStrictEqual(linesOf(steps)[0], { type: 'result', subtype: 'error', is_error: true })
  }
})

test('claude: compaction, retries and subagents become their own lines', () => {
  const dialogue = claude.converse(setup, now)
  const steps = read(dialogue, [
    { type: 'system', subtype: 'compact_boundary', compact_metadata: { pre_tokens: 900, post_tokens: 90 } },
    {
      type: 'system',
      subtype: 'api_retry',
      attempt: 1,
      max_retries: 8,
      error_status: 529,
      error: 'overloaded',
    },
    {
      type: 'stream_event',
      parent_tool_use_id: 'toolu_1',
      event: { type: 'content_block_delta', delta: { type: 'text_delta', text: 'not the answer' } },
    },
    {
      type: 'assistant',
      parent_tool_use_id: 'toolu_1',
      message: { model: 'm', content: [{ type: 'text', text: 'inner' }] },
    },
    {
      type: 'assistant',
      error: 'rate_limit',
      message: { model: '<synthetic>', content: [{ type: 'text', text: 'API' }] },
    },
    { type: 'system', subtype: 'something_new' },
    { type: 'something_newer' },
  ])
  assert.deepEqual(linesOf(steps), [
    { type: 'system', subtype: 'compact', before_tokens: 900, after_tokens: 90 },
    {
      type: 'system',
      subtype: 'notice',
      level: 'warning',
      message: 'The model call failed (529 overloaded); retry 1 of 8.',
    },
    {
      type: 'assistant',
      message: { role: 'assistant', model: 'm', content: [{ type: 'text', text: 'inner' }] },
      parent_tool_use_id: 'toolu_1',
    },
  ])
  assert.ok(!steps.some(({ do: what }) => what === 'partial'))
})

test('claude: the hook denies blocked paths by name and allows the rest', () => {
  const readOnly = { blocked: ['*.py'], allowed: ['content/**'] }
  const dialogue = claude.converse({ ...setup, readOnly }, now)
  const [first] = dialogue.begin({ text: 'x', images: [] })
  assert.ok(first?.do === 'write' && first.text.includes('"PreToolUse"'))
  const ask = (file_path: string) => {
    const input = { tool_name: 'Write', tool_input: { file_path } }
    const request = { subtype: 'hook_callback', callback_id: 'read-only', input }
    const [step] = dialogue.read({ type: 'control_request', request_id: 'r1', request })
    assert.ok(step?.do === 'write')
    return JSON.parse(step.text).response
  }
  assert.equal(ask('/home/developer/a.py').response.hookSpecificOutput.permissionDecision, 'deny')
  assert.deepEqual(ask('/home/developer/content/a.py').response, {})
  assert.equal(ask('/home/developer/content/a.py').request_id, 'r1')
})

test('claude: a refused handshake ends the turn', () => {
  const dialogue = claude.converse({ ...setup, systemPrompt: 'x' }, now)
  dialogue.begin({ text: 'x', images: [] })
  const response = { subtype: 'error', request_id: 'roost-initialize', error: 'no such field' }
  const outcome = outcomeOf(dialogue.read({ type: 'control_response', response }))
  assert.equal(outcome.errorCode, 'agent_error')
  assert.match(outcome.error ?? '', /no such field/)
})

test('codex: every kind of item becomes a block, a call or a notice', () => {
  const dialogue = codex.converse(setup, now)
  dialogue.begin({ text: 'x', images: [] })
  const item = (fields: Json) => ({ type: 'item.completed', item: fields })
  const steps = read(dialogue, [
    { type: 'thread.started', thread_id: 'thread-1' },
    item({ id: '0', type: 'reasoning', text: 'hm' }),
    { type: 'item.started', item: { id: '1', type: 'command_execution', command: "/bin/bash -lc 'ls'" } },
    item({
      id: '1',
      type: 'command_execution',
      command: "/bin/bash -lc 'ls'",
      aggregated_output: 'no',
      exit_code: 2,
    }),
    item({ id: '2', type: 'file_change', changes: [{ path: 'a.txt', kind: 'add' }], status: 'completed' }),
    item({
      id: '3',
      type: 'mcp_tool_call',
      server: 'roost',
      tool: 'ping',
      arguments: { a: 1 },
      result: { content: [{ type: 'text', text: 'pong' }] },
      error: null,
    }),
    item({ id: '4', type: 'error', message: 'Model metadata is missing.' }),
    item({ id: '5', type: 'todo_list', items: [] }),
    item({ id: '6', type: 'agent_message', text: 'done' }),
  ])
  const blocks = linesOf(steps).flatMap((line): object[] =>
    line.type === 'assistant' || line.type === 'user' ? line.message.content : [],
  )
  assert.deepEqual(blocks, [
    { type: 'thinking', thinking: 'hm' },
    { type: 'tool_use', id: '1', name: 'Bash', input: { command: 'ls' } },
    { type: 'tool_result', tool_use_id: '1', content: 'no', is_error: true },
    { type: 'tool_use', id: '2', name: 'Edit', input: { changes: [{ path: 'a.txt', kind: 'add' }] } },
    { type: 'tool_result', tool_use_id: '2', content: 'add a.txt' },
    { type: 'tool_use', id: '3', name: 'mcp__roost__ping', input: { a: 1 } },
    { type: 'tool_result', tool_use_id: '3', content: 'pong' },
    { type: 'text', text: 'done' },
  ])
})

test('codex: usage is the difference between totals of the thread', () => {
  const state = mkdtempSync('/tmp/roost-codex-test-')
  try {
    const use = (resumeSessionId: string | null, total: number) => {
      const dialogue = codex.converse({ ...setup, resumeSessionId, places: { ...setup.places, state } }, now)
      const usage = { input_tokens: total, cached_input_tokens: total / 2, output_tokens: total }
      const steps = read(dialogue, [
        { type: 'thread.started', thread_id: 'thread-1' },
        { type: 'turn.completed', usage },
      ])
      const { input_tokens, cache_read_tokens, output_tokens } = outcomeOf(steps).metadata
      return [input_tokens, cache_read_tokens, output_tokens]
    }
    assert.deepEqual(use(null, 100), [50, 50, 100])
    assert.deepEqual(use('thread-1', 160), [30, 30, 60])
    assert.deepEqual(use('thread-1', 160), [0, 0, 0])
  } finally {
    rmSync(state, { recursive: true })
  }
})

test('codex: a hopeless error ends the turn without waiting for retries', () => {
  const say = (message: string) => codex.converse(setup, now).read({ type: 'error', message })
  const refused = say('Reconnecting... 1/6 (unexpected status 402 Payment Required: the daily cap is spent)')
  assert.equal(outcomeOf(refused).errorCode, 'cap_reached')
  assert.ok(refused.some((step) => step.do === 'end' && step.isEarly))
  const busy = say('Reconnecting... 1/6 (unexpected status 503 Service Unavailable)')
  assert.deepEqual(
    busy.map((step) => step.do),
    ['line'],
  )
})

test('gemini: replayed history is not part of the answer', () => {
  const dialogue = gemini.converse({ ...setup, kind: 'chat', resumeSessionId: 'session-1' }, now)
  const sent: Json[] = []
  const take = (steps: Step[]) => {
    for (const step of steps) if (step.do === 'write') sent.push(JSON.parse(step.text))
    return steps
  }
  const chunk = (text: string) => ({
    jsonrpc: '2.0',
    method: 'session/update',
    params: { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
  })
  const answer = (result: Json) => take(dialogue.read({ jsonrpc: '2.0', id: sent.at(-1)?.id, result }))
  take(dialogue.begin({ text: 'now', images: [] }))
  answer({})
  assert.equal(sent.at(-1)?.method, 'session/load')
  dialogue.read(chunk('old one'))
  answer({})
  assert.equal(sent.at(-1)?.method, '_roost/barrier')
  // More history may follow the answer, so another barrier is sent.
  dialogue.read(chunk('old two'))
  answer({})
  assert.equal(sent.at(-1)?.method, '_roost/barrier')
  answer({})
  assert.equal(sent.at(-1)?.method, 'session/prompt')
  const steps = [...dialogue.read(chunk('new')), ...answer({ stopReason: 'end_turn' })]
  assert.equal(outcomeOf(steps).response, 'new')
})

test('gemini: the loop guard is not a reached turn limit, although both have one stop reason', () => {
  const endAfter = (maxTurns: number | null) => {
    const dialogue = gemini.converse({ ...setup, kind: 'chat', maxTurns }, now)
    const sent: Json[] = []
    const take = (steps: Step[]) => {
      for (const step of steps) if (step.do === 'write') sent.push(JSON.parse(step.text))
      return steps
    }
    const answer = (result: Json) => take(dialogue.read({ jsonrpc: '2.0', id: sent.at(-1)?.id, result }))
    take(dialogue.begin({ text: 'again and again', images: [] }))
    answer({})
    answer({ sessionId: 'session-1' })
    assert.equal(sent.at(-1)?.method, 'session/prompt')
    const { errorCode, error } = outcomeOf(answer({ stopReason: 'max_turn_requests' }))
    return { errorCode, error }
  }
  const loop = {
    errorCode: 'agent_error',
    error: 'Gemini CLI ended the turn because its loop guard found that the model repeats itself.',
  }
  assert.deepEqual(endAfter(null), loop)
  assert.deepEqual(endAfter(5), loop)
  assert.equal(endAfter(1).errorCode, 'max_turns')
})

test('gemini: tool names of another CLI are converted', () => {
  assert.equal(toGeminiTool('Bash(git *)'), 'run_shell_command(git)')
  assert.equal(toGeminiTool('Bash'), 'run_shell_command')
  assert.equal(toGeminiTool('Read'), 'read_file')
  assert.equal(toGeminiTool('mcp__roost__list_agents'), 'mcp_roost_list_agents')
  assert.equal(toGeminiTool('write_file'), 'write_file')
})

test('the hook checks single files and every file of a patch', () => {
  const rules = { blocked: ['*.py'], allowed: ['content/**'] }
  const judge = (tool_input: Json, dialect: 'gemini' | 'codex') =>
    judgeCall({ tool_input }, { rules, home: '/home/developer', dialect })
  assert.partialDeepStrictEqual(judge({ file_path: 'a.py' }, 'gemini'), { decision: 'deny' })
  assert.equal(judge({ file_path: '/home/developer/content/a.py' }, 'gemini'), null)
  const patch = '*** Begin Patch\n*** Add File: content/a.py\n*** Update File: src/b.py\n*** End Patch'
  assert.match(JSON.stringify(judge({ command: patch }, 'codex')), /src\/b\.py.*must not be changed/)
  assert.equal(judge({ command: 'ls -la' }, 'codex'), null)
})
