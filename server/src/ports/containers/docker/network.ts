import { createServer } from 'node:net'
import type Docker from 'dockerode'
import type { NetworkInspectInfo } from 'dockerode'
import { type AgentsNetwork, ContainerError } from '../port.ts'
import type { Ask } from './connect.ts'

const trafficBetweenContainers = 'com.docker.network.bridge.enable_icc'

/** The bridge beside it, from which no packet goes further. */
export const closedNetwork = (name: string) => `${name}-closed`

/**
 * Makes the agents' bridge when absent and answers where on it the platform is reached. Traffic between
 * its containers is off where the engine `canSeparate` them: agents reach the internet and this host's
 * listeners on the gateway, not each other.
 */
export async function ensureAgentsNetwork(
  docker: Docker,
  ask: Ask,
  name: string,
  install: string,
  { canSeparate, isClosed }: { canSeparate: boolean; isClosed: boolean },
): Promise<AgentsNetwork> {
  if (isClosed && !canSeparate)
    throw new ContainerError('engine_fault', 'Podman does not keep agents of a closed network apart')
  const network = (await oldest(docker, ask, name)) ?? (await make(docker, ask, name, install, isClosed))
  if (isClosed && !network.Internal) {
    throw new ContainerError(
      'engine_fault',
      `network ${name} exists and has a way out; remove it, so that it is made anew`,
    )
  }
  if (canSeparate && network.Options?.[trafficBetweenContainers] !== 'false') {
    throw new ContainerError(
      'engine_fault',
      `network ${name} exists and lets its containers reach each other; remove it, so that it is made anew`,
    )
  }
  const gateway = (network.IPAM?.Config ?? []).map((pool) => pool.Gateway).find((address) => address)
  if (!gateway) throw new ContainerError('engine_fault', `network ${name} has no gateway address`)
  // Podman makes the bridge with its first container: there the address is right before it exists.
  // An engine inside a virtual machine (a desktop one) has its bridge there: containers then reach this
  // machine's loopback under a name that such engines provide.
  if (canSeparate && !(await isOwnAddress(gateway))) {
    // Closed on purpose: from a network without a way out that name leads nowhere.
    if (isClosed)
      throw new ContainerError(
        'engine_fault',
        'this engine runs in a virtual machine, and agents without another way out would not reach the platform',
      )
    return { hostAddress: { type: 'loopback' }, platformUrlHost: 'host.docker.internal' }
  }
  return { hostAddress: { type: 'tcp', address: gateway }, platformUrlHost: gateway }
}

async function make(
  docker: Docker,
  ask: Ask,
  name: string,
  install: string,
  isClosed: boolean,
): Promise<NetworkInspectInfo> {
  const made = await ask(`make network ${name}`, (abortSignal) =>
    docker.createNetwork({
      Name: name,
      Driver: 'bridge',
      CheckDuplicate: true,
      Internal: isClosed,
      Labels: { 'roost.install': install, 'roost.platform': 'network' },
      Options: { [trafficBetweenContainers]: 'false' },
      abortSignal,
    }),
  ).catch((error: unknown) => {
    if (error instanceof ContainerError && /already exists/i.test(error.message)) return null
    throw error
  })
  // The engine lets two makers through when they are quick enough, and two networks of one name break
  // every later start. The oldest wins; whoever made a younger one takes it away again.
  const winner = await oldest(docker, ask, name)
  if (!winner) throw new ContainerError('engine_fault', `network ${name} was made and is gone`)
  if (made && made.id !== winner.Id) {
    await ask(`remove duplicate network ${name}`, (abortSignal) => made.remove({ abortSignal }))
  }
  return winner
}

async function oldest(docker: Docker, ask: Ask, name: string): Promise<NetworkInspectInfo | null> {
  const filters = JSON.stringify({ name: [name] })
  const found = await ask('list networks', (abortSignal) => docker.listNetworks({ filters, abortSignal }))
  const exact = found.filter((network) => network.Name === name)
  exact.sort((a, b) => a.Created.localeCompare(b.Created) || a.Id.localeCompare(b.Id))
  return exact[0] ?? null
}

/**
 * Tried, not looked up: a bridge that no container is on yet has its address, and listeners can bind it,
 * but the operating system's list leaves it out until a cable is in, so to speak.
 */
function isOwnAddress(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(0, address, () => server.close(() => resolve(true)))
  })
}
