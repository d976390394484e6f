import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '@roost/contracts/client'
import { type BatchResults, batchConcurrency, countResults, keysDone, Refusal, runBatch } from './batch.ts'

/** Runs a batch whose rows end when the test says so. */
function openBatch(keys: readonly string[]) {
  const ends = new Map<string, (fault?: Error) => void>()
  const stop = new AbortController()
  let results: BatchResults = new Map()
  const seen: BatchResults[] = []
  const ended = runBatch({
    rows: keys,
    keyOf: (key) => key,
    act: (key) =>
      new Promise((resolve, reject) =>
        ends.set(key, (fault) => (fault ? reject(fault) : resolve(`${key} done.`))),
      ),
    signal: stop.signal,
    onChange: (next) => {
      results = next
      seen.push(next)
    },
  })
  return {
    ended,
    stop: () => stop.abort(),
    seen,
    states: () => [...results.values()].map(({ state }) => state),
    result: (key: string) => results.get(key),
    /** Ends one row, and waits until the next one has begun. */
    async end(key: string, fault?: Error) {
      ends.get(key)?.(fault)
      await new Promise(setImmediate)
    },
  }
}

const keys = ['a', 'b', 'c', 'd', 'e', 'f']

describe('a batch', () => {
  it('acts on a few rows at the same time, in order', async () => {
    const batch = openBatch(keys)
    const running = Array.from({ length: batchConcurrency }, () => 'running')
    assert.deepEqual(batch.states(), [...running, 'waiting', 'waiting'])
    await batch.end('b')
    assert.deepEqual(batch.states(), ['running', 'done', 'running', 'running', 'running', 'waiting'])
    for (const key of ['a', 'c', 'd', 'e', 'f']) await batch.end(key)
    await batch.ended
    assert.deepEqual(
      batch.states(),
      keys.map(() => 'done'),
    )
    assert.deepEqual(batch.result('f'), { state: 'done', text: 'f done.' })
  })

  it('continues after a refused row and keeps the reason of the platform', async () => {
    const batch = openBatch(['a', 'b', 'c'])
    const body = { error: 'agent_busy' as const, detail: 'The agent is being changed.' }
    await batch.end('a', new ApiError(409, body))
    await batch.end('b', new Refusal('The run had already ended.'))
    await batch.end('c')
    await batch.ended
    assert.deepEqual(batch.result('a'), { state: 'refused', text: body.detail, code: 'agent_busy' })
    assert.deepEqual(batch.result('b'), {
      state: 'refused',
      text: 'The run had already ended.',
      code: null,
    })
    assert.deepEqual(batch.result('c'), { state: 'done', text: 'c done.' })
  })

  it('finishes what has begun after a stop, and begins nothing more', async () => {
    const batch = openBatch(keys)
    batch.stop()
    for (const key of ['a', 'b', 'c', 'd']) await batch.end(key)
    await batch.ended
    assert.deepEqual(batch.states(), ['done', 'done', 'done', 'done', 'not_begun', 'not_begun'])
  })

  it('reports new results without changing earlier ones', async () => {
    const batch = openBatch(['a'])
    await batch.end('a')
    await batch.ended
    assert.deepEqual(
      batch.seen.map((results) => results.get('a')?.state),
      ['waiting', 'running', 'done'],
    )
  })

  it('counts the results, and names the rows that were done', () => {
    const results: BatchResults = new Map([
      ['a', { state: 'done', text: '' }],
      ['b', { state: 'refused', text: 'no', code: null }],
      ['c', { state: 'not_begun' }],
    ])
    assert.deepEqual(countResults(results), { waiting: 0, running: 0, not_begun: 1, done: 1, refused: 1 })
    assert.deepEqual(keysDone(results), ['a'])
  })
})
