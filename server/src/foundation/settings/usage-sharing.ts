import type { Values } from './values.ts'

export type UsageSharingSettings = {
  /** Off, and not asked about, until a person has decided. */
  state(): { enabled: boolean; consent_asked: boolean; dismissed: boolean }
  /** An answer: the question that was put away before is answered now. */
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
