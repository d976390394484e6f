import { randomUUID } from 'node:crypto'
import { lookup as systemLookup } from 'node:dns/promises'
import { type Clock, systemClock } from '../../../kit/clock.ts'
import { ContainerError, type ContainerSpec, type Containers, requireRuntime } from '../port.ts'
import { createApi } from './api.ts'
import { createCluster } from './cluster.ts'
import { followEvents } from './events.ts'
import { isStatus } from './faults.ts'
import type { Connection } from './kubeconfig.ts'
import { createNetwork, type NetworkSettings } from './network.ts'
import type { Entry, Pod } from './objects.ts'
import type { PodSettings } from './pod.ts'
import { createProtection } from './protection.ts'
import { type ContainerRecord, idLabel, installLabel, kindLabel, readRecord, secretFor } from './record.ts'
import { createRunLogs } from './run-log.ts'
import { createRuns } from './runs.ts'
import { createSshServices, type SshSettings } from './ssh.ts'
import { containerState, withLost } from './state.ts'
import { createVolumes, type VolumeSettings } from './volumes.ts'

export type KubernetesSettings = PodSettings & VolumeSettings & NetworkSettings & SshSettings

export type KubernetesOptions = {
  /** Value of the label `roost.install`; objects without it are never changed. */
  install: string
  /** Null for the namespace of the connection, otherwise `default`. */
  namespace: string | null
  settings: KubernetesSettings
  clock?: Clock
  /** How long `start` waits until the container runs. */
  startSeconds?: number
  timeoutMs?: number
  lookup?(host: string): Promise<readonly string[]>
}

/**
 * Containers of a Kubernetes cluster. A container is a Secret with its description; while it should run it also has a
 * Pod. Reads are one or two requests for any number of containers, and nothing is polled.
 */
export function createKubernetesContainers(connection: Connection, options: KubernetesOptions): Containers {
  const { install, settings } = options
  if (!/^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/.test(install))
    throw new Error(`the installation's id ${install} is not a valid label value of Kubernetes`)
  const clock = options.clock ?? systemClock
  const namespace = options.namespace ?? connection.namespace ?? 'default'
  const api = createApi(connection, { namespace, clock, timeoutMs: options.timeoutMs })
  const cluster = createCluster(api, clock)
  const network = createNetwork({
    ...{ api, install, clock, settings },
    platformNamespace: connection.isInCluster ? connection.namespace : null,
    lookup: options.lookup ?? lookup,
  })
  const logs = createRunLogs({ api, install, clock })
  const volumes = createVolumes({ api, install, clock, settings })
  const ssh = createSshServices({ api, install, settings })
  const runs = createRuns({
    ...{ api, install, clock, settings, logs },
    startSeconds: options.startSeconds ?? 60,
    ...{ platformAlias: network.platformAlias, volumes },
  })
  const protection = createProtection({ api, install, clock })
  const records = { labelSelector: `${installLabel}=${install},${kindLabel}=container` }
  const pods = { labelSelector: `${installLabel}=${install},${idLabel}` }

  return {
    kind: 'kubernetes',
    publishesSsh: settings.sshNodePorts,
    get isolation() {
      const { problem } = network.filterState
      return {
        level: 'container' as const,
        weaker: [
          'The number of processes is limited by each node (podPidsLimit of the kubelet), not by the platform.',
          'Programs in /tmp can be executed.',
          ...(problem === null ? [] : [problem]),
        ],
      }
    },
    get runtimes() {
      return cluster.runtimes()
    },

    ping: (signal) => cluster.info(signal),
    // Nodes pull images when they need them; a missing one is a fault of the start.
    hasImage: async () => true,

    ensureNetwork: network.agents,
    get closing() {
      return network.closing
    },
    ensureClosedNetwork: network.closed,
    get networkFilter() {
      return network.filterState
    },
    filterNetwork: network.filter,

    async create(spec) {
      requireRuntime(spec.runtime, cluster.runtimes())
      if (spec.isClosed) await network.closed()
      await volumes.requireMountable(spec.mounts)
      const id = randomUUID()
      const created = await api
        .create<Entry>('secrets', secretFor(spec, id, install))
        .catch((error: unknown) => {
          throw isStatus(error, 409) ? nameTaken(spec, error) : error
        })
      const record = readRecord(created)
      if (record) await publishOrRemove(record)
      return { id }
    },

    async start(id, startOptions) {
      const { record, pods } = await own(id)
      await runs.start(record, pods, startOptions)
    },

    async stop(id, graceSeconds) {
      const { record, pods } = await own(id)
      await runs.end(record, pods, { graceSeconds, keepsLog: true }).catch((error: unknown) => {
        // The container ends when its node returns, and is reported as lost until then.
        if (!(error instanceof ContainerError && error.fault === 'node_lost')) throw error
      })
    },

    async remove(id) {
      const found = await find(id)
      if (!found) return
      const { record, pods } = found
      const { openRun } = await runs.end(record, pods, { graceSeconds: 1, keepsLog: false })
      if (openRun !== null) await volumes.noteEnd(record.spec.mounts, 'unknown')
      await ssh.withdraw(record)
      await removeRecord(record)
    },

    async inspect(id) {
      const found = await find(id)
      return found && containerState(found.record, found.pods, install)
    },

    async list() {
      const [secrets, { items }] = await Promise.all([listRecords(), api.list<Pod>('pods', pods)])
      const known = await withLost(items, clock.now(), cluster.silentNodes)
      const byId = Map.groupBy(known, ({ metadata }) => metadata.labels?.[idLabel])
      return secrets.map((record) =>
        containerState(record, current(record, byId.get(record.id) ?? []), install),
      )
    },

    protect: protection.protect,

    async logs(id, tail) {
      const { record, pods } = await own(id)
      return logs.read(record, pods, tail)
    },

    // The kubelet's figures need rights to every node. Agents report their own use instead.
    sample: async () => null,
    diskFigures: async () => ({ containers: new Map(), volumes: new Map() }),

    events: (signal) => followEvents({ api, records, pods, clock }, signal),

    createVolume: volumes.create,
    removeVolume: (name) => volumes.remove(name, mountedVolumes),
    listVolumes: volumes.list,

    async close() {
      await network.close()
      api.close()
    },
  }

  async function find(id: string): Promise<{ record: ContainerRecord; pods: Pod[] } | null> {
    // The API refuses texts that are not label values.
    if (!/^[0-9a-z-]{1,63}$/.test(id)) return null
    const [secrets, { items }] = await Promise.all([
      api.list<Entry>('secrets', idSelection(records.labelSelector, id), { onlyMetadata: true }),
      api.list<Pod>('pods', idSelection(`${installLabel}=${install}`, id)),
    ])
    const record = secrets.items.map(readRecord).find((each) => each !== null)
    if (!record) return null
    return { record, pods: await withLost(current(record, items), clock.now(), cluster.silentNodes) }
  }

  async function publishOrRemove(record: ContainerRecord): Promise<void> {
    try {
      await ssh.publish(record)
    } catch (error) {
      await removeRecord(record)
      throw error
    }
  }

  async function removeRecord({ secret: { name, uid } }: ContainerRecord): Promise<void> {
    await api.delete('secrets', name, { uid }).catch((error: unknown) => {
      if (!isStatus(error, 404, 409)) throw error
    })
  }

  async function own(id: string) {
    const found = await find(id)
    if (!found) throw new ContainerError('no_such_container', `no container ${id}`)
    return found
  }

  async function listRecords(): Promise<ContainerRecord[]> {
    const { items } = await api.list<Entry>('secrets', records, { onlyMetadata: true })
    return items.map(readRecord).filter((record) => record !== null)
  }

  async function mountedVolumes(): Promise<ReadonlySet<string>> {
    const mounts = (await listRecords()).flatMap(({ spec }) => spec.mounts)
    return new Set(mounts.flatMap((mount) => (mount.type === 'volume' ? [mount.volume] : [])))
  }
}

/** The pods that are the container, without those that another one replaced. */
function current({ superseded }: ContainerRecord, pods: readonly Pod[]): Pod[] {
  return pods.filter(({ metadata }) => !superseded.includes(metadata.uid))
}

const idSelection = (selector: string, id: string) => ({ labelSelector: `${selector},${idLabel}=${id}` })

function nameTaken(spec: ContainerSpec, cause: unknown): ContainerError {
  return new ContainerError('name_taken', `a container named ${spec.name} exists in the namespace`, { cause })
}

async function lookup(host: string): Promise<string[]> {
  return (await systemLookup(host, { all: true })).map(({ address }) => address)
}
