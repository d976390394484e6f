import { getAvatar } from '@roost/contracts/agents/avatar'
import { getContextStats } from '@roost/contracts/agents/health'
import { getAgent, listAgents } from '@roost/contracts/agents/registry'
import { type Client, errorOf } from '@roost/contracts/client'
import { getExecutionStats, getFleetSlots } from '@roost/contracts/runs/fleet-executions'
import { queryOptions } from '@tanstack/react-query'
import { agentListEvents, ofAgent, runEvents, staleOn } from '../../live/stale.ts'

export const agentKeys = {
  all: ['agents'] as const,
  list: ['agents', 'list'] as const,
  figures: ['agents', 'figures'] as const,
  one: (name: string) => ['agent', name] as const,
  details: (name: string) => ['agent', name, 'details'] as const,
  settings: (name: string) => ['agent', name, 'settings'] as const,
}

staleOn(agentListEvents, agentKeys.all, ofAgent(agentKeys.details), ofAgent(agentKeys.settings))
staleOn(['agent_settings_changed'], agentKeys.list, ofAgent(agentKeys.details), ofAgent(agentKeys.settings))
staleOn(runEvents, agentKeys.figures)
staleOn(['agent_renamed'], agentKeys.all, ofAgent(agentKeys.one), ({ old_name: name }) =>
  typeof name === 'string' ? agentKeys.one(name) : null,
)

/** All agents that the user can access. */
export const agentsQuery = (api: Client) =>
  queryOptions({
    queryKey: agentKeys.list,
    queryFn: ({ signal }) => api.call(listAgents, { query: {}, signal }),
  })

export const agentQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: agentKeys.details(name),
    queryFn: ({ signal }) => api.call(getAgent, { params: { name }, signal }),
  })

/**
 * The picture that somebody set, as a data URL, because an image element cannot send the bearer token. Null for the
 * generated one: every list shows initials instead, and an agent has one colour everywhere.
 */
export const avatarQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...agentKeys.details(name), 'avatar'],
    queryFn: async ({ signal }) => {
      const response = await api.open(getAvatar, { params: { name }, signal })
      if (!response.ok) throw await errorOf(response)
      if (response.headers.get('content-type')?.startsWith('image/svg')) return null
      return dataUrlOf(await response.blob())
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

function dataUrlOf(blob: Blob): Promise<string> {
  const reader = new FileReader()
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
  })
}

/** Context usage and activity of all agents. */
export const contextStatsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...agentKeys.figures, 'context'],
    queryFn: ({ signal }) => api.call(getContextStats, { signal }),
  })

/** Runs of the last day by agent, and the current running and queued counts. */
export const runStatsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...agentKeys.figures, 'runs'],
    queryFn: ({ signal }) => api.call(getExecutionStats, { query: {}, signal }),
  })

/** Slots of each agent: total, used and queued runs. */
export const slotsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...agentKeys.figures, 'slots'],
    queryFn: ({ signal }) => api.call(getFleetSlots, { signal }),
  })
