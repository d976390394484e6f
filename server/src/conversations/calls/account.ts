import type { Vault } from '../../foundation/vault/index.ts'
import { secret } from '../../kit/secret.ts'
import type { TelephonyAccount } from '../../ports/telephony/port.ts'

/** A row with an account whose token is sealed for its agent. */
type SealedAccount = { agent_id: string; account_sid: string; auth_token: string }

export function accountOf(
  vault: Pick<Vault, 'open'>,
  { agent_id, account_sid, auth_token }: SealedAccount,
): TelephonyAccount {
  return { accountSid: account_sid, authToken: secret(vault.open(auth_token, contextOf(agent_id))) }
}

export function sealToken(vault: Pick<Vault, 'seal'>, agentId: string, token: string): string {
  return vault.seal(token, contextOf(agentId))
}

function contextOf(agentId: string): string {
  return `call-account:${agentId}`
}
