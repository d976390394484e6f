import { join, resolve } from 'node:path'
import type { AgentsOptions } from '../agents/area-deps.ts'
import type { Config } from '../config.ts'
import type { Installed } from '../foundation/settings/index.ts'
import { type DefaultSource, releaseTagOf } from '../skills/sources/index.ts'

const root = resolve(import.meta.dirname, '../../..')

/** The fixed configuration of this installation. */
export function installedOf(config: Config): Installed {
  return {
    mail: config.mailUrl !== null,
    voip: config.voipEnabled,
    paidChat: config.x402FacilitatorUrl !== null,
    dispatchBreaker: config.dispatchBreakerEnabled,
    providerKeys: {
      anthropic: config.anthropicApiKey,
      google: config.geminiApiKey,
      openai: config.openaiApiKey,
      github: config.githubPat,
      voice: null,
    },
  }
}

/** `agentsHost`: the host of the internal listener for agents. */
export function agentsOptions(config: Config, agentsHost: () => string): AgentsOptions {
  return {
    internalPort: config.internalPort,
    tmpBytes: config.agentTmpBytes,
    sshBind: config.sshBind,
    containerPrefix: config.containerPrefix,
    containerRuntime: config.containerRuntime,
    sshPorts: config.sshPorts,
    lostNodeSeconds: config.lostNodeSeconds,
    evictionWaitSeconds: config.evictionWaitSeconds,
    sshHost: new URL(config.baseUrl).hostname,
    chatIdleSeconds: config.chatIdleSeconds,
    stallSeconds: config.stallSeconds,
    diskSeconds: config.diskSeconds,
    historyQuotas: { agent: config.historyAgentBytes, total: config.historyBytes },
    forkBasesBytes: config.forkBasesBytes,
    templatesFolder: resolve(root, 'server/templates'),
    templateContentFolder: join(config.dataDir, 'templates'),
    gitBaseUrl: config.gitBaseUrl,
    agentsGitUrl: () => `http://${agentsHost()}:${config.internalPort}/git`,
  }
}

/** `version`: of this build. The bundled source is always pinned to the release of the platform. */
export function defaultSkillSource(config: Config, version: string): DefaultSource {
  const { defaultSkillSource: url, defaultSkillSourceRef: ref } = config
  if (url === 'none') return null
  return { url, ref: url === 'bundled' || ref === null ? releaseTagOf(version) : ref }
}

/** Returns the base URLs of the model providers. */
export function providerBaseUrls(config: Config): Record<'anthropic' | 'google' | 'openai', string> {
  return { anthropic: config.anthropicBaseUrl, google: config.geminiBaseUrl, openai: config.openaiBaseUrl }
}
