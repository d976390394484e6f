import type { ContainerInspectInfo, VolumeInspectInfo } from 'dockerode'
import { type Clock, systemClock } from '../../../kit/clock.ts'
import { createTurns } from '../../../kit/turns.ts'
import {
  type AgentsNetwork,
  ContainerError,
  type ContainerSpec,
  type Containers,
  requireRuntime,
} from '../port.ts'
import { connect, createAsk, get, httpStatusOf, withoutQuery } from './connect.ts'
import { type DiskAnswer, diskFigures, diskPath } from './disk.ts'
import { followEngineEvents } from './events.ts'
import { flushVolume } from './flush.ts'
import { createLayers } from './layers.ts'
import { readLogFrames } from './logs.ts'
import { closedNetwork, ensureAgentsNetwork, gatewayOf } from './network.ts'
import { fillerKind, partOf } from './overlay.ts'
import { createPacketFilter } from './packet-filter.ts'
import { createSampler } from './sample.ts'
import { createOptions } from './spec.ts'
import { containerState } from './state.ts'
import { createTraits } from './traits.ts'

export type DockerOptions = {
  /** Value of the label `roost.install`; objects without it are never changed. */
  install: string
  /** Name of the agents' network, unique per installation. */
  network: string
  /** Time limit of a request. Stops add their grace period; starts and removals add 30 s. */
  timeoutSeconds?: number
  clock?: Clock
  /** Default: `flushVolume`. */
  flush?: (mountpoint: string) => Promise<void>
}

type OwnNetwork = { name: string; network: AgentsNetwork }

/** Containers of a Docker engine, or of Podman through its compatible socket. See `connect` for the URLs. */
export function createDockerContainers(url: string, options: DockerOptions): Containers {
  const docker = connect(url)
  const ask = createAsk(options.timeoutSeconds ?? 15)
  const traits = createTraits(docker, ask)
  const { install, network } = options
  const ownFilter = JSON.stringify({ label: [`roost.install=${install}`] })
  const pendingNetworks = new Map<boolean, Promise<OwnNetwork>>()
  const packetFilter = createPacketFilter({
    docker,
    ask,
    install,
    isPodman: async () => !(await traits.get()).canSeparate,
  })
  /** Networks that the packet filter knows; a new one of the same name has another id. */
  const readyNetworks = new Set<string>()
  const sampler = createSampler({
    inspect,
    stats: (id) =>
      ask(
        'stats',
        (abortSignal) =>
          docker
            .getContainer(id)
            .stats(Object.assign({ abortSignal }, { stream: false as const, 'one-shot': true })),
        slow,
      ),
  })
  const { layers, release, removeParts } = createLayers({
    ...{ docker, ask, install, clock: options.clock ?? systemClock },
    mayUse: async () => (await traits.get()).canLayer,
    flush: options.flush ?? flushVolume,
    ...{ create, remove, inspectVolume, listVolumes, removeOne, removeVolume },
    containerNamed: async (name) => (await inspect(name))?.Id ?? null,
  })

  return {
    kind: 'docker',
    publishesSsh: true,
    get isolation() {
      const { level, weaker } = traits.isolation()
      const { problem } = packetFilter.state
      return { level, weaker: problem === null ? weaker : [...weaker, problem] }
    },
    get runtimes() {
      return traits.runtimes()
    },

    ping: (signal) => traits.refresh(signal),

    hasImage: (image) =>
      ask('inspect image', (abortSignal) => get(docker, `/images/${image}/json`, abortSignal)).then(
        () => true,
        (error: unknown) => {
          if (error instanceof ContainerError && httpStatusOf(error.cause) === 404) return false
          throw error
        },
      ),

    ensureNetwork: async () => (await ensure(false)).network,
    get closing() {
      return traits.closing(packetFilter.state.isActive)
    },
    ensureClosedNetwork: async () => (await ensure(true)).network,
    get networkFilter() {
      return packetFilter.state
    },
    filterNetwork: packetFilter.apply,

    create,

    async start(id) {
      await own(id)
      await ask(`start ${id}`, (abortSignal) => docker.getContainer(id).start({ abortSignal }), slow).catch(
        unlessAlreadySo,
      )
    },

    async stop(id, graceSeconds) {
      await own(id)
      await ask(
        `stop ${id}`,
        (abortSignal) => docker.getContainer(id).stop({ t: graceSeconds, abortSignal }),
        { extraSeconds: graceSeconds + slow.extraSeconds },
      ).catch(unlessAlreadySo)
    },

    remove,

    async inspect(id) {
      const info = await inspect(id)
      return info && containerState(info)
    },

    async list() {
      const found = await ask('list containers', (abortSignal) =>
        docker.listContainers({ all: true, filters: ownFilter, abortSignal }),
      )
      // The list lacks exit codes and times. Eight concurrent requests are fast without overloading the
      // engine.
      const limited = createTurns(8)
      // The engine inspects none through which it fills a volume.
      const others = found.filter(({ Labels }) => Labels['roost.platform'] !== fillerKind)
      const infos = await Promise.all(others.map(({ Id }) => limited(() => inspect(Id))))
      return infos.filter((info) => info !== null).map(containerState)
    },

    async logs(id, tail) {
      await own(id)
      const frames = await ask(`logs of ${id}`, (abortSignal) =>
        docker.getContainer(id).logs({ stdout: true, stderr: true, follow: false, tail, abortSignal }),
      )
      return readLogFrames(frames)
    },

    sample: (id) => sampler.sample(id),

    diskFigures: async (signal) =>
      diskFigures(
        await ask('measure disk usage', (abortSignal) => get<DiskAnswer>(docker, diskPath, abortSignal), {
          ...diskWalk,
          ...(signal ? { signal } : {}),
        }),
        isOurs,
      ),

    events: (signal) =>
      followEngineEvents(
        {
          docker,
          ask,
          install,
          wasOomKilled: async (id) => (await inspect(id).catch(() => null))?.State.OOMKilled ?? false,
          clock: options.clock,
        },
        signal,
      ),

    async createVolume(name, labels) {
      await ask(`create volume ${name}`, (abortSignal) =>
        docker.createVolume(
          withoutQuery({ Name: name, Labels: { ...labels, 'roost.install': install } }, abortSignal),
        ),
      )
      // The engine also succeeds for an existing volume of another owner.
      await refuseForeignVolume(name)
    },

    removeVolume,
    // Parts belong to the volume that they are named after.
    listVolumes: async () =>
      (await listVolumes()).filter(({ Labels }) => !Labels?.[partOf]).map(({ Name }) => Name),
    layers,

    async close() {},
  }

  async function create(spec: ContainerSpec): Promise<{ id: string }> {
    const isClosed = spec.isClosed ?? false
    const own = await ensure(isClosed)
    await refuseForeignVolumes(spec)
    requireRuntime(spec.runtime, traits.runtimes())
    const body = createOptions(spec, install, own.name, await traits.get())
    const container = await ask(
      `create ${spec.name}`,
      (abortSignal) => docker.createContainer(withoutQuery(body, abortSignal, { name: spec.name })),
      slow,
    )
    return { id: container.id }
  }

  async function remove(id: string): Promise<void> {
    sampler.forget(id)
    if (!(await inspect(id))) return
    // `v` also removes anonymous volumes of the image; named ones stay.
    await ask(
      `remove ${id}`,
      (abortSignal) => docker.getContainer(id).remove({ force: true, v: true, abortSignal }),
      slow,
    ).catch((error: unknown) => {
      if (error instanceof ContainerError && httpStatusOf(error.cause) === 409) return untilRemoved(id)
      return unlessGone(error)
    })
  }

  async function removeVolume(name: string): Promise<void> {
    const volume = await inspectVolume(name)
    if (volume) {
      if (!isOurs(volume.Labels)) return
      await release(name, volume.Labels)
      await removeOne(name)
    }
    await removeParts(name)
  }

  async function removeOne(name: string): Promise<void> {
    await ask(
      `remove volume ${name}`,
      (abortSignal) => docker.getVolume(name).remove({ abortSignal }),
      deletion,
    ).catch((error: unknown) => {
      if (error instanceof ContainerError && httpStatusOf(error.cause) === 409) {
        throw new ContainerError('volume_in_use', `a container mounts volume ${name}`, { cause: error })
      }
      return unlessGone(error)
    })
  }

  async function listVolumes(): Promise<VolumeInspectInfo[]> {
    const found = await ask('list volumes', (abortSignal) =>
      docker.listVolumes({ filters: ownFilter, abortSignal }),
    )
    return found.Volumes ?? []
  }

  /** Serialized, because the engine lets concurrent requests create two networks of one name. */
  function ensure(isClosed: boolean): Promise<OwnNetwork> {
    const pending = pendingNetworks.get(isClosed)
    if (pending) return pending
    const creation = ensureOwn(isClosed).finally(() => pendingNetworks.delete(isClosed))
    pendingNetworks.set(isClosed, creation)
    return creation
  }

  async function ensureOwn(isClosed: boolean): Promise<OwnNetwork> {
    const { canSeparate } = await traits.get()
    const plain = isClosed ? closedNetwork(network) : network
    const found = await ensureAgentsNetwork(docker, ask, plain, install, { canSeparate, isClosed })
    const isNew = !readyNetworks.has(found.id)
    readyNetworks.add(found.id)
    if (isNew) await packetFilter.reapply()
    // Earlier versions used one network for all installations.
    const { name, foreign } = found
    const hasFormer = foreign !== null && (await hasOwnContainers(foreign))
    const formerAddresses = hasFormer ? [gatewayOf(foreign)] : []
    return { name, network: { ...found.network, formerAddresses } }
  }

  async function hasOwnContainers({ Id, Name }: { Id: string; Name: string }): Promise<boolean> {
    const filters = JSON.stringify({ label: [`roost.install=${install}`], network: [Id, Name] })
    const found = await ask('list containers of a network', (abortSignal) =>
      docker.listContainers({ all: true, filters, abortSignal }),
    )
    return found.length > 0
  }

  function inspect(id: string): Promise<ContainerInspectInfo | null> {
    return ask(`inspect ${id}`, (abortSignal) => docker.getContainer(id).inspect({ abortSignal })).then(
      (info) => (isOurs(info.Config.Labels) ? info : null),
      (error: unknown) => {
        if (error instanceof ContainerError && httpStatusOf(error.cause) === 404) return null
        throw error
      },
    )
  }

  async function own(id: string): Promise<void> {
    if (!(await inspect(id))) throw new ContainerError('no_such_container', `no container ${id}`)
  }

  async function untilRemoved(id: string): Promise<void> {
    await ask(
      `await removal of ${id}`,
      (abortSignal) => docker.getContainer(id).wait({ condition: 'removed', abortSignal }),
      slow,
    ).catch(unlessGone)
  }

  async function refuseForeignVolumes(spec: ContainerSpec): Promise<void> {
    for (const mount of spec.mounts) {
      if (mount.type === 'volume') await refuseForeignVolume(mount.volume)
    }
  }

  async function refuseForeignVolume(name: string): Promise<void> {
    const volume = await inspectVolume(name)
    if (volume && !isOurs(volume.Labels)) {
      throw new ContainerError('name_taken', `volume ${name} belongs to something else on this engine`)
    }
  }

  function inspectVolume(name: string) {
    return ask(`inspect volume ${name}`, (abortSignal) =>
      docker.getVolume(name).inspect({ abortSignal }),
    ).catch((error: unknown) => {
      if (error instanceof ContainerError && httpStatusOf(error.cause) === 404) return null
      throw error
    })
  }

  function isOurs(labels: Record<string, string> | null | undefined): boolean {
    return labels?.['roost.install'] === install
  }
}

/** Creating, starting and removing also wait for disks and namespaces. */
const slow = { extraSeconds: 30 }
/** The engine deletes every file. */
const deletion = { extraSeconds: 600 }
/** The engine reads every file of every volume. */
const diskWalk = { extraSeconds: 1800 }

function unlessAlreadySo(error: unknown): void {
  if (error instanceof ContainerError && httpStatusOf(error.cause) === 304) return
  throw error
}

function unlessGone(error: unknown): void {
  if (error instanceof ContainerError && httpStatusOf(error.cause) === 404) return
  throw error
}
