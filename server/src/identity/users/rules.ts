import type { AllowListEntry } from '@roost/contracts/identity/allow-list'

/**
 * Decides whether the proven owner of `email` may sign in as `holder` (null: no account yet). An address that
 * an account registered without proof opens it only if an admin listed the address. Otherwise the owner of a
 * mistyped address could request access and take over the account.
 */
export function admits(
  entry: Pick<AllowListEntry, 'source'> | null,
  email: string,
  holder: { username: string } | null,
): boolean {
  if (!entry) return false
  if (!holder || holder.username === email) return true
  return entry.source === 'manual' || entry.source === 'cli'
}
