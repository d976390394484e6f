import { spawn } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { access, readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import type Docker from 'dockerode'
import type { NetworkInspectInfo } from 'dockerode'
import { ContainerError, type FilterRules, type NetworkFilter } from '../port.ts'
import type { Ask } from './connect.ts'
import { type Bridge, filterScript, type ResolvedRules, tableOf } from './filter-rules.ts'
import { gatewayOf, isOwnAddress } from './network.ts'

/** The host's packet filter, as far as it concerns the agents of this installation. */
export type PacketFilter = {
  readonly state: NetworkFilter
  apply(rules: FilterRules): Promise<void>
  /** Applies the last rules again, because a network is new; a no-op before the first rules. */
  reapply(): Promise<void>
}

const runMs = 10_000
/** Ordinary users often lack the first two in their own PATH. */
const programFolders = '/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin:/run/current-system/sw/bin'
const sharedNetwork =
  'their network also has running containers of another installation. Update that installation, and start its agents again.'
const strayAgents = 'some still use the network of another installation. Start these agents again.'
const notHere =
  'their network is not on this machine, or belongs to a rootless engine. Use a firewall where the engine runs.'
const withoutName = 'Podman does not name their bridge. Use Docker, or a firewall.'

export function createPacketFilter(deps: {
  docker: Docker
  ask: Ask
  install: string
  isPodman(): Promise<boolean>
}): PacketFilter {
  const { docker, ask, install } = deps
  let state: NetworkFilter = { isActive: false, problem: null }
  let last: FilterRules | null = null
  let queue: Promise<void> = Promise.resolve()

  /** One at a time, so that older rules never replace newer ones. */
  function apply(rules: FilterRules): Promise<void> {
    last = rules
    queue = queue.then(async () => {
      if (last !== rules) return
      state = await applied(rules)
    })
    return queue
  }

  async function applied(rules: FilterRules): Promise<NetworkFilter> {
    try {
      const networks = await ownNetworks()
      const problem = await obstacle(networks)
      if (problem !== null) {
        // Rules of an earlier state could cut off the other installation's agents.
        if (networks.length > 0) await runNft(filterScript(tableOf(install), [], none, [])).catch(() => {})
        return { isActive: false, problem: sentence(problem) }
      }
      const resolved = await resolvedRules(rules)
      await runNft(filterScript(tableOf(install), networks.map(bridgeOf), resolved, await nameServers()))
      if (networks.length > 0 && (await hasStrays(networks)))
        return { isActive: false, problem: sentence(strayAgents) }
      return { isActive: networks.length > 0, problem: null }
    } catch (error) {
      if (error instanceof NftError) return { isActive: false, problem: sentence(error.message) }
      // The rules stay as they are while the engine does not answer.
      if (error instanceof ContainerError) return state
      throw error
    }
  }

  async function obstacle(networks: readonly NetworkInspectInfo[]): Promise<string | null> {
    if (networks.length === 0) return null
    if (await deps.isPodman()) return withoutName
    for (const bridge of networks.map(bridgeOf)) {
      const isHere = await access(`/sys/class/net/${bridge.name}`).then(
        () => true,
        () => false,
      )
      if (!isHere || !(await isOwnAddress(bridge.gateway))) return notHere
    }
    // Only running ones: a stopped container that another installation left behind must not open the networks.
    const filters = JSON.stringify({ network: networks.map(({ Id }) => Id) })
    const attached = await ask('list running containers of the agents’ networks', (abortSignal) =>
      docker.listContainers({ filters, abortSignal }),
    )
    return attached.some(({ Labels }) => Labels['roost.install'] !== install) ? sharedNetwork : null
  }

  /** Earlier versions used one network for all installations. */
  async function hasStrays(networks: readonly NetworkInspectInfo[]): Promise<boolean> {
    const filters = JSON.stringify({ label: [`roost.install=${install}`] })
    const running = await ask('list running containers', (abortSignal) =>
      docker.listContainers({ filters, abortSignal }),
    )
    const names = networks.map(({ Name }) => Name)
    return running.some(
      ({ NetworkSettings }) => !names.some((name) => name in (NetworkSettings?.Networks ?? {})),
    )
  }

  function ownNetworks(): Promise<NetworkInspectInfo[]> {
    const filters = JSON.stringify({ label: [`roost.install=${install}`, 'roost.platform=network'] })
    return ask('list networks', (abortSignal) => docker.listNetworks({ filters, abortSignal }))
  }

  return {
    get state() {
      return state
    },
    apply,
    reapply: () => (last ? apply({ ...last }) : Promise.resolve()),
  }
}

const sentence = (problem: string) =>
  `Agents reach private networks, metadata services and this machine, because ${problem}`

function bridgeOf(network: NetworkInspectInfo): Bridge {
  const name = network.Options?.['com.docker.network.bridge.name'] ?? `br-${network.Id.slice(0, 12)}`
  return { name, gateway: gatewayOf(network), isClosed: network.Internal }
}

const none: ResolvedRules = { platformPorts: [], platforms: [], opened: [] }

/** A name that cannot be resolved opens nothing; the rules are applied again soon. */
async function resolvedRules({ platformHosts, ...rules }: FilterRules): Promise<ResolvedRules> {
  const found = platformHosts.map(async ({ host, port }) => {
    const all = isIP(host) ? [{ address: host }] : await lookup(host, { all: true }).catch(() => [])
    return all.map(({ address }) => ({ address, port }))
  })
  return { ...rules, platforms: (await Promise.all(found)).flat() }
}

/** The message completes `sentence`. */
class NftError extends Error {}

async function runNft(script: string): Promise<void> {
  const { code, stderr } = await new Promise<{ code: number | null; stderr: string }>((resolve, reject) => {
    const nft = spawn('nft', ['-f', '-'], {
      env: { PATH: programFolders, LC_ALL: 'C' },
      stdio: ['pipe', 'ignore', 'pipe'],
      timeout: runMs,
    })
    let stderr = ''
    nft.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(0, 2000)
    })
    nft.stdin.on('error', () => {})
    nft.once('error', reject)
    nft.once('close', (code) => resolve({ code, stderr }))
    nft.stdin.end(script)
  }).catch((cause: unknown) => {
    throw new NftError('nftables cannot be run. Install the package nftables.', { cause })
  })
  if (code === 0) return
  if (/not permitted|permission denied/i.test(stderr))
    throw new NftError(
      'the platform may not change the packet filter. Run it as root, or with the capability CAP_NET_ADMIN.',
    )
  const reason = stderr.split('\n')[0]?.trim() || 'no reason given'
  throw new NftError(
    `nftables refused the rules (${reason}). Update nftables and the kernel, or use a firewall.`,
  )
}

/** What the engine may forward queries to: the host's name servers, and those in its configuration. */
async function nameServers(): Promise<string[]> {
  const read = (path: string) => readFile(path, 'utf8').catch(() => '')
  const [own, stub, engine] = await Promise.all(
    ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf', '/etc/docker/daemon.json'].map(read),
  )
  return nameServersIn([own ?? '', stub ?? ''], engine ?? '')
}

export function nameServersIn(resolvConfs: readonly string[], daemonJson: string): string[] {
  const listed = resolvConfs.flatMap((text) =>
    [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, address]) => address ?? ''),
  )
  const all = [...listed, ...configuredServers(daemonJson)]
  // From a loopback address the engine forwards by itself; an address with a zone has no route from a container.
  return [...new Set(all)].filter((address) => isIP(address) && !/^127\.|^::1$|%/.test(address))
}

function configuredServers(daemonJson: string): string[] {
  try {
    const { dns }: { dns?: unknown } = JSON.parse(daemonJson || '{}')
    return Array.isArray(dns) ? dns.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}
