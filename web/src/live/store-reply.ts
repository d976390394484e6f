import type { QueryClient, QueryKey, Updater } from '@tanstack/react-query'

/**
 * Puts what the platform has answered to a write in the place of what is shown. What is on its way for the same
 * query was read before the write, and would take it off the page again.
 */
export async function storeReply<Data>(
  queries: QueryClient,
  queryKey: QueryKey,
  reply: Updater<Data | undefined, Data | undefined>,
): Promise<void> {
  await queries.cancelQueries({ queryKey, exact: true })
  queries.setQueryData<Data>(queryKey, reply)
}
