import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecutionSummary, ModelCall } from '@roost/contracts/runs/executions'
import { transcriptOf } from '../transcripts/transcript-of.ts'
import { type Span, type TraceSource, traceOf, walk } from './trace.ts'

const startedAt = '2026-03-01T10:00:00.000Z'
const at = (second: number) => new Date(Date.parse(startedAt) + second * 1000).toISOString()
const assistant = (n: number, second: number, content: object, parent?: string) => ({
  type: 'assistant',
  _n: n,
  _ts: at(second),
  ...(parent === undefined ? {} : { parent_tool_use_id: parent }),
  message: { role: 'assistant', content: [content] },
})
const answer = (n: number, second: number, text: string, parent?: string) =>
  assistant(n, second, { type: 'text', text }, parent)
const call = (n: number, second: number, id: string, name: string, parent?: string) =>
  assistant(n, second, { type: 'tool_use', id, name, input: { command: `${name} it` } }, parent)
const result = (n: number, second: number, id: string, isError = false) => ({
  type: 'user',
  _n: n,
  _ts: at(second),
  message: {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: 'out', is_error: isError }],
  },
})
// The test reads only these fields.
const modelCall = (id: string, second: number, seconds: number, over: Partial<ModelCall> = {}) =>
  ({ id, model: 'm', status: 200, started_at: at(second), duration_ms: seconds * 1000, ...over }) as ModelCall
const started = (id: string, second: number, end: number | null) =>
  ({
    ...{ id, agent_name: 'rover', message: 'go', status: end === null ? 'running' : 'success' },
    ...{ created_at: at(second), completed_at: end === null ? null : at(end) },
  }) as ExecutionSummary
const of = (lines: object[], over: Partial<TraceSource> = {}) =>
  traceOf({
    ...{ steps: transcriptOf(lines).steps, modelCalls: [], startedRuns: [], startedAt, nowMs: null },
    ...over,
  })
/** `id kind start+duration (children)`. */
const brief = (spans: readonly Span[]): string =>
  spans
    .map(({ id, startMs, durationMs, children }) => {
      const within = children.length > 0 ? ` (${brief(children)})` : ''
      return `${id} ${startMs / 1000}+${durationMs / 1000}${within}`
    })
    .join(', ')

test('model calls and tool calls are in the order of their start, and know their lines', () => {
  const lines = [call(2, 3, 'a', 'Bash'), result(3, 5, 'a', true), answer(4, 8, 'done')]
  const trace = of(lines, { modelCalls: [modelCall('two', 5.2, 2.5), modelCall('one', 1, 1.9)] })
  assert.equal(brief(trace.spans), 'model:one 1+1.9, tool:a 3+2, model:two 5.2+2.5')
  assert.deepEqual(
    trace.spans.map(({ state, line }) => [state, line]),
    [
      ['done', 2],
      ['failed', 2],
      ['done', 4],
    ],
  )
  assert.deepEqual(
    [2, 3, 4].map((line) => trace.byLine.get(line)),
    ['tool:a', 'tool:a', 'model:two'],
  )
  assert.deepEqual([trace.lengthMs, trace.modelMs, trace.toolMs], [7700, 4400, 2000])
})

test('a subagent contains its model calls and tool calls, and those of another do not', () => {
  const lines = [
    call(2, 2, 'task', 'Task'),
    call(3, 4, 'inner', 'Grep', 'task'),
    result(4, 5, 'inner'),
    answer(5, 7, 'found', 'task'),
    result(6, 8, 'task'),
    answer(7, 10, 'done'),
  ]
  const modelCalls = [
    modelCall('m1', 0.5, 1),
    modelCall('m2', 2.5, 1),
    modelCall('m3', 5.5, 1),
    modelCall('m4', 8.5, 1),
  ]
  const trace = of(lines, { modelCalls })
  assert.equal(
    brief(trace.spans),
    'model:m1 0.5+1, tool:task 2+6 (model:m2 2.5+1, tool:inner 4+1, model:m3 5.5+1), model:m4 8.5+1',
  )
  assert.equal(trace.spans[1]?.kind, 'agent')
  assert.equal(trace.byLine.get(5), 'model:m3')
})

test('a started run is nested in the tool call that started it, an MCP call before others', () => {
  const lines = [
    call(2, 1, 'bash', 'Bash'),
    call(3, 2, 'ask', 'mcp__roost__chat_with_agent'),
    result(4, 6, 'ask'),
    result(5, 9, 'bash'),
  ]
  const trace = of(lines, {
    startedRuns: [started('r1', 3, 5), started('r2', 20, null)],
    nowMs: Date.parse(at(30)),
  })
  assert.equal(
    brief(trace.spans).replace(/text:-?\d+ \S+, /g, ''),
    'tool:bash 1+8, tool:ask 2+4 (run:r1 3+2), run:r2 20+10',
  )
  assert.deepEqual([trace.spans.at(-1)?.state, trace.lengthMs], ['running', 30_000])
})

test('without stored model calls, answers and gaps are the model time', () => {
  const start = { type: 'system', subtype: 'init', session_id: 's', model: 'm', tools: [], _n: 1, _ts: at(1) }
  const trace = of([
    start,
    answer(2, 3, 'looking'),
    call(3, 4, 'a', 'Bash'),
    result(4, 9, 'a'),
    answer(5, 10, 'done'),
  ])
  assert.deepEqual(
    trace.spans.map(({ kind, label, line }) => [kind, label, line]),
    [
      ['model', 'Answer', 2],
      ['model', 'Choosing tool', 3],
      ['tool', 'Bash', 3],
      ['model', 'Answer', 5],
    ],
  )
  assert.deepEqual(
    [3, 5].map((line) => trace.byLine.get(line)),
    ['tool:a', trace.spans[3]?.id],
  )
})

test('a run without a transcript shows its stored tool calls', () => {
  const toolCalls = [
    { id: 'a', tool: 'Bash', input_summary: 'ls', success: false, duration_ms: 2000, started_at: at(1) },
  ]
  const trace = of([], { toolCalls, modelCalls: [modelCall('m', 0, 1, { status: 529 })] })
  assert.deepEqual(
    trace.spans.map(({ id, summary, state }) => [id, summary, state]),
    [
      ['model:m', 'm', 'failed'],
      ['tool:a', 'ls', 'failed'],
    ],
  )
})

test('the axis of an empty run has no zero length', () => {
  assert.deepEqual([of([]).lengthMs, of([]).spans.length], [1, 0])
})

test('10,000 tool calls with their model calls are laid out quickly', () => {
  const lines = Array.from({ length: 10_000 }, (_, index) => [
    call(index * 2 + 1, index + 0.5, `t${index}`, 'Bash'),
    result(index * 2 + 2, index + 0.9, `t${index}`),
  ]).flat()
  const modelCalls = Array.from({ length: 10_000 }, (_, index) => modelCall(`m${index}`, index, 0.4))
  const { steps } = transcriptOf(lines)
  const began = performance.now()
  const trace = of([], { steps, modelCalls })
  assert.equal([...walk(trace.spans)].length, 20_000)
  assert.ok(performance.now() - began < 20_000, `${performance.now() - began} ms`)
})
