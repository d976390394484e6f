import type { ManagedUser } from '@roost/contracts/identity/people'

export type PeopleFilter = { q?: string | undefined; role?: string | undefined }

/** The display name: the name, else the user name. */
export function titleOf(person: Pick<ManagedUser, 'name' | 'username'>): string {
  return person.name?.trim() || person.username
}

/** The address, unless the title already shows it. */
export function furtherAddressOf(person: Pick<ManagedUser, 'name' | 'username' | 'email'>): string | null {
  const further = person.email ?? person.username
  return further === titleOf(person) ? null : further
}

/** Every word must match a property of the user. `suspended` is a filter besides the roles. */
export function filterPeople(people: readonly ManagedUser[], { q, role }: PeopleFilter): ManagedUser[] {
  const words = (q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  return people.filter((person) => {
    if (role === 'suspended' ? person.suspended_at === null : role && person.role !== role) return false
    const text = `${person.name ?? ''} ${person.username} ${person.email ?? ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** The addresses that belong to an account: user names and registered addresses in lower case. */
export function knownAddresses(people: readonly Pick<ManagedUser, 'username' | 'email'>[]): Set<string> {
  return new Set(
    people.flatMap(({ username, email }) => [username.toLowerCase(), email?.toLowerCase() ?? username]),
  )
}
