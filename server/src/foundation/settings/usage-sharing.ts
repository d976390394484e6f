import type { Values } from './values.ts'

export type UsageSharingSettings = {
  /** Off until a person decides. */
  state(): { enabled: boolean; consent_asked: boolean; dismissed: boolean }
  /** Stores the decision. It overrides an earlier dismissal. */
  put(enabled: boolean): Promise<void>
  dismiss(): Promise<void>
}

export function createUsageSharingSettings(values: Values): UsageSharingSettings {
  return {
    state() {
      const answer = values.row('usage_sharing_enabled')?.value
      const dismissed = answer === undefined && values.row('usage_sharing_dismissed')?.value === 'true'
      return { enabled: answer === 'true', consent_asked: answer !== undefined || dismissed, dismissed }
    },
    put: (enabled) => values.write({ usage_sharing_enabled: String(enabled) }),
    dismiss: () => values.write({ usage_sharing_dismissed: 'true' }),
  }
}
