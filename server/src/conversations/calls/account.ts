import type { SealedColumn, SealedText, Vault } from '../../foundation/vault/index.ts'
import { secret } from '../../kit/secret.ts'
import type { TelephonyAccount } from '../../ports/telephony/port.ts'

/** A row with an account whose token is sealed for its agent. */
type SealedAccount = { agent_id: string; account_sid: string; auth_token: SealedText }

export function accountOf(
  vault: Pick<Vault, 'open'>,
  { agent_id, account_sid, auth_token }: SealedAccount,
): TelephonyAccount {
  return { accountSid: account_sid, authToken: secret(vault.open(auth_token, contextOf(agent_id))) }
}

export function sealToken(vault: Pick<Vault, 'seal'>, agentId: string, token: string): SealedText {
  return vault.seal(token, contextOf(agentId))
}

function contextOf(agentId: string): string {
  return `call-account:${agentId}`
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'call_bindings',
    column: 'auth_token',
    key: ['agent_id'],
    context: ({ agent_id = '' }) => contextOf(agent_id),
  },
  {
    table: 'calls',
    column: 'auth_token',
    key: ['id'],
    reads: ['agent_id'],
    context: ({ agent_id = '' }) => contextOf(agent_id),
  },
]
