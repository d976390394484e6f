import { hashKey, type QueryKey, useMutation } from '@tanstack/react-query'
import { describeFault } from '../lib/fault.ts'
import type { Change } from '../live/at-once.ts'
import { toast } from '../ui/toast.tsx'
import { useApp } from './app-context.ts'

export type AtOnceOptions<Input, Reply> = {
  /** What is changed: requests for one key are sent one after another, in the order of the clicks. */
  queryKey: QueryKey
  save(input: Input): Promise<Reply>
  shows(input: Input): readonly Change[]
  /** Prefixes of what is fetched anew afterwards, besides `queryKey`. */
  stale?: readonly QueryKey[]
  onSuccess?(reply: Reply, input: Input): void
}

/**
 * Stores a change that is shown at once and taken back when the platform refuses, which is told. Then what it
 * touches is fetched anew.
 */
export function useAtOnce<Input, Reply>(options: AtOnceOptions<Input, Reply>) {
  const { queries, atOnce } = useApp()
  const { queryKey, save, shows, stale = [], onSuccess } = options
  return useMutation({
    scope: { id: hashKey(queryKey) },
    mutationFn: save,
    onMutate: (input) => atOnce.show(shows(input)),
    onSuccess: (reply, input, shown) => {
      shown.keep()
      onSuccess?.(reply, input)
    },
    onError: (error, _input, shown) => {
      shown?.takeBack()
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled() {
      // Not waited for: the next change of this key is sent at once, however slow the answers are.
      for (const key of [queryKey, ...stale]) void queries.invalidateQueries({ queryKey: key })
    },
  })
}
