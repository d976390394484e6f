import type { Role } from '@roost/contracts/kit/access'

/** The roles in ascending order, with their permissions. */
export const roleChoices: readonly { value: Role; label: string; hint: string }[] = [
  { value: 'user', label: 'User', hint: 'Uses agents that are shared with them' },
  { value: 'operator', label: 'Operator', hint: 'Like a user; also answers questions of agents' },
  { value: 'creator', label: 'Creator', hint: 'Like an operator; also creates and owns agents' },
  { value: 'admin', label: 'Admin', hint: 'Full access: all agents, users and settings' },
]

export function roleLabel(role: Role): string {
  return roleChoices.find(({ value }) => value === role)?.label ?? role
}

export function roleHint(role: Role): string {
  return roleChoices.find(({ value }) => value === role)?.hint ?? ''
}

/** Sorts in ascending order. */
export function roleRank(role: Role): number {
  return roleChoices.findIndex(({ value }) => value === role)
}
