import { getTemplate, getTemplateEnv, listTemplates } from '@roost/contracts/agents/templates'
import { type Client, errorOf } from '@roost/contracts/client'
import { getTemplateRepositories } from '@roost/contracts/foundation/platform-settings'
import { queryOptions } from '@tanstack/react-query'

export const templateKeys = {
  all: ['templates'] as const,
  repositories: ['settings', 'templates'] as const,
}

export const templatesQuery = (api: Client) =>
  queryOptions({
    queryKey: templateKeys.all,
    queryFn: ({ signal }) => api.call(listTemplates, { signal }),
    staleTime: 60_000,
  })

export const templateQuery = (api: Client, id: string) =>
  queryOptions({
    queryKey: [...templateKeys.all, id, 'details'],
    queryFn: ({ signal }) => api.call(getTemplate, { params: { id }, signal }),
    staleTime: 60_000,
  })

/** A `.env` skeleton. */
export const templateEnvQuery = (api: Client, id: string) =>
  queryOptions({
    queryKey: [...templateKeys.all, id, 'env'],
    queryFn: async ({ signal }) => {
      const response = await api.open(getTemplateEnv, { params: { id }, signal })
      if (!response.ok) throw await errorOf(response)
      return response.text()
    },
    staleTime: 60_000,
  })

/** The template repositories configured by an admin. */
export const repositoriesQuery = (api: Client) =>
  queryOptions({
    queryKey: templateKeys.repositories,
    queryFn: async ({ signal }) => (await api.call(getTemplateRepositories, { signal })).repositories,
  })
