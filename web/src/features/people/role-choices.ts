import type { Role } from '@roost/contracts/kit/access'

/** The roles in their order, each with what it may do. */
export const roleChoices: readonly { value: Role; label: string; hint: string }[] = [
  { value: 'user', label: 'User', hint: 'Uses agents that are shared with them' },
  { value: 'operator', label: 'Operator', hint: 'Like a user; also answers what agents ask' },
  { value: 'creator', label: 'Creator', hint: 'Like an operator; also creates agents and owns them' },
  { value: 'admin', label: 'Admin', hint: 'Everything: all agents, all people, all settings' },
]

export function roleLabel(role: Role): string {
  return roleChoices.find(({ value }) => value === role)?.label ?? role
}

export function roleHint(role: Role): string {
  return roleChoices.find(({ value }) => value === role)?.hint ?? ''
}

/** From the least to the most, for sorting. */
export function roleRank(role: Role): number {
  return roleChoices.findIndex(({ value }) => value === role)
}
