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
  /** Networks closed to agents besides the inner ones, in CIDR notation. Admins may open parts of them. */
  closedNetworks: readonly string[]
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

type Policy = ReturnType<typeof networkPolicy>

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
  const resolved = new Map<string, readonly string[]>()

  async function platformHost(): Promise<string> {
    if (settings.platformHost !== null) return settings.platformHost
    if (api.ownAddress === null) await api.version()
    if (api.ownAddress !== null) return api.ownAddress
    throw new ContainerError('engine_fault', 'ROOST_KUBERNETES_PLATFORM_HOST is not set')
  }

  /** Returns the addresses of the last successful look-up if this one fails; empty if none has succeeded. */
  async function addressesOf(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host]
    const found = await lookup(host).catch(() => [])
    if (found.length > 0) resolved.set(host, found)
    return resolved.get(host) ?? []
  }

  /**
   * `unresolved`: the platform's host if policies would cut agents off from the platform, because no name has an address.
   * Further hosts may have none: policies also select API pods by their labels, and a replica may have been removed.
   */
  async function peers({ platformPorts, platformHosts }: FilterRules) {
    const { platformPods } = settings
    const isElsewhere = deps.platformNamespace !== null && deps.platformNamespace !== api.namespace
    const pods = platformPods && {
      labels: platformPods,
      namespace: isElsewhere ? deps.platformNamespace : null,
    }
    const own = await platformHost()
    const all = [...platformPorts.map((port) => ({ host: own, port })), ...platformHosts]
    const platform = await Promise.all(
      all.map(
        async ({ host, port }): Promise<PlatformPeer> => ({
          ...{ pods, port, addresses: (await addressesOf(host)).toSorted() },
        }),
      ),
    )
    const isMissing = (_: unknown, at: number) => platform[at]?.addresses.length === 0
    const isCutOff =
      all.some(({ host }, at) => host === own && isMissing(host, at)) ||
      (pods === null && all.length > 0 && all.every(isMissing))
    return { platform, unresolved: isCutOff ? own : null }
  }

  async function put(policy: Policy): Promise<void> {
    const replace = () => api.replace('networkpolicies', policy.metadata.name, policy)
    try {
      await replace()
    } catch (error) {
      if (!isStatus(error, 404)) throw error
      // Another API process may create it at the same time.
      if (!(await createMissing(policy))) await replace()
    }
  }

  /** Returns false if the policy exists. */
  async function createMissing(policy: Policy): Promise<boolean> {
    return api.create('networkpolicies', policy).then(
      () => true,
      (error: unknown) => {
        if (isStatus(error, 409)) return false
        throw error
      },
    )
  }

  /** One at a time, so that older rules never replace newer ones. */
  function apply(): Promise<void> {
    queue = queue.then(async () => {
      // Without rules the platform's addresses are unknown, and policies would cut agents off from it.
      if (rules === null) return
      const { opened } = rules
      try {
        const { platform, unresolved } = await peers(rules)
        const names: PolicyName[] = ['open', 'closed', 'probe']
        const policies = names.map((name) =>
          networkPolicy(name, install, {
            platform,
            opened,
            closed: settings.closedNetworks,
            opensSsh: settings.sshNodePorts,
          }),
        )
        if (unresolved !== null) {
          // Those that select the platform's pods permit it without addresses too. Existing ones may have them.
          if (settings.platformPods) for (const policy of policies) await createMissing(policy)
          throw new ContainerError(
            'engine_fault',
            `the name service has no address of the platform's host ${unresolved}`,
          )
        }
        const content = JSON.stringify(policies)
        const now = clock.now().getTime()
        if (applied?.content !== content || now - applied.at >= renewMs) {
          for (const policy of policies) await put(policy)
          applied = { content, at: now }
        }
        problem = null
      } catch (error) {
        if (!(error instanceof ContainerError)) throw error
        // Perhaps only some were written, so the next attempt writes all.
        if (applied) applied.at = Number.NEGATIVE_INFINITY
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
      const [ip] = await addressesOf(host)
      if (ip === undefined)
        throw new ContainerError('engine_fault', `${host} has no address for closed containers`)
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
