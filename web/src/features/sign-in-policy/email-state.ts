import type { Setting } from '@roost/contracts/foundation/settings'

/** `no_mail`: the platform has no mail server, so the switch has no effect. */
export type EmailState = 'on' | 'off' | 'no_mail'

/**
 * Whether users can sign in by e-mail, and the reason if not. `flag`: whether the platform offers it now. An
 * unset switch follows the mail server.
 */
export function emailStateOf(flag: boolean, setting: Pick<Setting, 'value' | 'updated_at'>): EmailState {
  if (flag) return 'on'
  return setting.value === 'true' || setting.updated_at === null ? 'no_mail' : 'off'
}
