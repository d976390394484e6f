import { putFolders, type SharedFolders } from '@roost/contracts/agents/folders'
import { startAgent, stopAgent } from '@roost/contracts/agents/lifecycle'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { partOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from '../agents/queries.ts'
import { folderKeys, foldersQuery } from './queries.ts'

type Change = Partial<Pick<SharedFolders, 'expose_enabled' | 'consume_enabled'>>

/** Saves a switch optimistically. */
export function useSharing(name: string) {
  const { api } = useApp()
  return useOptimisticSave({
    queryKey: folderKeys.all,
    save: (body: Change) => api.call(putFolders, { params: { name }, body }),
    shows: (body) => [partOf<SharedFolders>(foldersQuery(api, name).queryKey, body)],
    stale: [agentKeys.details(name)],
  })
}

/** Restarts the agent, so that its container gets the current folders. */
export function useRestart(name: string) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: async () => {
      await api.call(stopAgent, { params: { name } })
      return api.call(startAgent, { params: { name } })
    },
    onSuccess: () => void toast({ title: `Agent ${name} restarted.`, tone: 'success' }),
    onError: showFault,
    onSettled: () =>
      Promise.all(
        [folderKeys.all, agentKeys.list, agentKeys.details(name)].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  })
}

function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
