import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import { errorCatalogue } from '@roost/contracts/kit/errors'
import MiniSearch from 'minisearch'
import { searchOptions } from '../src/features/help/search-options.ts'
import { guidePages, searchIndex } from './guides.ts'

const docs = join(import.meta.dirname, '../../docs')
const stored = JSON.stringify(searchIndex(docs))
const index = MiniSearch.loadJSON(stored, searchOptions)
const first = (query: string) => String(index.search(query)[0]?.id)

test('the search finds the guide of a feature, also by a beginning and with a wrong letter', () => {
  for (const [query, path] of [
    ['webhook', '/help/operate/webhooks'],
    ['fan-out', '/help/how-to/tasks'],
    ['shared folders', '/help/how-to/folders'],
    ['templ', '/help/agents/template'],
    ['schedueles', '/help/operate/schedules'],
  ] as const)
    assert.ok(first(query).startsWith(path), `${query}: ${first(query)}`)
  assert.deepEqual(index.search('zzqqxx'), [])
})

test('the search finds the page of every error code', () => {
  for (const code of Object.keys(errorCatalogue)) {
    const found = index.search(code, { prefix: false, fuzzy: false }).map(({ id }) => id)
    assert.ok(found.includes(`/help/errors/${code}`), code)
  }
})

test('the index contains every page and stays small', () => {
  assert.ok(guidePages(docs).length > 100)
  for (const page of guidePages(docs))
    assert.ok(stored.includes(`"/help${page === 'README' ? '' : `/${page}`}`), page)
  const bytes = brotliCompressSync(stored).length
  assert.ok(bytes < 400_000, `${bytes} bytes`)
})

test('without the folder there are no pages, and the index is empty', () => {
  const absent = join(docs, 'no-such-folder')
  assert.deepEqual(guidePages(absent), [])
  assert.equal(searchIndex(absent).documentCount, 0)
})
