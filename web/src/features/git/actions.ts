import {
  type getGitConfig,
  pullGit,
  putAutoSync,
  putGitFreeze,
  putPullSync,
  syncGit,
} from '@roost/contracts/agents/git'
import type { CallInput, CallReply } from '@roost/contracts/client'
import { useMutation } from '@tanstack/react-query'
import { plural } from '../../lib/format.ts'
import { partOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { gitConfigQuery, gitKeys } from './queries.ts'

export type SyncBody = NonNullable<CallInput<typeof syncGit>['body']>
export type PullBody = NonNullable<CallInput<typeof pullGit>['body']>

/** Commits and pushes. The caller shows the error. */
export function useSync(name: string) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: (body: SyncBody) => api.call(syncGit, { params: { name }, body }),
    onSuccess: ({ files_changed, branch }) =>
      void toast({
        title: files_changed === 0 ? 'No changes to push.' : `${plural(files_changed, 'file')} pushed.`,
        description: branch,
        tone: 'success',
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: gitKeys.ofAgent(name) }),
  })
}

/** Pulls from the remote into the workspace. */
export function usePull(name: string) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: (body: PullBody) => api.call(pullGit, { params: { name }, body }),
    onSuccess: ({ message }) => void toast({ title: message, tone: 'success' }),
    onSettled: () => queries.invalidateQueries({ queryKey: gitKeys.ofAgent(name) }),
  })
}

const switches = {
  auto_sync_enabled: putAutoSync,
  pull_sync_enabled: putPullSync,
  freeze_schedules_if_sync_failing: putGitFreeze,
} as const
export type GitSwitch = keyof typeof switches

/** Saves a switch optimistically. */
export function useGitSwitch(name: string) {
  const { api } = useApp()
  return useOptimisticSave({
    queryKey: gitKeys.ofAgent(name),
    save: async ({ which, enabled }: { which: GitSwitch; enabled: boolean }) => {
      await api.call<(typeof switches)[GitSwitch]>(switches[which], { params: { name }, body: { enabled } })
    },
    shows: ({ which, enabled }) => [
      partOf<CallReply<typeof getGitConfig>>(gitConfigQuery(api, name).queryKey, { [which]: enabled }),
    ],
  })
}
