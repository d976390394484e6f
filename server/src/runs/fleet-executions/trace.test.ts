import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExecutionNeighbours, ExecutionTrace } from '@roost/contracts/runs/fleet-executions'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import type { ExecutionRow } from '../executions/index.ts'
import { type ModelCallRow, modelCallStore } from '../executions/index.ts'
import { start as startOn } from './test/fleet-world.ts'

const call = (over: Partial<ModelCallRow>): ModelCallRow => ({
  ...{ execution_id: 'r1', id: 'c1', provider: 'anthropic', model: 'claude-x', status: 200 },
  ...{ started_at: '2026-01-05T07:00:00.000Z', first_token_ms: 300, duration_ms: 900 },
  ...{ input_tokens: 10, output_tokens: 5, cache_creation_tokens: 1, cache_read_tokens: 2 },
  ...{ cost_micros: 2500, cost_estimated: 1 },
  ...over,
})

forEachDialect((_, open: OpenTestDb) => {
  const start = (rows: Partial<ExecutionRow>[]) => startOn(open, rows)

  test('a trace has the model calls in order, with the figures of the last write', async () => {
    const { db, get } = await start([{ id: 'r1' }])
    const calls = modelCallStore(db)
    await calls.put(call({ id: 'late', started_at: '2026-01-05T07:00:05.000Z', status: null }))
    await calls.put(call({ id: 'early', output_tokens: 1 }))
    await calls.put(call({ id: 'early' }))
    await calls.put(call({ execution_id: 'other' }))
    const trace = ExecutionTrace.parse((await get('owner', 'executions/r1/trace')).json)
    assert.deepEqual(
      trace.model_calls.map(({ id, status, output_tokens, cost, cost_estimated }) => ({
        ...{ id, status, output_tokens, cost, cost_estimated },
      })),
      [
        { id: 'early', status: 200, output_tokens: 5, cost: 0.0025, cost_estimated: true },
        { id: 'late', status: null, output_tokens: 5, cost: 0.0025, cost_estimated: true },
      ],
    )
    assert.deepEqual(trace.started_runs, [])
  })

  test('a trace has the runs that the run started, if the caller sees them', async () => {
    const { get } = await start([
      { id: 'r1' },
      { id: 'second', agent_id: 'a2', parent_execution_id: 'r1', created_at: '2026-01-05T07:02:00.000Z' },
      { id: 'first', parent_execution_id: 'r1', created_at: '2026-01-05T07:01:00.000Z' },
      { id: 'unrelated', parent_execution_id: 'r2' },
    ])
    const started = async (who: string) =>
      ExecutionTrace.parse((await get(who, 'executions/r1/trace')).json).started_runs.map(({ id }) => id)
    assert.deepEqual(await started('admin'), ['first', 'second'])
    assert.deepEqual(await started('owner'), ['first'], 'the other agent belongs to someone else')
  })

  test('the started runs of a private conversation are withheld like in lists', async () => {
    const { get } = await start([
      { id: 'r1' },
      { id: 'chat', parent_execution_id: 'r1', triggered_by: 'chat', source_user_id: 'ann', message: 'hush' },
    ])
    const [run] = ExecutionTrace.parse((await get('shared', 'executions/r1/trace')).json).started_runs
    assert.deepEqual([run?.message, run?.redacted], [null, true])
  })

  test('404 for a run that the caller does not see', async () => {
    const { get } = await start([{ id: 'r1' }, { id: 'gone', agent_id: 'a0', agent_deleted: 1 }])
    for (const path of ['trace', 'neighbours']) {
      for (const [who, id] of [
        ['stranger', 'r1'],
        ['agent with an edge', 'r1'],
        ['owner', 'gone'],
        ['admin', 'nothing'],
      ] as const) {
        const { status, json } = await get(who, `executions/${id}/${path}`)
        assert.deepEqual([status, json.error], [404, 'execution_not_found'], `${who} ${id} ${path}`)
      }
      assert.equal((await get('admin', `executions/gone/${path}`)).status, 200)
      assert.equal((await get('connector', `executions/r1/${path}`)).status, 403)
    }
  })

  test('neighbours are those of the list with the same filters', async () => {
    const at = '2026-01-05T07:00:00.000Z'
    const { get } = await start([
      { id: 'r1', created_at: '2026-01-02T07:00:00.000Z', status: 'failed' },
      { id: 'r2', created_at: '2026-01-05T06:00:00.000Z', agent_id: 'a2', agent_name: 'rover' },
      { id: 'r3', created_at: at, queue_number: 1, status: 'failed', message: 'a needle' },
      { id: 'r4', created_at: at, queue_number: 2, status: 'success' },
      { id: 'r5', created_at: at, queue_number: 3, status: 'failed' },
    ])
    const beside = async (who: string, id: string, query = '') => {
      const { json } = await get(who, `executions/${id}/neighbours?${query}`)
      const { previous, next } = ExecutionNeighbours.parse(json)
      return [previous?.id ?? null, next?.id ?? null]
    }
    assert.deepEqual(await beside('admin', 'r3'), ['r2', 'r4'])
    assert.deepEqual(await beside('owner', 'r3'), ['r1', 'r4'], 'no run of an agent that it may not access')
    assert.deepEqual(await beside('admin', 'r3', 'agent=scout&status=failed'), ['r1', 'r5'])
    assert.deepEqual(await beside('admin', 'r4', 'search=needle'), ['r3', null], 'it need not match itself')
    assert.deepEqual(await beside('admin', 'r3', 'hours=4'), ['r2', 'r4'])
    assert.deepEqual(await beside('admin', 'r2', 'hours=4'), [null, 'r3'])
    assert.deepEqual(await beside('admin', 'r5'), ['r4', null])
    const { status, json } = await get('admin', 'executions/r3/neighbours?status=fine')
    assert.deepEqual([status, json.error], [422, 'unknown_filter'])
  })
})
