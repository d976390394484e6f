import type { QueryClient, QueryKey, Updater } from '@tanstack/react-query'

/**
 * Stores the reply to a write as the query's data. Cancels a pending fetch of the same query, which may be
 * older than the write.
 */
export async function storeReply<Data>(
  queries: QueryClient,
  queryKey: QueryKey,
  reply: Updater<Data | undefined, Data | undefined>,
): Promise<void> {
  await queries.cancelQueries({ queryKey, exact: true })
  queries.setQueryData<Data>(queryKey, reply)
}
