import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatRunQuery, parseRunQuery, queryWords, type RunQuery } from './run-query.ts'

function problemOf(text: string): string {
  return parseRunQuery(text).problem?.message ?? assert.fail(`${text} is valid`)
}

test('a filter is read', () => {
  const cases: [string, RunQuery][] = [
    ['', {}],
    ['  ', {}],
    [
      'agent:scout status:failed trigger:schedule cost:>0.5 since:2d "text"',
      { agent: 'scout', status: 'failed', trigger: 'schedule', cost: '>0.5', hours: 48, q: 'text' },
    ],
    ['look here', { q: 'look here' }],
    ['look "over  here"', { q: 'look over  here' }],
    ['it\'s 5" wide', { q: 'it\'s 5" wide' }],
    [String.raw`"a \"quoted\" \\ word"`, { q: String.raw`a "quoted" \ word` }],
    ['"status:failed"', { q: 'status:failed' }],
    ['STATUS:failed', { status: 'failed' }],
    ['model:"gpt 5" tag:"" error:"" person:""', { model: 'gpt 5', tag: '', error: '', person: '' }],
    ['person:ann@example.org', { person: 'ann@example.org' }],
    ['model:vendor:sonnet', { model: 'vendor:sonnet' }],
    [
      'tokens:>50k duration:5m..1h error:agent_error',
      {
        tokens: '>50k',
        duration: '5m..1h',
        error: 'agent_error',
      },
    ],
    ['since:all', { hours: 0 }],
    ['since:12h', { hours: 12 }],
    ['since:2w', { hours: 336 }],
    ['since:2026-01-31 until:2026-02-01', { from: '2026-01-31', to: '2026-02-01' }],
    ['until:2026-02-01', { to: '2026-02-01' }],
  ]
  for (const [text, query] of cases) assert.deepEqual(parseRunQuery(text), { query, problem: null }, text)
})

test('a mistake is named with its word and position', () => {
  const cases: [string, RegExp][] = [
    [
      'status:failed colour:red',
      /^Character 15: “colour” is not a filter\. Filters: agent, .* quotation marks\.$/,
    ],
    ['status:done', /^Character 1: “done” is not a status\. Values: queued, running, .*\.$/],
    ['  trigger:magic', /^Character 3: “magic” is not a trigger\./],
    ['error:bad', /^Character 1: “bad” is not an error code\./],
    ['-status:failed', /^Character 1: “-status” *: a filter cannot be negated\.$/],
    ['agent:', /^Character 1: “agent” has no value\.$/],
    ['agent:""', /^Character 1: “agent” has no value\.$/],
    ['agent:a agent:b', /^Character 9: “agent” is already set at character 1\.$/],
    [
      'cost:much',
      /^Character 1: “much” must be a number with >, >=, < or <=, or a range, such as >0\.5 or 0\.\.0\.5\.$/,
    ],
    ['look "here', /^Character 6: the quotation mark is not closed\.$/],
    ['tag:"a', /^Character 1: the quotation mark is not closed\.$/],
    ['since:soon', /^Character 1: “soon” is not a period such as 12h/],
    ['since:0d', /is not a period/],
    ['since:400d', /at most 365d/],
    ['since:2026-02-30', /is not a period/],
    ['until:2d', /^Character 1: “2d” is not a date/],
    ['since:2d until:2026-01-31', /^Character 10: “until” needs a date in “since”/],
    ['since:2026-01-31 until:2026-01-30', /^Character 18: “until” is before “since”\.$/],
    [`tag:${'x'.repeat(51)}`, /longer than 50 characters/],
    ['x'.repeat(201), /^Character 1: the text is longer than 200 characters\.$/],
  ]
  for (const [text, message] of cases) assert.match(problemOf(text), message, text)
  const { problem } = parseRunQuery('look status:done now')
  assert.deepEqual([problem?.start, problem?.end], [5, 16])
})

test('only the offered filters are known', () => {
  assert.match(
    parseRunQuery('since:2d', ['status']).problem?.message ?? '',
    /“since” is not a filter\. Filters: status\./,
  )
})

test('a written filter is read again', () => {
  const queries: RunQuery[] = [
    {},
    { agent: 'scout', status: 'failed', trigger: 'fan_out', error: '', model: '', person: '', tag: '' },
    { model: 'a b', tag: '"x"', person: String.raw`\n`, cost: '<=2', tokens: '1k..2k', duration: '>=90' },
    { hours: 0 },
    { hours: 25, q: 'two words' },
    { hours: 168 },
    { from: '2026-01-31', to: '2026-01-31' },
    { to: '2026-01-31' },
    ...['a:b', ' a', 'a ', 'a  b', '"', 'a "b"', 'it\'s 5" wide', String.raw`a\b`, String.raw`"a\"`].map(
      (q) => ({ q }),
    ),
  ]
  for (const query of queries) {
    const text = formatRunQuery(query)
    const { q, ...rest } = query
    const expected = q === undefined ? rest : { ...rest, q: q.trim() }
    assert.deepEqual(parseRunQuery(text), { query: expected, problem: null }, text)
  }
})

test('words have offsets, also in a text with mistakes', () => {
  assert.deepEqual(
    queryWords(' status:fai "open').map(({ start, end, key, valueStart, value, isOpen }) => [
      start,
      end,
      key,
      valueStart,
      value,
      isOpen,
    ]),
    [
      [1, 11, 'status', 8, 'fai', false],
      [12, 17, null, 12, 'open', true],
    ],
  )
})
