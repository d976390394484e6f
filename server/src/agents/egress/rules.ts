import type { EgressEntry, EgressMode } from '@roost/contracts/agents/egress'
import type { Secret } from '../../kit/secret.ts'

/** Where a program wants to go, in one spelling: lower case, no dot at the end, numbers as an address. */
export type Target = { host: string; port: number }

/** A credential that is bound to hosts, with its value. */
export type Bound = {
  name: string
  hosts: readonly Target[]
  places: readonly ('header' | 'query')[]
  placeholder: string
  value: Secret
}

export type Allowed = { host: string; port: number | null }

/** All that decides about an agent's way out. */
export type Policy = {
  mode: EgressMode
  rules: readonly Allowed[]
  bound: readonly Bound[]
}

export type Verdict = { decision: EgressEntry['decision']; reason: EgressEntry['reason']; bound: Bound[] }

/**
 * `host:port` of a CONNECT or the authority of an address. The parser of URLs gives odd spellings of an address
 * (`0x7f.1`, `2130706433`) their plain form, so that none is looked at as a name. Null for what is none.
 */
export function parseTarget(text: string, defaultPort: number | null = null): Target | null {
  if (text.length > 300 || !/^[^\s/?#@\\]+$/.test(text)) return null
  const port = /:(\d{1,5})$/.exec(text)?.[1] ?? (defaultPort === null ? undefined : String(defaultPort))
  const url = `http://${text}`
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535 || !URL.canParse(url)) return null
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return host === '' || host.length > 253 ? null : { host, port: Number(port) }
}

/** Whether a rule allows it. A rule without a port is for the web's own two. */
export function isListed(rules: readonly Allowed[], { host, port }: Target): boolean {
  return rules.some((rule) => {
    if (rule.port === null ? port !== 80 && port !== 443 : rule.port !== port) return false
    return rule.host.startsWith('*.') ? host.endsWith(rule.host.slice(1)) : rule.host === host
  })
}

export function boundTo(bound: readonly Bound[], { host, port }: Target): Bound[] {
  return bound.filter(({ hosts }) => hosts.some((each) => each.host === host && each.port === port))
}

/** A bound host is allowed without a rule: whoever bound it named it. */
export function judge({ mode, rules, bound }: Policy, target: Target): Verdict {
  const here = boundTo(bound, target)
  if (here.length > 0) return { decision: 'allowed', reason: 'credential', bound: here }
  if (isListed(rules, target)) return { decision: 'allowed', reason: 'listed', bound: [] }
  if (mode === 'enforce') return { decision: 'denied', reason: 'not_listed', bound: [] }
  return { decision: 'allowed', reason: 'learnt', bound: [] }
}

/** `host` or `host:port` as it is written down; 443 is the port of none. */
export function readHost(text: string): Target {
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(text) ?? []
  return { host: parseTarget(`${host}:443`)?.host ?? host, port: Number(port ?? 443) }
}

/** One spelling for each host, none twice. */
export function spellHosts(hosts: readonly string[]): string[] {
  const all = hosts.map(readHost).map(({ host, port }) => (port === 443 ? host : `${host}:${port}`))
  return [...new Set(all)]
}
