import { getIsolation } from '@roost/contracts/agents/isolation'
import {
  getAutonomy,
  getCapabilities,
  getCapacity,
  getInstructions,
  getMcpExposed,
  getModel,
  getOperatorResume,
  getReadOnly,
  getResources,
  getRuntime,
  getTimeout,
} from '@roost/contracts/agents/settings'
import type { Client } from '@roost/contracts/client'
import { getCircuitBreaker } from '@roost/contracts/runs/breaker'
import { queryOptions } from '@tanstack/react-query'
import { agentKeys } from '../agents/queries.ts'

/** Under the prefix that every change of an agent's settings invalidates. */
export const settingKey = (name: string, what: string) => [...agentKeys.settings(name), what] as const
type At = { params: { name: string }; signal: AbortSignal }

function setting<Value>(name: string, what: string, call: (at: At) => Promise<Value>) {
  return queryOptions({
    queryKey: settingKey(name, what),
    queryFn: ({ signal }) => call({ params: { name }, signal }),
  })
}

export const autonomyQuery = (api: Client, name: string) =>
  setting(name, 'autonomy', (at) => api.call(getAutonomy, at))
export const readOnlyQuery = (api: Client, name: string) =>
  setting(name, 'read-only', (at) => api.call(getReadOnly, at))
export const timeoutQuery = (api: Client, name: string) =>
  setting(name, 'timeout', (at) => api.call(getTimeout, at))
export const capacityQuery = (api: Client, name: string) =>
  setting(name, 'capacity', (at) => api.call(getCapacity, at))
export const resourcesQuery = (api: Client, name: string) =>
  setting(name, 'resources', (at) => api.call(getResources, at))
export const capabilitiesQuery = (api: Client, name: string) =>
  setting(name, 'capabilities', (at) => api.call(getCapabilities, at))
export const runtimeQuery = (api: Client, name: string) =>
  setting(name, 'runtime', (at) => api.call(getRuntime, at))
export const isolationQuery = (api: Client, name: string) =>
  setting(name, 'isolation', (at) => api.call(getIsolation, at))
export const modelQuery = (api: Client, name: string) =>
  setting(name, 'model', (at) => api.call(getModel, at))
export const instructionsQuery = (api: Client, name: string) =>
  setting(name, 'instructions', (at) => api.call(getInstructions, at))
export const operatorResumeQuery = (api: Client, name: string) =>
  setting(name, 'operator-resume', (at) => api.call(getOperatorResume, at))
export const mcpExposedQuery = (api: Client, name: string) =>
  setting(name, 'mcp-exposed', (at) => api.call(getMcpExposed, at))
export const breakerQuery = (api: Client, name: string) =>
  setting(name, 'breaker', (at) => api.call(getCircuitBreaker, at))
