import type { KeyScope } from '@roost/contracts/kit/access'

export type KeyRow = {
  id: string
  user_id: string
  /** The agent that keys of scope `agent`, `system` and `connector` are bound to. */
  agent_id: string | null
  name: string
  description: string | null
  scope: KeyScope
  /** SHA-256 of the key, hex. */
  key_hash: string
  key_prefix: string
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  last_used_at: string | null
  usage_count: number
  /** The user's id in the user's default key, until that is revoked. Unique. */
  default_of: string | null
}

export type KeyTables = { mcp_keys: KeyRow }
