import type { AllowListEntry } from '@roost/contracts/identity/allow-list'

/**
 * Whether whoever proves to own `email` may sign in, as `holder`: the account that the address signs in as by
 * now, null when there is none. An address that was registered for an account without proof, and is not its
 * user name, opens it only when an admin has put it on the list on purpose: whoever owns a mistyped address
 * could otherwise have it listed and take the account over.
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
