import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notifyManager, QueryClient, QueryObserver } from '@tanstack/react-query'
import { changeOf, createAtOnce } from './at-once.ts'

type Row = { id: string; on: boolean }
const key = ['rows']

function bench(rows: readonly string[] = ['a', 'b']) {
  const queries = new QueryClient({ defaultOptions: { queries: { gcTime: 0, retry: false } } })
  const all = (): Row[] => rows.map((id) => ({ id, on: false }))
  queries.setQueryData(key, all())
  const atOnce = createAtOnce(queries)
  const set = (id: string, on: boolean) =>
    atOnce.show([changeOf<Row[]>(key, (now) => now.map((row) => (row.id === id ? { ...row, on } : row)))])
  const on = () =>
    queries
      .getQueryData<Row[]>(key)
      ?.filter((row) => row.on)
      .map(({ id }) => id)
  /** The platform tells which rows are on. */
  const fetched = (...ids: string[]) =>
    queries.fetchQuery({
      queryKey: key,
      staleTime: 0,
      queryFn: async () => all().map((row) => ({ ...row, on: ids.includes(row.id) })),
    })
  return { queries, atOnce, set, on, fetched }
}

test('a change is shown at once, and taken back when it is refused', () => {
  const { set, on } = bench()
  const shown = set('a', true)
  assert.deepEqual(on(), ['a'])
  shown.takeBack()
  assert.deepEqual(on(), [])
})

test('an answer that was read before the change does not take it off the page', async () => {
  const { queries, set, on, fetched } = bench()
  const seen: (string[] | undefined)[] = []
  const observer = new QueryObserver<Row[]>(queries, { queryKey: key, enabled: false })
  // As a page draws: once for all that changes in one go.
  const stop = observer.subscribe(notifyManager.batchCalls(() => void seen.push(on())))
  const shown = set('a', true)
  await fetched()
  assert.deepEqual(on(), ['a'])
  shown.keep()
  assert.deepEqual(on(), ['a'])
  stop()
  assert.ok(
    seen.every((rows) => rows?.includes('a')),
    'it was off the page in between',
  )
})

test('a refusal takes back its own change alone', () => {
  const { set, on } = bench()
  const first = set('a', true)
  const second = set('b', true)
  first.takeBack()
  assert.deepEqual(on(), ['b'])
  second.keep()
  assert.deepEqual(on(), ['b'])
})

test('of two clicks on one switch that are both refused nothing is left', () => {
  const { set, on } = bench()
  const first = set('a', true)
  const second = set('a', false)
  first.takeBack()
  second.takeBack()
  assert.deepEqual(on(), [])
})

test('a stored change stays shown while another one is under way', async () => {
  const { set, on, fetched } = bench()
  const first = set('a', true)
  const second = set('b', true)
  first.keep()
  await fetched()
  assert.deepEqual(on(), ['a', 'b'])
  second.takeBack()
  assert.deepEqual(on(), ['a'])
})

test('a refusal after a newer answer shows the answer', async () => {
  const { set, on, fetched } = bench()
  const shown = set('a', true)
  await fetched('b')
  assert.deepEqual(on(), ['a', 'b'])
  shown.takeBack()
  assert.deepEqual(on(), ['b'])
})

test('once all are settled the platform has the last word', async () => {
  const { set, on, fetched } = bench()
  set('a', true).keep()
  await fetched('b')
  assert.deepEqual(on(), ['b'])
})

test('what is not there yet is changed when it comes', async () => {
  const { queries, set, on, fetched } = bench()
  queries.clear()
  const shown = set('a', true)
  assert.equal(on(), undefined)
  await fetched()
  assert.deepEqual(on(), ['a'])
  shown.keep()
})

test('nothing comes back into a cache that was emptied for somebody else', () => {
  const { queries, set, on } = bench()
  const shown = set('a', true)
  queries.clear()
  shown.takeBack()
  assert.equal(on(), undefined)
})
