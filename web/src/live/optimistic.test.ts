import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notifyManager, QueryClient, QueryObserver } from '@tanstack/react-query'
import { changeOf, createOptimistic } from './optimistic.ts'

type Row = { id: string; on: boolean }
const key = ['rows']

function bench(rows: readonly string[] = ['a', 'b']) {
  const queries = new QueryClient({ defaultOptions: { queries: { gcTime: 0, retry: false } } })
  const all = (): Row[] => rows.map((id) => ({ id, on: false }))
  queries.setQueryData(key, all())
  const optimistic = createOptimistic(queries)
  const set = (id: string, on: boolean) =>
    optimistic.show([changeOf<Row[]>(key, (now) => now.map((row) => (row.id === id ? { ...row, on } : row)))])
  const on = () =>
    queries
      .getQueryData<Row[]>(key)
      ?.filter((row) => row.on)
      .map(({ id }) => id)
  /** The platform's answer: which rows are on. */
  const fetched = (...ids: string[]) =>
    queries.fetchQuery({
      queryKey: key,
      staleTime: 0,
      queryFn: async () => all().map((row) => ({ ...row, on: ids.includes(row.id) })),
    })
  return { queries, optimistic, set, on, fetched }
}

test('a change is shown immediately and rolled back when it is refused', () => {
  const { set, on } = bench()
  const shown = set('a', true)
  assert.deepEqual(on(), ['a'])
  shown.rollBack()
  assert.deepEqual(on(), [])
})

test('an older response does not hide a pending change', async () => {
  const { queries, set, on, fetched } = bench()
  const rendered: (string[] | undefined)[] = []
  const observer = new QueryObserver<Row[]>(queries, { queryKey: key, enabled: false })
  // A page renders once for all synchronous changes.
  const stop = observer.subscribe(notifyManager.batchCalls(() => void rendered.push(on())))
  const shown = set('a', true)
  await fetched()
  assert.deepEqual(on(), ['a'])
  shown.confirm()
  assert.deepEqual(on(), ['a'])
  stop()
  assert.ok(
    rendered.every((rows) => rows?.includes('a')),
    'the change was hidden in between',
  )
})

test('a refusal rolls back only its own change', () => {
  const { set, on } = bench()
  const first = set('a', true)
  const second = set('b', true)
  first.rollBack()
  assert.deepEqual(on(), ['b'])
  second.confirm()
  assert.deepEqual(on(), ['b'])
})

test('two refused clicks on one switch leave no change', () => {
  const { set, on } = bench()
  const first = set('a', true)
  const second = set('a', false)
  first.rollBack()
  second.rollBack()
  assert.deepEqual(on(), [])
})

test('a stored change stays shown while another one is pending', async () => {
  const { set, on, fetched } = bench()
  const first = set('a', true)
  const second = set('b', true)
  first.confirm()
  await fetched()
  assert.deepEqual(on(), ['a', 'b'])
  second.rollBack()
  assert.deepEqual(on(), ['a'])
})

test('a refusal after a newer response shows that response', async () => {
  const { set, on, fetched } = bench()
  const shown = set('a', true)
  await fetched('b')
  assert.deepEqual(on(), ['a', 'b'])
  shown.rollBack()
  assert.deepEqual(on(), ['b'])
})

test("once all changes are settled the platform's data is shown", async () => {
  const { set, on, fetched } = bench()
  set('a', true).confirm()
  await fetched('b')
  assert.deepEqual(on(), ['b'])
})

test('a change applies to data that loads later', async () => {
  const { queries, set, on, fetched } = bench()
  queries.clear()
  const shown = set('a', true)
  assert.equal(on(), undefined)
  await fetched()
  assert.deepEqual(on(), ['a'])
  shown.confirm()
})

test('a change does not return after the cache is cleared for another user', () => {
  const { queries, set, on } = bench()
  const shown = set('a', true)
  queries.clear()
  shown.rollBack()
  assert.equal(on(), undefined)
})
