import { getAgentDefaultDisk } from '@roost/contracts/agents/disk'
import { getInnerNetworks } from '@roost/contracts/agents/inner-networks'
import type { Client } from '@roost/contracts/client'
import { getAgentQuotas, getRetention } from '@roost/contracts/foundation/platform-settings'
import {
  getAgentDefaultResources,
  getFeatureFlags,
  getMaxParallelTasksCeiling,
  getOpsConfig,
  getSetting,
  listProviderKeys,
} from '@roost/contracts/foundation/settings'
import { getVersion } from '@roost/contracts/operations/health'
import { getUsageSharing } from '@roost/contracts/operations/usage-sharing'
import { queryOptions } from '@tanstack/react-query'

export const settingKeys = {
  plain: (key: string) => ['settings', 'plain', key] as const,
  flags: ['settings', 'flags'] as const,
  providers: ['settings', 'providers'] as const,
  ceiling: ['settings', 'ceiling'] as const,
  resources: ['settings', 'resources'] as const,
  disk: ['settings', 'disk'] as const,
  innerNetworks: ['settings', 'inner-networks'] as const,
  ops: ['settings', 'ops'] as const,
  retention: ['settings', 'retention'] as const,
  quotas: ['settings', 'quotas'] as const,
  usageSharing: ['settings', 'usage-sharing'] as const,
}

/** A single setting. A known one that is not stored has its default. */
export const settingQuery = (api: Client, key: string) =>
  queryOptions({
    queryKey: settingKeys.plain(key),
    queryFn: ({ signal }) => api.call(getSetting, { params: { key }, signal }),
  })

export const flagsQuery = (api: Client) =>
  queryOptions({
    queryKey: settingKeys.flags,
    queryFn: ({ signal }) => api.call(getFeatureFlags, { signal }),
  })

export const providersQuery = (api: Client) =>
  queryOptions({
    queryKey: settingKeys.providers,
    queryFn: ({ signal }) => api.call(listProviderKeys, { signal }),
  })

export const ceilingQuery = (api: Client) =>
  queryOptions({
    queryKey: settingKeys.ceiling,
    queryFn: ({ signal }) => api.call(getMaxParallelTasksCeiling, { signal }),
  })

export const defaultResourcesQuery = (api: Client) =>
  queryOptions({
    queryKey: settingKeys.resources,
    queryFn: ({ signal }) => api.call(getAgentDefaultResources, { signal }),
  })

export const defaultDiskQuery = (api: Client) =>
  queryOptions({
    queryKey: settingKeys.disk,
    queryFn: ({ signal }) => api.call(getAgentDefaultDisk, { signal }),
  })

export const innerNetworksQuery = (api: Client) =>
  queryOptions({
    queryKey: settingKeys.innerNetworks,
    queryFn: ({ signal }) => api.call(getInnerNetworks, { signal }),
  })

export const opsConfigQuery = (api: Client) =>
  queryOptions({
    queryKey: settingKeys.ops,
    queryFn: ({ signal }) => api.call(getOpsConfig, { signal }),
  })

export const retentionQuery = (api: Client) =>
  queryOptions({
    queryKey: settingKeys.retention,
    queryFn: ({ signal }) => api.call(getRetention, { signal }),
  })

/** The running build, which changes only with a restart of the platform. */
export const versionQuery = (api: Client) =>
  queryOptions({
    queryKey: ['version'],
    queryFn: ({ signal }) => api.call(getVersion, { signal }),
    staleTime: 600_000,
  })

export const quotasQuery = (api: Client) =>
  queryOptions({
    queryKey: settingKeys.quotas,
    queryFn: ({ signal }) => api.call(getAgentQuotas, { signal }),
  })

export const usageSharingQuery = (api: Client) =>
  queryOptions({
    queryKey: settingKeys.usageSharing,
    queryFn: ({ signal }) => api.call(getUsageSharing, { signal }),
  })
