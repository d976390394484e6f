import type { Setting } from '@roost/contracts/foundation/settings'

/** `no_mail`: this platform has no mail server, whatever the switch says. */
export type EmailState = 'on' | 'off' | 'no_mail'

/**
 * Whether users can sign in by e-mail, and why not. `flag`: what the platform currently offers. An unset
 * switch follows the mail server.
 */
export function emailStateOf(flag: boolean, setting: Pick<Setting, 'value' | 'updated_at'>): EmailState {
  if (flag) return 'on'
  return setting.value === 'true' || setting.updated_at === null ? 'no_mail' : 'off'
}
