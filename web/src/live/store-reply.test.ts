import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryClient } from '@tanstack/react-query'
import { storeReply } from './store-reply.ts'

test('an older response does not overwrite the reply to a write', async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { gcTime: 0, retry: false } } })
  const queryKey = ['setting']
  queries.setQueryData(queryKey, 'before')
  const read = Promise.withResolvers<string>()
  const fetching = queries.fetchQuery({ queryKey, staleTime: 0, queryFn: () => read.promise })
  await storeReply(queries, queryKey, 'after')
  read.resolve('before')
  await fetching.catch(() => {})
  assert.equal(queries.getQueryData(queryKey), 'after')
})
