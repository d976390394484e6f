import { putFolders, type SharedFolders } from '@roost/contracts/agents/folders'
import { startAgent, stopAgent } from '@roost/contracts/agents/lifecycle'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { partOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from '../agents/queries.ts'
import { folderKeys, foldersQuery } from './queries.ts'

type Change = Partial<Pick<SharedFolders, 'expose_enabled' | 'consume_enabled'>>

/** Stores a switch; shown at once and taken back when it is refused. */
export function useSharing(name: string) {
  const { api } = useApp()
  return useAtOnce({
    queryKey: folderKeys.all,
    save: (body: Change) => api.call(putFolders, { params: { name }, body }),
    shows: (body) => [partOf<SharedFolders>(foldersQuery(api, name).queryKey, body)],
    stale: [agentKeys.details(name)],
  })
}

/** Stops the agent and starts it: its container gets the folders of now. */
export function useRestart(name: string) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: async () => {
      await api.call(stopAgent, { params: { name } })
      return api.call(startAgent, { params: { name } })
    },
    onSuccess: () => void toast({ title: `Agent ${name} was restarted.`, tone: 'success' }),
    onError: complain,
    onSettled: () =>
      Promise.all(
        [folderKeys.all, agentKeys.list, agentKeys.details(name)].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  })
}

function complain(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
