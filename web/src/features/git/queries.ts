import {
  getGitConfig,
  getGitLastChange,
  getGitLog,
  getGitStatus,
  getGitSyncState,
} from '@roost/contracts/agents/git'
import { getAgentGitToken } from '@roost/contracts/agents/git-repository'
import { ApiError, type Client } from '@roost/contracts/client'
import { getGitToken } from '@roost/contracts/identity/git-token'
import { queryOptions } from '@tanstack/react-query'
import { containerEvents, ofAgent, staleOn } from '../../live/stale.ts'

export const gitKeys = {
  ofAgent: (name: string) => ['agent', name, 'git'] as const,
}

staleOn(['git_sync_changed', 'execution_finished', ...containerEvents], ofAgent(gitKeys.ofAgent))

/** Null: the agent has no repository. */
export const gitConfigQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...gitKeys.ofAgent(name), 'config'],
    queryFn: ({ signal }) =>
      api.call(getGitConfig, { params: { name }, signal }).catch((error: unknown) => {
        if (error instanceof ApiError && error.body?.error === 'git_not_configured') return null
        throw error
      }),
  })

/** The last known state, without a request to the agent. */
export const gitSyncStateQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...gitKeys.ofAgent(name), 'state'],
    queryFn: ({ signal }) => api.call(getGitSyncState, { params: { name }, signal }),
  })

/** The current state, read from the agent. */
export const gitStatusQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...gitKeys.ofAgent(name), 'status'],
    queryFn: ({ signal }) => api.call(getGitStatus, { params: { name }, signal }),
  })

/** Whose token is used; owner and admins only. */
export const gitTokenQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...gitKeys.ofAgent(name), 'token'],
    queryFn: ({ signal }) => api.call(getAgentGitToken, { params: { name }, signal }),
  })

/** Whether the user has an own token. */
export const ownGitTokenQuery = (api: Client) =>
  queryOptions({
    queryKey: ['me', 'git-token'],
    queryFn: ({ signal }) => api.call(getGitToken, { signal }),
  })

/** Read from the agent. */
export const gitLastChangeQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...gitKeys.ofAgent(name), 'last-change'],
    queryFn: ({ signal }) => api.call(getGitLastChange, { params: { name }, signal }),
  })

export const maxCommits = 50

export const gitLogQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...gitKeys.ofAgent(name), 'log'],
    queryFn: async ({ signal }) => {
      const query = { limit: String(maxCommits) }
      return (await api.call(getGitLog, { params: { name }, query, signal })).commits
    },
  })
