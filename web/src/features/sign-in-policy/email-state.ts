import type { Setting } from '@roost/contracts/foundation/settings'

/** `no_mail`: this installation sends no mail, whatever the switch says. */
export type EmailState = 'on' | 'off' | 'no_mail'

/**
 * Whether people may sign in by e-mail, and why not. `flag`: what the platform offers at present. A switch that
 * nobody has touched follows the mail, so it stands on off where no mail is set up.
 */
export function emailStateOf(flag: boolean, setting: Pick<Setting, 'value' | 'updated_at'>): EmailState {
  if (flag) return 'on'
  return setting.value === 'true' || setting.updated_at === null ? 'no_mail' : 'off'
}
