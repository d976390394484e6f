import type { McpKey } from '@roost/contracts/identity/keys'

export type KeyState = 'active' | 'expired' | 'revoked'

export function stateOf(key: Pick<McpKey, 'is_active' | 'revoked_at'>): KeyState {
  if (key.revoked_at !== null) return 'revoked'
  return key.is_active ? 'active' : 'expired'
}

/** Every word must occur in one of the shown properties of a key. */
export function filterKeys(keys: readonly McpKey[], q: string | undefined): McpKey[] {
  const words = (q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  return keys.filter((key) => {
    const parts = [
      key.name,
      key.description,
      key.key_prefix,
      key.scope,
      key.username,
      key.user_email,
      key.agent_name,
    ]
    const text = parts.join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** `never`, a number of days from now, or `day` for a specific day. */
export type End = { ends: string; day: string }

/** When a key expires; null: never. A specific day is the last valid day, in the user's time zone. */
export function endOf({ ends, day }: End, now: number): string | null {
  if (ends === 'never') return null
  if (ends !== 'day') return new Date(now + Number(ends) * 86_400_000).toISOString()
  return new Date(`${day}T23:59:59`).toISOString()
}
