import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commands } from '../cli/src/commands.ts'
import { commandLinesOf, commandProblem, isServed, requestsOf } from './named-interfaces.ts'

const page = [
  'Run `roost shares list scout` or `roost completion bash\\|zsh`; `ROOST_URL=x roost agents` too. roost is a word.',
  '',
  '```sh',
  'echo "$PASSWORD" | ./roost login localhost:8000   # ./roost nonsense',
  'KEY=$(roost keys create laptop)',
  'roost agents stop scout && roost agents \\',
  '  start scout',
  'curl -s -X PUT $URL/api/agents/scout/tags?x=1',
  '```',
  '',
  '```',
  'roost: output is no command',
  '```',
  'Call `POST /api/agents/{name}/chat`, `GET',
  '/api/agents`, /api/internal/ or example.com/api/other.',
].join('\n')

test('command lines are found in shell blocks and code spans', () => {
  assert.deepEqual(
    commandLinesOf(page).map(({ line, text }) => [line, text.replaceAll(/\s+/g, ' ')]),
    [
      [4, 'login localhost:8000'],
      [5, 'keys create laptop'],
      [6, 'agents stop scout'],
      [6, 'agents start scout'],
      [1, 'shares list scout'],
      [1, 'completion bash'],
      [1, 'agents'],
    ],
  )
})

const wrong: [string, string][] = [
  ['agnets list', 'there is no command "roost agnets"'],
  ['help agnets', 'there is no command "roost agnets"'],
  ['agents lst', '"roost agents" has no "lst"'],
  ['chat scout "--hi" --fresh', '"roost chat" has no option --fresh'],
  ['runs log ID -x', '"roost runs" has no option -x'],
  ['agents create scout --temp x', '"roost agents" has no option --temp'],
]
for (const [line, problem] of wrong) {
  test(`roost ${line} is refused`, () => assert.equal(commandProblem(line, commands), problem))
}

test('existing commands, subcommands and options are accepted', () => {
  for (const line of [
    'help agents',
    'chat scout "Who are you?" --new --json',
    'runs log ID -f',
    'shares set scout a@b.c write',
    'up --demo',
    '--version',
  ])
    assert.equal(commandProblem(line, commands), null, line)
})

test('requests are found with their methods', () => {
  assert.deepEqual(
    requestsOf(page).map(({ line, method, path }) => [line, method, path]),
    [
      [8, 'PUT', '/api/agents/scout/tags'],
      [14, 'POST', '/api/agents/{name}/chat'],
      [15, 'GET', '/api/agents'],
      [15, null, '/api/internal/*'],
    ],
  )
})

test('a request is served if its method, its words and its length match', () => {
  const served = [
    { method: 'GET', path: '/api/agents' },
    { method: 'PUT', path: '/api/agents/{name}/tags' },
  ]
  const is = (method: string | null, path: string) => isServed({ method, path }, served)
  assert.deepEqual([is('GET', '/api/agents'), is(null, '/api/agents/$AGENT/tags')], [true, true])
  assert.deepEqual([is(null, '/api/agents/*'), is(null, '/api/*')], [true, true])
  assert.deepEqual([is('POST', '/api/agents'), is(null, '/api/agent')], [false, false])
  assert.deepEqual([is(null, '/api/agents/x'), is(null, '/api/other/*')], [false, false])
})
