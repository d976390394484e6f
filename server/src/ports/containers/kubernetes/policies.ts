import { createHash } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { innerNetworks4, innerNetworks6 } from '../../../kit/addresses.ts'
import type { OpenedNetwork } from '../port.ts'
import { installLabel, networkLabel, ownLabels } from './record.ts'
import { sshPort } from './ssh.ts'

/** A process of the platform: the pods that it runs in, and addresses under which agents reach it. */
export type PlatformPeer = {
  /** Null if it does not run in the cluster. */
  pods: { labels: Readonly<Record<string, string>>; namespace: string | null } | null
  addresses: readonly string[]
  port: number
}

/** Selected by the label `roost.network` of a pod. `probe` denies everything, to see whether that has an effect. */
export type PolicyName = 'open' | 'closed' | 'probe'

export function policyName(install: string, name: PolicyName): string {
  return `roost-${createHash('sha256').update(install).digest('hex').slice(0, 12)}-${name}`
}

/** Of the cluster's name service: its pods in almost every distribution, and its usual address on a node. */
const nameServers = [
  { namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } },
  { ipBlock: { cidr: '169.254.20.10/32' } },
]

/** IPv4-mapped addresses never appear on a network, and the API refuses them inside `::/0`. */
const exceptions6 = innerNetworks6.filter((network) => network !== '::ffff:0:0/96')

/** Denies all incoming connections but SSH, if it is opened, so that agents cannot reach each other. */
export function networkPolicy(
  name: PolicyName,
  install: string,
  {
    platform,
    opened,
    closed = [],
    opensSsh = false,
  }: {
    platform: readonly PlatformPeer[]
    opened: readonly OpenedNetwork[]
    /** Networks that the operator closes besides the inner ones, in CIDR notation. */
    closed?: readonly string[]
    opensSsh?: boolean
  },
) {
  const toPlatform = name === 'probe' ? [] : platform.flatMap(platformRule)
  const egress =
    name === 'open'
      ? [
          ...toPlatform,
          { to: nameServers, ports: bothProtocols(53) },
          ...opened.map(openedRule),
          internet(closed),
        ]
      : toPlatform
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: policyName(install, name), labels: ownLabels(install) },
    spec: {
      podSelector: { matchLabels: { [installLabel]: install, [networkLabel]: name } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: name === 'open' && opensSsh ? [{ ports: [{ protocol: 'TCP', port: sshPort }] }] : [],
      egress,
    },
  }
}

function platformRule({ pods, addresses, port }: PlatformPeer) {
  const namespaceSelector = pods?.namespace
    ? { matchLabels: { 'kubernetes.io/metadata.name': pods.namespace } }
    : null
  const to = [
    ...(pods
      ? [
          {
            podSelector: { matchLabels: { ...pods.labels } },
            ...(namespaceSelector && { namespaceSelector }),
          },
        ]
      : []),
    ...addresses.map((address) => ({ ipBlock: { cidr: wholeAddress(address) } })),
  ]
  // Without a peer the rule would allow every destination.
  return to.length === 0 ? [] : [{ to, ports: [{ protocol: 'TCP', port }] }]
}

function openedRule({ address, prefix, port }: OpenedNetwork) {
  return {
    to: [{ ipBlock: { cidr: `${address}/${prefix}` } }],
    ...(port !== null && { ports: bothProtocols(port) }),
  }
}

function internet(closed: readonly string[]) {
  const [closed6, closed4] = [closed.filter(isNetwork6), closed.filter((network) => !isNetwork6(network))]
  return {
    to: [
      { ipBlock: { cidr: '0.0.0.0/0', except: [...new Set([...innerNetworks4, ...closed4])] } },
      { ipBlock: { cidr: '::/0', except: [...new Set([...exceptions6, ...closed6])] } },
    ],
  }
}

const isNetwork6 = (network: string) => network.includes(':')

const bothProtocols = (port: number) => ['TCP', 'UDP'].map((protocol) => ({ protocol, port }))

const wholeAddress = (address: string) => `${address}/${isIPv4(address) ? 32 : 128}`
