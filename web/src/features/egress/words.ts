import type { EgressEntry, EgressMode } from '@roost/contracts/agents/egress'

export const modeChoices: readonly { value: EgressMode; label: string; hint: string }[] = [
  {
    value: 'off',
    label: 'Off',
    hint: 'Allow everything without a record. Only requests with bound credentials pass through the platform.',
  },
  {
    value: 'learn',
    label: 'Learn',
    hint: 'Allow everything and record each destination.',
  },
  {
    value: 'enforce',
    label: 'Enforce',
    hint: 'Allow only the hosts of the allow list and refuse all others.',
  },
]

const reasons: Record<EgressEntry['reason'], string> = {
  learnt: 'allowed in learn mode',
  listed: 'on the allow list',
  credential: 'host of a bound credential',
  not_listed: 'not on the allow list',
  inner_address: 'private or loopback address',
  not_found: 'host name not found',
  malformed: 'invalid destination',
  other_host: 'requested host differs from the connection',
  unreachable: 'no response or invalid certificate',
}

export function reasonWords({ reason }: Pick<EgressEntry, 'reason'>): string {
  return reasons[reason]
}

/** Whether a rule would allow it. Private addresses are always refused. */
export function canBeAllowed({ reason, is_listed }: Pick<EgressEntry, 'reason' | 'is_listed'>): boolean {
  return !is_listed && (reason === 'learnt' || reason === 'not_listed')
}

/** The rule of one click: both web ports together, any other port alone. */
export function ruleFor({ host, port }: Pick<EgressEntry, 'host' | 'port'>): {
  host: string
  port: number | null
} {
  return { host, port: port === 80 || port === 443 ? null : port }
}

export function addressOf({ host, port }: { host: string; port: number | null }): string {
  return port === null ? host : `${host}:${port}`
}
