import type { Config } from '../config.ts'
import type { Installed } from '../foundation/settings/index.ts'

/** What this installation was given and what this version has; not changed while it runs. */
export function installedOf(config: Config): Installed {
  return {
    features: ['chat_sessions', 'two_factor', 'email_login'],
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
