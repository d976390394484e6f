import type { Client } from '@roost/contracts/client'
import {
  type CreateRunView,
  createRunView,
  deleteRunView,
  listRunViews,
  updateRunView,
} from '@roost/contracts/runs/run-views'
import { queryOptions, useMutation } from '@tanstack/react-query'
import { describeFault } from '../../../lib/fault.ts'
import { useApp } from '../../../shell/app-context.ts'
import { toast } from '../../../ui/toast.tsx'

const viewsKey = ['run-views'] as const

/** Own views first, then those that others share. */
export const viewsQuery = (api: Client) =>
  queryOptions({ queryKey: viewsKey, queryFn: ({ signal }) => api.call(listRunViews, { signal }) })

/** The saving form shows its faults itself. */
export function useSaveView() {
  const { api, queries } = useApp()
  return useMutation({
    /** `id`: the view to change; null for a new one. */
    mutationFn: ({ id, fields }: { id: string | null; fields: CreateRunView }) =>
      id === null
        ? api.call(createRunView, { body: fields })
        : api.call(updateRunView, { params: { id }, body: fields }),
    onSettled: () => queries.invalidateQueries({ queryKey: viewsKey }),
  })
}

export function useDeleteView() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: (id: string) => api.call(deleteRunView, { params: { id } }),
    onError: (error) => toast({ title: describeFault(error).sentence, tone: 'danger' }),
    onSettled: () => queries.invalidateQueries({ queryKey: viewsKey }),
  })
}
