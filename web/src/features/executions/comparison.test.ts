import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import type { ExecutionTrace } from '@roost/contracts/runs/fleet-executions'
import { type Compared, figuresOf, toolsOf } from './comparison.ts'

const call = (tool: string, success = true) => ({ tool, success })
// The functions read only these fields.
const side = (over: object, firstTokens: (number | null)[] = []): Compared => ({
  run: {
    ...{ duration_ms: 1000, cost: 0.5, input_tokens: 10, output_tokens: 5, num_turns: 7, tool_count: null },
    ...{ tool_calls: [] },
    ...over,
  } as unknown as ExecutionDetails,
  trace: {
    model_calls: firstTokens.map((first_token_ms) => ({ first_token_ms })),
    started_runs: [],
  } as unknown as ExecutionTrace,
})

test('figures have both values and the difference, unless one is unknown', () => {
  const first = side({}, [300, null, 100, 200])
  const second = side({ duration_ms: 1500, cost: null, tool_calls: [call('Bash', false)] })
  assert.deepEqual(
    figuresOf(first, second).map(({ name, values, difference }) => [name, ...values, difference]),
    [
      ['duration', 1000, 1500, 500],
      ['cost', 0.5, null, null],
      ['input', 10, 10, 0],
      ['output', 5, 5, 0],
      ['modelCalls', 4, 7, 3],
      ['firstToken', 200, null, null],
      ['toolCalls', 0, 1, 1],
      ['toolFailures', 0, 1, 1],
    ],
  )
})

test('tools are counted per run, most used first', () => {
  const first = side({ tool_calls: [call('Read'), call('Bash'), call('Bash')] }).run
  const second = side({ tool_calls: [call('Bash'), call('Grep')] }).run
  assert.deepEqual(toolsOf(first, second), [
    { tool: 'Bash', counts: [2, 1] },
    { tool: 'Grep', counts: [0, 1] },
    { tool: 'Read', counts: [1, 0] },
  ])
})
