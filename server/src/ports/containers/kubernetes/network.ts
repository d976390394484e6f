import { isIP } from 'node:net'
import type { Clock } from '../../../kit/clock.ts'
import {
  type AgentsNetwork,
  type Closing,
  ContainerError,
  type FilterRules,
  type NetworkFilter,
} from '../port.ts'
import type { Api } from './api.ts'
import { isStatus } from './faults.ts'
import type { PodSettings } from './pod.ts'
import { networkPolicy, type PlatformPeer, type PolicyName } from './policies.ts'
import { type ProbeResult, probePolicies } from './probe.ts'
import type { SshSettings } from './ssh.ts'

export type NetworkSettings = {
  /** Host under which agents reach the platform; null for this process's own address toward the API server. */
  platformHost: string | null
  /** Labels of the platform's pods, for the network policies; null if the platform runs elsewhere. */
  platformPods: Readonly<Record<string, string>> | null
  /** Image for the probe; null without one, and then closed containers are refused. */
  probeImage: string | null
}

/** The agents' network policies, and whether the cluster enforces them. */
export type Network = {
  agents(): Promise<AgentsNetwork>
  /** Throws `engine_fault` unless a probe has shown that the cluster enforces policies. */
  closed(): Promise<AgentsNetwork>
  filter(rules: FilterRules): Promise<void>
  readonly filterState: NetworkFilter
  readonly closing: Closing
  /** The platform's address for containers that have no name server; null if its host is an address. */
  platformAlias(): Promise<{ ip: string; host: string } | null>
  /** Resolves when a running probe has ended. */
  close(): Promise<void>
}

export type NetworkDeps = {
  api: Api
  install: string
  clock: Clock
  settings: NetworkSettings & PodSettings & SshSettings
  /** Namespace of the platform's own pod; null outside of the cluster. */
  platformNamespace: string | null
  lookup(host: string): Promise<readonly string[]>
}

/** Policies are compared again this often, in case somebody changed them. */
const renewMs = 5 * 60_000
/** A failed probe is repeated at most this often. */
const probeAgainMs = 10 * 60_000

export function createNetwork(deps: NetworkDeps): Network {
  const { api, install, clock, settings, lookup } = deps
  let rules: FilterRules | null = null
  let applied: { content: string; at: number } | null = null
  let problem: string | null = null
  let probed: { result: ProbeResult; at: number } | null = null
  let probing: Promise<void> | null = null
  let queue: Promise<void> = Promise.resolve()

  async function platformHost(): Promise<string> {
    if (settings.platformHost !== null) return settings.platformHost
    if (api.ownAddress === null) await api.version()
    if (api.ownAddress !== null) return api.ownAddress
    throw new ContainerError('engine_fault', 'ROOST_KUBERNETES_PLATFORM_HOST is not set')
  }

  async function addressesOf(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host]
    // In the cluster the policies select the platform's pods, so the name need not be resolvable yet.
    return lookup(host).catch(() => [])
  }

  async function peers({ platformPorts, platformHosts }: FilterRules): Promise<PlatformPeer[]> {
    const { platformPods } = settings
    const isElsewhere = deps.platformNamespace !== null && deps.platformNamespace !== api.namespace
    const pods = platformPods && {
      labels: platformPods,
      namespace: isElsewhere ? deps.platformNamespace : null,
    }
    const own = await platformHost()
    const all = [...platformPorts.map((port) => ({ host: own, port })), ...platformHosts]
    return Promise.all(
      all.map(async ({ host, port }) => ({ pods, port, addresses: (await addressesOf(host)).toSorted() })),
    )
  }

  async function put(policy: ReturnType<typeof networkPolicy>): Promise<void> {
    const { name } = policy.metadata
    try {
      await api.replace('networkpolicies', name, policy)
    } catch (error) {
      if (!isStatus(error, 404)) throw error
      await api.create('networkpolicies', policy)
    }
  }

  /** One at a time, so that older rules never replace newer ones. */
  function apply(): Promise<void> {
    queue = queue.then(async () => {
      try {
        const platform = rules ? await peers(rules) : []
        const names: PolicyName[] = ['open', 'closed', 'probe']
        const policies = names.map((name) =>
          networkPolicy(name, install, {
            platform,
            opened: rules?.opened ?? [],
            opensSsh: settings.sshNodePorts,
          }),
        )
        const content = JSON.stringify(policies)
        const now = clock.now().getTime()
        if (applied?.content === content && now - applied.at < renewMs) return
        for (const policy of policies) await put(policy)
        applied = { content, at: now }
        problem = null
      } catch (error) {
        if (!(error instanceof ContainerError)) throw error
        // The policies stay as they are while the API does not answer.
        if (error.fault !== 'engine_down')
          problem = `The network policies cannot be written: ${sentenceOf(error)}`
      }
    })
    return queue
  }

  /** Does nothing before there is an image and the platform's port is known. A failed probe is repeated after 10 minutes. */
  async function probe(): Promise<void> {
    const { probeImage: image } = settings
    const port = rules?.platformPorts[0]
    if (image === null || port === undefined || applied === null) return
    const isFresh = probed && (probed.result.isEnforced || clock.now().getTime() - probed.at < probeAgainMs)
    if (isFresh) return
    probing ??= (async () => {
      const host = await platformHost()
      const address = (await addressesOf(host))[0] ?? host
      const result = await probePolicies({ ...{ api, install, clock, settings }, image }, { address, port })
      probed = { result, at: clock.now().getTime() }
    })()
      .catch((error: unknown) => {
        if (!(error instanceof ContainerError)) throw error
        const failure = `Whether network policies work is unknown, because the test failed: ${sentenceOf(error)}`
        probed = { result: { isEnforced: false, problem: failure }, at: clock.now().getTime() }
      })
      .finally(() => {
        probing = null
      })
    return probing
  }

  function currentProblem(): string | null {
    if (problem !== null) return problem
    if (settings.probeImage === null)
      return 'Whether network policies work is unknown: there is no image to test it with. Set ROOST_AGENT_IMAGE.'
    return probed ? probed.result.problem : 'Whether the cluster enforces network policies is not known yet.'
  }

  const agents = async (): Promise<AgentsNetwork> => ({
    hostAddress: { type: 'any' },
    platformUrlHost: await platformHost(),
  })

  return {
    agents,
    async closed() {
      if (applied === null) await apply()
      await probe()
      if (!probed?.result.isEnforced)
        throw new ContainerError('engine_fault', currentProblem() ?? 'network policies are not enforced')
      return agents()
    },
    async filter(next) {
      rules = next
      await apply()
      // The caller does not wait: a probe takes seconds, and its result is read later.
      void probe()
    },
    get filterState() {
      const why = currentProblem()
      return {
        isActive: why === null,
        problem: why && `Agents may reach private networks, metadata services and other pods. ${why}`,
      }
    },
    get closing() {
      const why = currentProblem()
      return {
        can: why === null,
        always: false,
        notes: why === null ? ['SSH access is unavailable while egress is enforced.'] : [why],
      }
    },
    async platformAlias() {
      const host = await platformHost()
      if (isIP(host) !== 0) return null
      const [ip] = await lookup(host).catch((cause: unknown) => {
        throw new ContainerError('engine_fault', `${host} has no address for closed containers`, { cause })
      })
      if (ip === undefined) throw new ContainerError('engine_fault', `${host} has no address`)
      return { ip, host }
    },
    async close() {
      await probing
      await queue
    },
  }
}

/** Some messages end with a full stop already. */
const sentenceOf = ({ message }: ContainerError) => (message.endsWith('.') ? message : `${message}.`)
