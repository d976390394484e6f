import { pullGit, putAutoSync, putGitFreeze, putPullSync, syncGit } from '@roost/contracts/agents/git'
import type { CallInput } from '@roost/contracts/client'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { gitConfigQuery, gitKeys } from './queries.ts'

export type SyncBody = NonNullable<CallInput<typeof syncGit>['body']>
export type PullBody = NonNullable<CallInput<typeof pullGit>['body']>

/** Commits and pushes. What it is refused with is the caller's to show. */
export function useSync(name: string) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: (body: SyncBody) => api.call(syncGit, { params: { name }, body }),
    onSuccess: ({ files_changed, branch }) =>
      void toast({
        title: files_changed === 0 ? 'Nothing had changed.' : `${plural(files_changed, 'file')} pushed.`,
        description: branch,
        tone: 'success',
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: gitKeys.ofAgent(name) }),
  })
}

/** Brings what the remote has into the workspace. */
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

/** Switches one of them; shown at once and taken back when the platform refuses. */
export function useGitSwitch(name: string) {
  const { api, queries } = useApp()
  const { queryKey } = gitConfigQuery(api, name)
  return useMutation({
    mutationFn: async ({ which, enabled }: { which: GitSwitch; enabled: boolean }) => {
      await api.call<(typeof switches)[GitSwitch]>(switches[which], { params: { name }, body: { enabled } })
    },
    onMutate: async ({ which, enabled }) => {
      await queries.cancelQueries({ queryKey })
      const before = queries.getQueryData(queryKey)
      if (before) queries.setQueryData(queryKey, { ...before, [which]: enabled })
      return before
    },
    onError: (error, _change, before) => {
      queries.setQueryData(queryKey, before)
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: gitKeys.ofAgent(name) }),
  })
}
