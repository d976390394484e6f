import {
  bindToOwnRepository,
  deleteAgentGitToken,
  type InitializeGit,
  initializeGit,
  putAgentGitToken,
  resetToMain,
} from '@roost/contracts/agents/git-repository'
import type { CallInput } from '@roost/contracts/client'
import { useMutation } from '@tanstack/react-query'
import type { z } from 'zod'
import { atField } from '../../lib/at-field.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from '../agents/queries.ts'
import { gitKeys } from './queries.ts'

/** Queries that depend on the binding: the repository and the agent's template. */
function useStale(name: string) {
  const { queries } = useApp()
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: gitKeys.ofAgent(name) }),
      queries.invalidateQueries({ queryKey: agentKeys.details(name) }),
    ])
}

/** Binds the agent to its first repository. Throws the error for the form. */
export function useInitialize(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  return async (body: z.output<typeof InitializeGit>): Promise<void> => {
    try {
      const { message } = await api.call(initializeGit, { params: { name }, body })
      toast({ title: message, tone: 'success' })
    } catch (error) {
      throw atField(error, { not_found: 'repo_name' })
    }
    await stale()
  }
}

/** Binds the agent to another repository. Throws the error for the form. */
export function useBindToOwn(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  return async (body: CallInput<typeof bindToOwnRepository>['body']): Promise<void> => {
    const { message } = await api.call(bindToOwnRepository, { params: { name }, body })
    toast({ title: message, tone: 'success' })
    await stale()
  }
}

/** Sets the agent's own token after the git host has verified it. Throws the error for the form. */
export function useSetToken(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  return async (body: { pat: string }): Promise<void> => {
    await api.call(putAgentGitToken, { params: { name }, body }).catch((error: unknown) => {
      throw atField(error, { upstream_error: 'pat' })
    })
    toast({ title: 'Agent token saved.', tone: 'success' })
    await stale()
  }
}

export function useForgetToken(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  return async (): Promise<void> => {
    try {
      await api.call(deleteAgentGitToken, { params: { name } })
      toast({ title: 'Agent token deleted.', tone: 'success' })
    } finally {
      await stale()
    }
  }
}

/** Resets the workspace to the source branch. The caller shows the error. */
export function useReset(name: string, onDone: () => void) {
  const { api } = useApp()
  return useMutation({
    mutationFn: () => api.call(resetToMain, { params: { name } }),
    onSuccess: ({ snapshot_dir, files_preserved }) => {
      toast({
        title: `Workspace reset. ${plural(files_preserved.length, 'file')} preserved.`,
        description: snapshot_dir === null ? undefined : `Changed files were moved to ${snapshot_dir}.`,
        tone: 'success',
      })
      onDone()
    },
    onSettled: useStale(name),
  })
}
