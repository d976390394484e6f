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

/** What changes with a binding: the repository, and what the agent is said to be made of. */
function useStale(name: string) {
  const { queries } = useApp()
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: gitKeys.ofAgent(name) }),
      queries.invalidateQueries({ queryKey: agentKeys.details(name) }),
    ])
}

/** Gives the agent a repository. Throws what a form shows. */
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

/** Binds the agent to another repository. Throws what a form shows. */
export function useBindToOwn(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  return async (body: CallInput<typeof bindToOwnRepository>['body']): Promise<void> => {
    const { message } = await api.call(bindToOwnRepository, { params: { name }, body })
    toast({ title: message, tone: 'success' })
    await stale()
  }
}

/** Gives the agent a token of its own, which the git host is asked about first. Throws what a form shows. */
export function useSetToken(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  return async (body: { pat: string }): Promise<void> => {
    await api.call(putAgentGitToken, { params: { name }, body }).catch((error: unknown) => {
      throw atField(error, { upstream_error: 'pat' })
    })
    toast({ title: 'The agent has a token of its own.', tone: 'success' })
    await stale()
  }
}

export function useForgetToken(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  return async (): Promise<void> => {
    try {
      await api.call(deleteAgentGitToken, { params: { name } })
      toast({ title: 'The agent’s own token is forgotten.', tone: 'success' })
    } finally {
      await stale()
    }
  }
}

/** Makes the workspace what the source branch is. What it is refused with is the caller's to show. */
export function useReset(name: string, onDone: () => void) {
  const { api } = useApp()
  return useMutation({
    mutationFn: () => api.call(resetToMain, { params: { name } }),
    onSuccess: ({ snapshot_dir, files_preserved }) => {
      toast({
        title: `The workspace is reset; ${plural(files_preserved.length, 'file')} stayed.`,
        description: snapshot_dir === null ? undefined : `What was changed is in ${snapshot_dir}.`,
        tone: 'success',
      })
      onDone()
    },
    onSettled: useStale(name),
  })
}
