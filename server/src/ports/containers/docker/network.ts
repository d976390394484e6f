import { createServer } from 'node:net'
import type Docker from 'dockerode'
import type { NetworkInspectInfo } from 'dockerode'
import { type AgentsNetwork, ContainerError } from '../port.ts'
import { type Ask, withoutQuery } from './connect.ts'
import { shortMark } from './filter-rules.ts'

const trafficBetweenContainers = 'com.docker.network.bridge.enable_icc'

/** A second bridge without a route out. */
export const closedNetwork = (name: string) => `${name}-closed`

/** The first installation on an engine has the plain name, others have a suffix. */
async function nameOfOwn(
  docker: Docker,
  ask: Ask,
  name: string,
  install: string,
): Promise<{ name: string; foreign: NetworkInspectInfo | null }> {
  const suffixed = `${name}-${shortMark(install)}`
  const [plain, own] = await Promise.all([oldest(docker, ask, name), oldest(docker, ask, suffixed)])
  const foreign = plain && plain.Labels?.['roost.install'] !== install ? plain : null
  // Agents are on the suffixed one even after the other installation is gone.
  return { name: foreign || own ? suffixed : name, foreign }
}

export function gatewayOf(network: NetworkInspectInfo): string {
  const gateway = (network.IPAM?.Config ?? []).map((pool) => pool.Gateway).find((address) => address)
  if (gateway) return gateway
  throw new ContainerError('engine_fault', `network ${network.Name} has no gateway address`)
}

export type FoundNetwork = {
  id: string
  name: string
  network: AgentsNetwork
  /** Another installation's network with the plain name. */
  foreign: NetworkInspectInfo | null
}

/**
 * Creates the agents' bridge if missing and returns the platform's address on it. `plain` is its name without the
 * installation's suffix. Traffic between its containers is off if the engine `canSeparate` them. Agents then reach
 * the internet and this host's listeners on the gateway, but not each other.
 */
export async function ensureAgentsNetwork(
  docker: Docker,
  ask: Ask,
  plain: string,
  install: string,
  options: { canSeparate: boolean; isClosed: boolean },
): Promise<FoundNetwork> {
  const { canSeparate, isClosed } = options
  if (isClosed && !canSeparate)
    throw new ContainerError('engine_fault', 'Podman does not keep agents of a closed network apart')
  const { name, foreign } = await nameOfOwn(docker, ask, plain, install)
  const existing = await oldest(docker, ask, name)
  const network = existing ?? (await createNetwork(docker, ask, name, install, isClosed))
  if (network.Labels?.['roost.install'] !== install) {
    if (name !== plain)
      throw new ContainerError('engine_fault', `network ${name} belongs to another installation; remove it`)
    // Another installation has just created it; the next attempt finds it and uses the suffix.
    return ensureAgentsNetwork(docker, ask, plain, install, options)
  }
  if (isClosed && !network.Internal) {
    throw new ContainerError(
      'engine_fault',
      `network ${name} exists and has outbound access; remove it, so that it is created again`,
    )
  }
  if (canSeparate && network.Options?.[trafficBetweenContainers] !== 'false') {
    throw new ContainerError(
      'engine_fault',
      `network ${name} exists and lets its containers reach each other; remove it, so that it is created again`,
    )
  }
  const gateway = gatewayOf(network)
  // Podman creates the bridge with its first container, so its address may not exist yet. An engine in a
  // virtual machine has its bridge there; such engines provide a name for this machine's loopback.
  if (canSeparate && !(await isOwnAddress(gateway))) {
    // Fail closed: from an internal network that name leads nowhere.
    if (isClosed)
      throw new ContainerError(
        'engine_fault',
        'this engine runs in a virtual machine, and agents in a closed network would not reach the platform',
      )
    const hostAddress = { type: 'loopback' as const }
    return {
      id: network.Id,
      name,
      foreign,
      network: { hostAddress, platformUrlHost: 'host.docker.internal' },
    }
  }
  const hostAddress = { type: 'tcp' as const, address: gateway }
  return { id: network.Id, name, foreign, network: { hostAddress, platformUrlHost: gateway } }
}

async function createNetwork(
  docker: Docker,
  ask: Ask,
  name: string,
  install: string,
  isClosed: boolean,
): Promise<NetworkInspectInfo> {
  const created = await ask(`make network ${name}`, (abortSignal) =>
    docker.createNetwork(
      withoutQuery(
        {
          Name: name,
          Driver: 'bridge',
          CheckDuplicate: true,
          Internal: isClosed,
          Labels: { 'roost.install': install, 'roost.platform': 'network' },
          Options: { [trafficBetweenContainers]: 'false' },
        },
        abortSignal,
      ),
    ),
  ).catch((error: unknown) => {
    if (error instanceof ContainerError && /already exists/i.test(error.message)) return null
    throw hasNoRange(error) ? noRange(name, error) : error
  })
  // The engine may create two networks of one name concurrently, which breaks later starts. The oldest one
  // wins; the creator of a younger one removes it.
  const selected = await oldest(docker, ask, name)
  if (!selected) throw new ContainerError('engine_fault', `network ${name} was created but is missing`)
  if (created && created.id !== selected.Id) {
    await ask(`remove duplicate network ${name}`, (abortSignal) => created.remove({ abortSignal }))
  }
  return selected
}

/** Docker's words before and since version 27. */
const hasNoRange = (error: unknown) =>
  error instanceof ContainerError &&
  /non-overlapping IPv4 address pool|predefined address pools have been fully subnetted/i.test(error.message)

const noRange = (name: string, cause: unknown) =>
  new ContainerError(
    'engine_fault',
    `the engine has no free address range for network ${name}; remove unused networks with "docker network prune", or add ranges to default-address-pools in the engine's daemon.json`,
    { cause },
  )

async function oldest(docker: Docker, ask: Ask, name: string): Promise<NetworkInspectInfo | null> {
  const filters = JSON.stringify({ name: [name] })
  const found = await ask('list networks', (abortSignal) => docker.listNetworks({ filters, abortSignal }))
  const exact = found.filter((network) => network.Name === name)
  exact.sort((a, b) => a.Created.localeCompare(b.Created) || a.Id.localeCompare(b.Id))
  return exact[0] ?? null
}

/** Tests by binding, because the system's list omits a bridge without containers. */
export function isOwnAddress(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(0, address, () => server.close(() => resolve(true)))
  })
}
