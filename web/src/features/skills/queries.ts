import type { Client } from '@roost/contracts/client'
import { listAgentSkills, listSkillAssignments } from '@roost/contracts/skills/assignments'
import {
  getLibrarySkill,
  getSkillLibraryStatus,
  getSkillsLibrarySettings,
  listSkillLibrary,
} from '@roost/contracts/skills/library'
import { listSkillSources } from '@roost/contracts/skills/sources'
import { queryOptions } from '@tanstack/react-query'
import { staleOn } from '../../live/stale.ts'

/** All keys share a prefix, because a library sync may change each of them. */
export const skillKeys = {
  all: ['skills'] as const,
  ofAgent: (name: string) => ['skills', 'of', name] as const,
}

staleOn(['skills_*'], skillKeys.all)

export const libraryQuery = (api: Client) =>
  queryOptions({
    queryKey: [...skillKeys.all, 'library'],
    queryFn: ({ signal }) => api.call(listSkillLibrary, { signal }),
  })

export const skillQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...skillKeys.all, 'one', name],
    queryFn: ({ signal }) => api.call(getLibrarySkill, { params: { name }, signal }),
  })

export const libraryStatusQuery = (api: Client) =>
  queryOptions({
    queryKey: [...skillKeys.all, 'status'],
    queryFn: ({ signal }) => api.call(getSkillLibraryStatus, { signal }),
  })

/** In the order in which names are resolved; admins only. */
export const sourcesQuery = (api: Client) =>
  queryOptions({
    queryKey: [...skillKeys.all, 'sources'],
    queryFn: async ({ signal }) => (await api.call(listSkillSources, { signal })).sources,
  })

export const assignmentsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...skillKeys.all, 'assignments'],
    queryFn: ({ signal }) => api.call(listSkillAssignments, { signal }),
  })

export const agentSkillsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: skillKeys.ofAgent(name),
    queryFn: ({ signal }) => api.call(listAgentSkills, { params: { name }, signal }),
  })

export const syncSettingsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...skillKeys.all, 'settings'],
    queryFn: ({ signal }) => api.call(getSkillsLibrarySettings, { signal }),
  })
