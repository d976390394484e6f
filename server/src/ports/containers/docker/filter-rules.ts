import { createHash } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { innerNetworks4, innerNetworks6 } from '../../../kit/addresses.ts'
import type { FilterRules } from '../port.ts'

/** As in the port, with resolved names. */
export type ResolvedRules = Omit<FilterRules, 'platformHosts'> & {
  platforms: readonly { address: string; port: number }[]
}

/** A bridge of the agents, and the platform's address on it. */
export type Bridge = { name: string; gateway: string; isClosed: boolean }

/** The table of an installation; its name is the only one that the platform ever changes. */
export const tableOf = (install: string) => `roost_${shortMark(install)}`

/** Tells installations on one engine apart. */
export const shortMark = (install: string) => createHash('sha256').update(install).digest('hex').slice(0, 12)

/** Replaces the installation's table in one transaction; deletes it if there are no bridges. */
export function filterScript(
  table: string,
  bridges: readonly Bridge[],
  { platformPorts, platforms, opened }: ResolvedRules,
  nameServers: readonly string[],
): string {
  // `add` makes `delete` succeed without a table.
  const empty = [`add table inet ${table}`, `delete table inet ${table}`]
  if (bridges.length === 0) return `${empty.join('\n')}\n`
  const names = (which: readonly Bridge[]) => `{ ${which.map(({ name }) => `"${name}"`).join(', ')} }`
  const closed = bridges.filter(({ isClosed }) => isClosed)
  const rules = [
    // Only packets that the agent's side started are judged; answers to others pass.
    'ct direction reply return',
    'ct state related meta l4proto { icmp, ipv6-icmp } return',
    'icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert } return',
    ...(platformPorts.length === 0 ? [] : bridges).map(
      ({ name, gateway }) =>
        `iifname "${name}" ${family(gateway)} daddr ${gateway} tcp dport { ${platformPorts.join(', ')} } return`,
    ),
    ...platforms.map(({ address, port }) => `${family(address)} daddr ${address} tcp dport ${port} return`),
    ...(closed.length > 0 ? [`iifname ${names(closed)} reject`] : []),
    // The engine forwards queries from within the container's network.
    ...nameServers.map(
      (address) => `${family(address)} daddr ${address} meta l4proto { tcp, udp } th dport 53 return`,
    ),
    ...opened.flatMap(({ address, prefix, port }) => {
      const to = `${family(address)} daddr ${address}/${prefix}`
      // A network opens the machines in it, not this one: its own addresses are opened one by one.
      const isWhole = prefix < (isIPv4(address) ? 32 : 128)
      const except = isWhole ? ' fib daddr type != local' : ''
      return port === null
        ? [`${to}${except} return`]
        : [`${to} meta l4proto { tcp, udp } th dport ${port}${except} return`]
    }),
    'fib daddr type { local, broadcast, multicast } reject',
    `ip daddr { ${innerNetworks4.join(', ')} } reject`,
    `ip6 daddr { ${innerNetworks6.join(', ')} } reject`,
  ]
  // Before the destination is translated, so that a published port counts as an address of this machine.
  return `${empty.join('\n')}
table inet ${table} {
  chain prerouting {
    type filter hook prerouting priority -110; policy accept;
    iifname ${names(bridges)} goto agents
  }
  chain agents {
    ${rules.join('\n    ')}
  }
}
`
}

const family = (address: string) => (isIPv4(address) ? 'ip' : 'ip6')
