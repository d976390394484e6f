import { refreshTemplates } from '@roost/contracts/agents/templates'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { templateKeys } from './queries.ts'

/** Reloads all templates and reports those that failed. */
export function useRefresh() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: () => api.call(refreshTemplates, {}),
    onSuccess: ({ refreshed, failed }) => {
      const title = `${plural(refreshed, 'template')} refreshed.`
      if (failed.length === 0) return void toast({ title, tone: 'success' })
      const description = failed.map(({ id, error }) => `${id}: ${error}`).join('; ')
      toast({ title: `${title} ${failed.length} failed.`, description, tone: 'warning' })
    },
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: templateKeys.all }),
  })
}
