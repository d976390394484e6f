import type { EgressEntry } from '@roost/contracts/agents/egress'
import type { SealedText } from '../../foundation/vault/index.ts'

export type RulesTable = {
  id: string
  agent_id: string
  /** A host name, optionally with the prefix `*.`. */
  host: string
  /** 0 means 80 and 443. */
  port: number
  created_at: string
  /** User name. */
  created_by: string | null
}

export type CredentialsTable = {
  agent_id: string
  /** Name of the variable. */
  name: string
  /** JSON array of `host` or `host:port`. */
  hosts: string
  /** JSON array of `header`, `query`. */
  places: string
  /** Null: declared without a value yet. */
  value_sealed: SealedText | null
  source: 'owner' | 'template'
  updated_at: string
  last_used_at: string | null
}

export type LogTable = {
  id: string
  agent_id: string
  host: string
  port: number
  decision: EgressEntry['decision']
  reason: EgressEntry['reason']
  count: number
  first_at: string
  last_at: string
}

export type AuthorityTable = { id: number; certificate: string; key_sealed: SealedText; created_at: string }

export type EgressTables = {
  egress_rules: RulesTable
  egress_credentials: CredentialsTable
  egress_log: LogTable
  egress_authority: AuthorityTable
}
