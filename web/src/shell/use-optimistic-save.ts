import { hashKey, type QueryKey, useMutation } from '@tanstack/react-query'
import { describeFault } from '../lib/fault.ts'
import type { Change } from '../live/optimistic.ts'
import { toast } from '../ui/toast.tsx'
import { useApp } from './app-context.ts'

export type OptimisticSaveOptions<Input, Reply> = {
  /** The changed query. Requests for one key are sent in sequence, in the order of the clicks. */
  queryKey: QueryKey
  save(input: Input): Promise<Reply>
  shows(input: Input): readonly Change[]
  /** Prefixes of other queries to refetch afterwards. */
  stale?: readonly QueryKey[]
  onSuccess?(reply: Reply, input: Input): void
}

/**
 * Saves a change that is shown immediately, and rolls it back with a toast when the platform refuses. Then
 * refetches the affected queries.
 */
export function useOptimisticSave<Input, Reply>(options: OptimisticSaveOptions<Input, Reply>) {
  const { queries, optimistic } = useApp()
  const { queryKey, save, shows, stale = [], onSuccess } = options
  return useMutation({
    scope: { id: hashKey(queryKey) },
    mutationFn: save,
    onMutate: (input) => optimistic.show(shows(input)),
    onSuccess: (reply, input, shown) => {
      shown.confirm()
      onSuccess?.(reply, input)
    },
    onError: (error, _input, shown) => {
      shown?.rollBack()
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled() {
      // Not awaited, so that the next change of this key need not wait for the refetch.
      for (const key of [queryKey, ...stale]) void queries.invalidateQueries({ queryKey: key })
    },
  })
}
