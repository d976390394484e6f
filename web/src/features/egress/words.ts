import type { EgressEntry, EgressMode } from '@roost/contracts/agents/egress'

export const modeChoices: readonly { value: EgressMode; label: string; hint: string }[] = [
  {
    value: 'off',
    label: 'Off',
    hint: 'It goes where it likes. Only credentials that the platform keeps go over it.',
  },
  {
    value: 'learn',
    label: 'Learn',
    hint: 'It goes where it likes, over the platform, which writes down where that is.',
  },
  {
    value: 'enforce',
    label: 'Enforce',
    hint: 'Only what is allowed below is let through; there is no other way out.',
  },
]

const reasons: Record<EgressEntry['reason'], string> = {
  learnt: 'nothing was forbidden then',
  listed: 'a rule allowed it',
  credential: 'a kept credential was used there',
  not_listed: 'no rule allowed it',
  inner_address: 'leads to this machine or a network around it',
  not_found: 'there is no such host',
  malformed: 'no host and port',
  other_host: 'asked for another host than it connected to',
  unreachable: 'does not answer, or its certificate is not good',
}

export function reasonWords({ reason }: Pick<EgressEntry, 'reason'>): string {
  return reasons[reason]
}

/** Whether a rule would let it through; an inner address stays closed whatever is allowed. */
export function canBeAllowed({ reason, is_listed }: Pick<EgressEntry, 'reason' | 'is_listed'>): boolean {
  return !is_listed && (reason === 'learnt' || reason === 'not_listed')
}

/** What one click allows: the usual ports of the web as such, any other one alone. */
export function ruleFor({ host, port }: Pick<EgressEntry, 'host' | 'port'>): {
  host: string
  port: number | null
} {
  return { host, port: port === 80 || port === 443 ? null : port }
}

export function addressOf({ host, port }: { host: string; port: number | null }): string {
  return port === null ? host : `${host}:${port}`
}
