import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyTranscript, type Step, type Transcript } from './steps.ts'
import { appendLine, appendLines, transcriptOf } from './transcript-of.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
const says = (n: number, ...content: object[]) => ({
  _n: n,
  _ts: at(n),
  type: 'assistant',
  message: { role: 'assistant', model: 'opus', content },
})
const text = (words: string) => ({ type: 'text', text: words })
const call = (id: string, name = 'Bash', input: unknown = { command: 'ls' }) => ({
  type: 'tool_use',
  id,
  name,
  input,
})
const answers = (n: number, id: string, content: unknown, isError = false) => ({
  _n: n,
  _ts: at(n),
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] },
})
const piece = (words: string, kind = 'text') => ({ type: 'partial', kind, text: words })
const result = (n: number) => ({
  _n: n,
  _ts: at(n),
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'Hello',
  total_cost_usd: 0.02,
  duration_ms: 1200,
  num_turns: 2,
  usage: { input_tokens: 10, output_tokens: 5 },
  session_id: null,
})

const brief = ({ steps }: Transcript) => steps.map(short)
function short(step: Step): string {
  if (step.kind === 'text' || step.kind === 'thinking')
    return `${step.kind}${step.isPartial ? '…' : ''} ${step.text}`
  if (step.kind === 'tool') return `tool ${step.name} ${step.state} ${step.result?.content ?? ''}`.trim()
  return step.kind
}

test('turns a run into steps; each call has its result and duration', () => {
  const transcript = transcriptOf([
    { type: 'system', subtype: 'accepted', execution_id: 'e1', status: 'running' },
    { _n: 1, _ts: at(1), type: 'system', subtype: 'init', session_id: 's', model: 'sonnet', tools: [] },
    says(
      2,
      { type: 'thinking', thinking: 'Hm.' },
      text('I look.'),
      call('t1'),
      call('t2', 'Read', { file_path: '/a' }),
    ),
    answers(5, 't2', [{ type: 'text', text: 'one' }, { type: 'image' }], true),
    answers(6, 't1', 'a\nb'),
    { _n: 7, _ts: at(7), type: 'system', subtype: 'notice', level: 'warning', message: 'slow' },
    { _n: 8, _ts: at(8), type: 'system', subtype: 'compact', before_tokens: 9, after_tokens: null },
    says(9, text('Hello')),
    result(10),
  ])
  assert.deepEqual(brief(transcript), [
    'thinking Hm.',
    'text I look.',
    'tool Bash done a\nb',
    'tool Read failed one\n[image]',
    'notice',
    'compaction',
    'text Hello',
    'result',
  ])
  assert.deepEqual([transcript.lastLine, transcript.model], [10, 'opus'])
  assert.deepEqual(
    transcript.steps.map(({ durationMs }) => durationMs),
    [1000, 1000, 4000, 3000, 1000, 1000, 1000, 1000],
  )
  assert.deepEqual(
    transcript.steps.map(({ line }) => line),
    [2, 2, 2, 2, 7, 8, 9, 10],
  )
})

test('pieces grow into one step, and the whole block replaces them under the same key', () => {
  let transcript = appendLines(emptyTranscript, [piece('Let me', 'thinking'), piece(' see', 'thinking')])
  assert.deepEqual(brief(transcript), ['thinking… Let me see'])
  const [{ key } = { key: -1 }] = transcript.steps
  transcript = appendLine(transcript, says(1, { type: 'thinking', thinking: 'Let me see.' }))
  transcript = appendLines(transcript, [piece('Hel'), piece('lo')])
  assert.deepEqual(brief(transcript), ['thinking Let me see.', 'text… Hello'])
  const textKey = transcript.steps[1]?.key
  transcript = appendLines(transcript, [says(2, text('Hello, you')), piece('More')])
  assert.deepEqual(brief(transcript), ['thinking Let me see.', 'text Hello, you', 'text… More'])
  assert.deepEqual([transcript.steps[0]?.key, transcript.steps[1]?.key], [key, textKey])
})

test('a reopened stream sends the whole block so far without duplicated text', () => {
  let transcript = appendLines(emptyTranscript, [piece('Hel'), piece('lo')])
  transcript = appendLines(transcript, [
    { ...piece('Hello, y'), at: 0 },
    { ...piece('ou'), at: 8 },
  ])
  assert.deepEqual(brief(transcript), ['text… Hello, you'])
})

test('lines of a subagent are one level deeper, precede growing text and replace no pieces', () => {
  const transcript = transcriptOf([
    says(1, call('t1', 'Task')),
    piece('Meanwhile'),
    { ...says(2, text('inner'), call('t2')), parent_tool_use_id: 't1' },
    { ...says(3, text('innermost')), parent_tool_use_id: 't2' },
  ])
  assert.deepEqual(
    transcript.steps.map((step) => [short(step), step.depth]),
    [
      ['tool Task running', 0],
      ['text inner', 1],
      ['tool Bash running', 1],
      ['text innermost', 2],
      ['text… Meanwhile', 0],
    ],
  )
})

test('repeated lines change nothing, whichever stream they arrive on', () => {
  const lines = [says(1, text('a'), call('t1')), answers(2, 't1', 'x'), result(3)]
  const once = transcriptOf(lines)
  assert.deepEqual(appendLines(once, lines), once)
  assert.deepEqual(lines.reduce(appendLine, emptyTranscript), once)
})

test('the end drops unstored pieces and ends all calls', () => {
  for (const end of [
    { type: 'done', status: 'cancelled' },
    { type: 'stream_end', status: 'failed' },
  ]) {
    const transcript = transcriptOf([says(1, call('t1')), piece('half a'), end])
    assert.deepEqual(brief(transcript), ['tool Bash unfinished'])
  }
})

test('unchanged steps are the same objects', () => {
  const before = transcriptOf([says(1, text('a')), says(2, call('t1'))])
  const after = appendLines(before, [piece('b')])
  assert.equal(after.steps[0], before.steps[0])
  assert.equal(after.steps[1], before.steps[1])
})

test('arbitrary input never throws', () => {
  const junk = [
    null,
    3,
    'x',
    [],
    { type: 'assistant' },
    { type: 'assistant', message: null },
    { type: 'assistant', message: { content: 'plain' }, _n: 1, _ts: 'no time' },
    { type: 'assistant', message: { content: [null, 1, { type: 'text' }, { type: 'tool_use' }] }, _n: 2 },
    { type: 'assistant', _n: 3, _ts: at(1), _truncated: true, _length: 2_000_000 },
    { type: 'user', message: { content: [{ type: 'tool_result', content: { deep: [1] } }] }, _n: 4 },
    { type: 'system', subtype: 'notice', level: 7, message: { a: 1 }, _n: 5 },
    { type: 'result', usage: 'lots', _n: 6 },
    { type: 'error', _n: 7 },
    { type: 'partial', kind: 'other', text: 'x' },
    { type: 'from_the_future', _n: 8 },
  ]
  const transcript = transcriptOf(junk)
  assert.deepEqual(brief(transcript), [
    'text plain',
    'tool tool done {"deep":[1]}',
    'text ',
    'notice',
    'result',
    'error',
  ])
  assert.equal(transcript.steps[2]?.isCut, true)
  assert.equal(transcript.lastLine, 8)
})

test('20,000 lines, together or in batches, take linear time', () => {
  const lines = Array.from({ length: 10_000 }, (_, index) => [
    says(2 * index + 1, call(`t${index}`)),
    answers(2 * index + 2, `t${index}`, 'ok'),
  ]).flat()
  const startedAt = performance.now()
  assert.equal(transcriptOf(lines).steps.length, 10_000)
  let transcript = emptyTranscript
  for (let from = 0; from < lines.length; from += 100) {
    transcript = appendLines(transcript, lines.slice(from, from + 100))
  }
  assert.equal(transcript.steps.length, 10_000)
  assert.ok(performance.now() - startedAt < 20_000)
})
