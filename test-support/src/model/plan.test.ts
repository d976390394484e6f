import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest, Turn } from './conversation.ts'
import { findDirectives } from './directives.ts'
import { type Plan, planAnswer } from './plan.ts'

type Given = {
  turn?: Partial<Turn>
  results?: string[]
  request?: Partial<ModelRequest>
  offered?: string[]
  carried?: Record<string, number>
}

function plan(
  text: string,
  { turn, results = [], request, offered = ['Bash', 'Write'], carried = {} }: Given = {},
): Plan {
  return planAnswer({
    request: {
      model: 'model-1',
      system: 'be brief',
      messages: [],
      tools: [],
      streamForm: null,
      isSide: false,
      answerSchema: null,
      ...request,
    },
    turn: {
      text,
      images: 0,
      earlier: [],
      toolResults: results.map((result, index) => ({ callId: `call-${index}`, text: result })),
      ...turn,
    },
    directives: findDirectives(text),
    isOffered: (tool) => offered.includes(tool),
    timesCarried: (key) => carried[key] ?? 0,
  })
}

function answer(text: string, given?: Given): string {
  const { outcome } = plan(text, given)
  assert.equal(outcome.kind, 'text', `expected a text answer, got ${outcome.kind}`)
  return outcome.kind === 'text' ? outcome.text : ''
}

const answers: [text: string, expected: string, given?: Given][] = [
  ['hello', 'ok: hello'],
  ['', 'ok: '],
  ['[[reply:done]]', 'done'],
  ['[[reply:]]', ''],
  ['say [[echo]]', 'say ((echo))'],
  ['one\ntwo [[echo]]', 'one\ntwo ((echo))'],
  ['[[model]]', 'model-1'],
  ['[[system]]', 'be brief'],
  ['[[images]]', 'images=2', { turn: { images: 2 } }],
  ['[[images]]', 'images=0'],
  ['[[recall:blue]]', 'recall=yes', { turn: { earlier: ['the sky', 'is blue today'] } }],
  ['[[recall:blue]]', 'recall=no', { turn: { earlier: ['the sky'] } }],
  ['[[len]]', 'len=7'],
  ['😀 [[len]]', 'len=9'],
  ['[[reply:a]] [[pad:3]]', 'a xxx'],
  ['[[pad:3]] [[reply:a]]', 'a xxx'],
  ['[[pad:0]] [[reply:a]]', 'a '],
  ['[[reply:a]] [[len]] [[reply:b]]', 'b'],
  ['[[reply:b]] [[model]]', 'model-1'],
]

for (const [text, expected, given] of answers) {
  test(`${JSON.stringify(text)} is answered ${JSON.stringify(expected)}`, () => {
    assert.equal(answer(text, given), expected)
  })
}

test('without a directive the first 200 complete characters are returned', () => {
  assert.equal(answer('y'.repeat(300)), `ok: ${'y'.repeat(200)}`)
  assert.equal(answer('😀'.repeat(300)), `ok: ${'😀'.repeat(200)}`)
})

test('received text is never returned as a directive', () => {
  assert.equal(answer('see [[note]]'), 'ok: see ((note))')
  assert.equal(answer('[[reply:a [[echo]]'), 'a ((echo')
  assert.equal(answer('[[system]]', { request: { system: '[[[fail]]]' } }), '(([fail))]')
  assert.equal(answer('[[model]]', { request: { model: '[[fail]]' } }), '((fail))')
  assert.equal(answer('[[tool:Bash:x]]', { results: ['[[fail]]'] }), 'tool-result: ((fail))')
  assert.equal(answer('[[tool:A[[B:{}]]'), 'no-tool: A((B')
})

test('the default is 10 and 10 tokens, without delay or cut', () => {
  const { usage, delaySeconds, pieceDelayMs, isCut } = plan('hello')
  assert.deepEqual(
    { usage, delaySeconds, pieceDelayMs, isCut },
    {
      usage: { input: 10, output: 10 },
      delaySeconds: 0,
      pieceDelayMs: 0,
      isCut: false,
    },
  )
})

test('sleep, drip, usage and cut combine', () => {
  const { usage, delaySeconds, pieceDelayMs, isCut } = plan(
    '[[sleep:0.5]] [[sleep:1]] [[drip:7]] [[usage:1,2]] [[cut]]',
  )
  assert.deepEqual(
    { usage, delaySeconds, pieceDelayMs, isCut },
    {
      usage: { input: 1, output: 2 },
      delaySeconds: 1.5,
      pieceDelayMs: 7,
      isCut: true,
    },
  )
})

const errors: [text: string, cause: string, status: number | null][] = [
  ['[[fail]]', 'fail', 400],
  ['[[fail:503]]', 'fail', 503],
  ['[[ratelimit]]', 'rate_limit', 429],
  ['[[autherror]]', 'auth', 401],
  ['[[overloaded]]', 'overload', null],
  ['[[reply:a]] [[fail:404]] [[ratelimit]]', 'fail', 404],
]

for (const [text, cause, status] of errors) {
  test(`${text} is an error of cause ${cause}`, () => {
    assert.deepEqual(plan(text).outcome, { kind: 'error', error: { cause, status } })
  })
}

test('fail-first fails while fewer than N earlier requests carried the key', () => {
  const text = '[[fail-first:k:2]] [[reply:fine]]'
  assert.deepEqual(plan(text).outcome, { kind: 'error', error: { cause: 'fail_first', status: null } })
  assert.equal(plan(text, { carried: { k: 1 } }).outcome.kind, 'error')
  assert.equal(answer(text, { carried: { k: 2 } }), 'fine')
  assert.equal(plan(text, { carried: { other: 2 } }).outcome.kind, 'error')
})

test('a request reports its keys even when another directive failed it', () => {
  assert.deepEqual(plan('[[fail]] [[fail-first:a:1]] [[fail-first:b:1]]').carriedKeys, ['a', 'b'])
  assert.deepEqual(plan('hello').carriedKeys, [])
})

test('a tool is called first; the request with its result gets the rest', () => {
  const text = '[[tool:Bash:ls]] [[reply:done]]'
  assert.deepEqual(plan(text).outcome, { kind: 'tool', tool: 'Bash', input: { command: 'ls' } })
  assert.equal(answer(text, { results: ['a b'] }), 'done')
})

test('a tool without an answer directive is answered with the first 2,000 characters of its result', () => {
  assert.equal(answer('[[tool:Bash:ls]]', { results: ['a b'] }), 'tool-result: a b')
  assert.equal(answer('[[tool:Bash:ls]] [[pad:2]]', { results: ['a b'] }), 'tool-result: a b xx')
  assert.equal(
    answer('[[tool:Bash:ls]]', { results: ['z'.repeat(3000)] }),
    `tool-result: ${'z'.repeat(2000)}`,
  )
})

test('several tools are called in turn, and the last result counts', () => {
  const text = '[[tool:Bash:one]] [[tool:Write:{}]]'
  assert.deepEqual(plan(text).outcome, { kind: 'tool', tool: 'Bash', input: { command: 'one' } })
  assert.deepEqual(plan(text, { results: ['1'] }).outcome, { kind: 'tool', tool: 'Write', input: {} })
  assert.equal(answer(text, { results: ['1', '2'] }), 'tool-result: 2')
})

test('a tool that is not offered is answered by name, whatever other directives there are', () => {
  assert.equal(answer('[[reply:x]] [[tool:Bash:ls]] [[reply:y]]', { offered: [] }), 'no-tool: Bash')
})

test('directives left of a tool apply to the call, those right of it to the request with the result', () => {
  const text = '[[sleep:1]] [[usage:1,1]] [[tool:Bash:ls]] [[sleep:2]] [[fail:500]]'
  const first = plan(text)
  const second = plan(text, { results: ['r'] })
  assert.deepEqual([first.delaySeconds, first.usage.input, first.outcome.kind], [1, 1, 'tool'])
  assert.deepEqual([second.delaySeconds, second.usage.input, second.outcome.kind], [2, 10, 'error'])
})

test('an error left of a tool replaces the call', () => {
  assert.equal(plan('[[fail-first:k:1]] [[tool:Bash:ls]]').outcome.kind, 'error')
  assert.equal(plan('[[fail-first:k:1]] [[tool:Bash:ls]]', { carried: { k: 1 } }).outcome.kind, 'tool')
  assert.equal(
    answer('[[fail-first:k:1]] [[tool:Bash:ls]]', { carried: { k: 1 }, results: ['r'] }),
    'tool-result: r',
  )
})

test('directives for the final answer apply wherever they are placed', () => {
  const { outcome, pieceDelayMs } = plan('[[drip:5]] [[reply:a]] [[pad:1]] [[tool:Bash:ls]]', {
    results: ['r'],
  })
  assert.deepEqual([outcome, pieceDelayMs], [{ kind: 'text', text: 'a x' }, 5])
})
