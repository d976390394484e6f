import type { Resources } from '@roost/contracts/agents/agent'
import { type RateLimits, rateRules } from '../foundation/rate-limits/index.ts'
import type { Settings } from '../foundation/settings/index.ts'
import type { GitTokens } from '../identity/git-tokens/index.ts'
import type { Secret } from '../kit/secret.ts'
import type { CredentialsDeps } from './credentials/index.ts'
import type { DiskDeps } from './disk/index.ts'
import type { EgressDeps } from './egress/index.ts'
import type { McpConnectorDeps } from './mcp-connector/index.ts'
import type { OwnKeyDeps } from './own-key/index.ts'
import type { SettingsDeps } from './settings/index.ts'
import type { AgentSshDeps } from './ssh-access/index.ts'

/** Platform settings that affect agents. */
export type AgentsPlatformPolicy = Pick<AgentSshDeps, 'sshEnabled' | 'limitSsh'> &
  Pick<McpConnectorDeps, 'mcpUrl' | 'limitKeys'> &
  Pick<OwnKeyDeps, 'limitVerify'> &
  Pick<CredentialsDeps, 'limitCredentials'> &
  Pick<SettingsDeps, 'parallelCeiling' | 'platformModel'> &
  Pick<DiskDeps, 'defaultDiskQuota'> &
  Pick<EgressDeps, 'openedNetworks' | 'putOpenedNetworks'> & {
    defaultResources(): Promise<Resources>
    agentQuota(): Promise<number>
    gitRepositories(): Promise<readonly string[]>
    /** The platform's token for the git host, or null. */
    platformGitToken(): Secret | null
    /** The person's own token, or null. */
    ownGitTokenOf(userId: string): Promise<Secret | null>
    /** The person's own token, else the platform's. */
    gitTokenOf(userId: string): Promise<Secret | null>
  }

export function agentsPlatformPolicy(from: {
  settings: Settings
  limits: Pick<RateLimits, 'use'>
  gitTokens: Pick<GitTokens, 'tokenOf'>
  mcpUrl(): string
}): AgentsPlatformPolicy {
  const { settings, limits, gitTokens, mcpUrl } = from
  return {
    sshEnabled: async () => settings.value('ssh_access_enabled'),
    limitSsh: (agentId) => limits.use(rateRules.sshAccess, agentId),
    parallelCeiling: async () => settings.ceiling().value,
    platformModel: async () => settings.value('platform_default_model').trim() || null,
    defaultResources: async () => settings.defaultResources(),
    defaultDiskQuota: () => settings.value('agent_default_disk_bytes'),
    openedNetworks: settings.openedNetworks,
    putOpenedNetworks: settings.putOpenedNetworks,
    agentQuota: async () => settings.value('max_agents_creator'),
    gitRepositories: async () => settings.templateRepositories(),
    platformGitToken: () => settings.providerKey('github'),
    ownGitTokenOf: gitTokens.tokenOf,
    gitTokenOf: async (userId) => (await gitTokens.tokenOf(userId)) ?? settings.providerKey('github'),
    mcpUrl,
    limitKeys: (userId) => limits.use(rateRules.keyCreation, userId),
    limitCredentials: (agentId) => limits.use(rateRules.credentials, agentId),
    limitVerify: (agentId) => limits.use(rateRules.keyVerify, agentId),
  }
}
