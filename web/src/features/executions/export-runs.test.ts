import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { runFile } from './export-runs.ts'

const run = (part: Partial<ExecutionSummary>) =>
  ({
    id: 'r1',
    agent_name: 'scout',
    status: 'success',
    message: 'hi',
    cost: 0.5,
    ...part,
  }) as ExecutionSummary

it('CSV has a header and one line per run, and no cell is a formula', () => {
  const { text, type } = runFile(
    [run({}), run({ id: 'r2', message: '=SUM(A1), "x"\nmore', cost: null })],
    'csv',
  )
  const [header = '', first = '', ...rest] = text.split('\r\n')
  assert.match(type, /^text\/csv/)
  assert.ok(header.startsWith('id,agent_name,status,message,'))
  assert.ok(first.startsWith('r1,scout,success,hi,'))
  assert.equal(header.split(',').length, first.split(',').length)
  assert.ok(rest.join('').includes(`r2,scout,success,"'=SUM(A1), ""x""\nmore",`))
})

it('NDJSON has each run as the API returns it', () => {
  const runs = [run({}), run({ id: 'r2', message: 'two\nlines' })]
  const { text } = runFile(runs, 'ndjson')
  assert.ok(text.endsWith('\n'))
  assert.deepEqual(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    runs,
  )
})
