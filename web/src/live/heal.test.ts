import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@roost/contracts/client'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { startHealing } from './heal.ts'

const networkError = new TypeError('Failed to fetch')

/** A shown query that fails once per error; resolves when `until` holds for its state. */
function show(queries: QueryClient, errors: Error[]) {
  let requestCount = 0
  const observer = new QueryObserver(queries, {
    queryKey: ['shown'],
    retry: false,
    queryFn: async () => {
      requestCount += 1
      const error = errors.shift()
      if (error) throw error
      return 'here'
    },
  })
  const status = (expected: string) =>
    new Promise<void>((resolve) => {
      const stop = observer.subscribe((result) => {
        if (result.status !== expected) return
        resolve()
        queueMicrotask(() => stop())
      })
    })
  const hold = observer.subscribe(() => {})
  return { requestCount: () => requestCount, status, hide: hold }
}

test('failed queries are fetched again when the platform responds, with growing delays', async () => {
  const queries = new QueryClient()
  const rounds: number[] = []
  const stop = startHealing(queries, async (_signal, round) => void rounds.push(round))
  const shown = show(queries, [networkError, new ApiError(502, null), networkError])
  await shown.status('success')
  assert.deepEqual(rounds, [0, 1, 2])
  assert.equal(shown.requestCount(), 4)
  shown.hide()
  stop()
  queries.clear()
})

test('a refused query is not fetched again', async () => {
  const queries = new QueryClient()
  let rounds = 0
  const stop = startHealing(queries, async () => {
    rounds += 1
  })
  const shown = show(queries, [new ApiError(404, null)])
  await shown.status('error')
  assert.deepEqual([rounds, shown.requestCount()], [0, 1])
  shown.hide()
  stop()
  queries.clear()
})

test('nothing is fetched after it was stopped', async () => {
  const queries = new QueryClient()
  const answering = Promise.withResolvers<void>()
  const stop = startHealing(queries, () => answering.promise)
  const shown = show(queries, [networkError])
  await shown.status('error')
  stop()
  answering.resolve()
  await answering.promise
  assert.equal(shown.requestCount(), 1)
  shown.hide()
  queries.clear()
})
