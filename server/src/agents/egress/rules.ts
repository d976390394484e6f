import type { EgressEntry, EgressMode } from '@roost/contracts/agents/egress'
import type { Secret } from '../../kit/secret.ts'

/** A normalized destination: lower case, no trailing dot, IP addresses in canonical form. */
export type Target = { host: string; port: number }

/** A credential bound to hosts, with its value. */
export type Bound = {
  name: string
  hosts: readonly Target[]
  places: readonly ('header' | 'query')[]
  placeholder: string
  value: Secret
}

export type Allowed = { host: string; port: number | null }

/** Everything that determines an agent's outbound access. */
export type Policy = {
  mode: EgressMode
  rules: readonly Allowed[]
  bound: readonly Bound[]
}

export type Verdict = { decision: EgressEntry['decision']; reason: EgressEntry['reason']; bound: Bound[] }

/**
 * Parses `host:port` of a CONNECT request or a URL authority. The URL parser normalizes odd spellings of
 * addresses (`0x7f.1`, `2130706433`), so none is treated as a name. Null if invalid.
 */
export function parseTarget(text: string, defaultPort: number | null = null): Target | null {
  if (text.length > 300 || !/^[^\s/?#@\\]+$/.test(text)) return null
  const port = /:(\d{1,5})$/.exec(text)?.[1] ?? (defaultPort === null ? undefined : String(defaultPort))
  const url = `http://${text}`
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535 || !URL.canParse(url)) return null
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return host === '' || host.length > 253 ? null : { host, port: Number(port) }
}

/** Whether a rule allows the target. A rule without a port covers 80 and 443. */
export function isListed(rules: readonly Allowed[], { host, port }: Target): boolean {
  return rules.some((rule) => {
    if (rule.port === null ? port !== 80 && port !== 443 : rule.port !== port) return false
    return rule.host.startsWith('*.') ? host.endsWith(rule.host.slice(1)) : rule.host === host
  })
}

export function boundTo(bound: readonly Bound[], { host, port }: Target): Bound[] {
  return bound.filter(({ hosts }) => hosts.some((each) => each.host === host && each.port === port))
}

/** A bound host needs no rule: binding a credential allows it. */
export function judge({ mode, rules, bound }: Policy, target: Target): Verdict {
  const matching = boundTo(bound, target)
  if (matching.length > 0) return { decision: 'allowed', reason: 'credential', bound: matching }
  if (isListed(rules, target)) return { decision: 'allowed', reason: 'listed', bound: [] }
  if (mode === 'enforce') return { decision: 'denied', reason: 'not_listed', bound: [] }
  return { decision: 'allowed', reason: 'learnt', bound: [] }
}

/** Reads a stored `host` or `host:port`; the default port is 443. */
export function readHost(text: string): Target {
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(text) ?? []
  return { host: parseTarget(`${host}:443`)?.host ?? host, port: Number(port ?? 443) }
}

/** Normalizes hosts and removes duplicates. */
export function normalizeHosts(hosts: readonly string[]): string[] {
  const all = hosts.map(readHost).map(({ host, port }) => (port === 443 ? host : `${host}:${port}`))
  return [...new Set(all)]
}
