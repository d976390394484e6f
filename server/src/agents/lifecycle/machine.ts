import type { RecreateReason, Runtime } from '@roost/contracts/agents/agent'
import type { SealedColumn, Vault } from '../../foundation/vault/index.ts'
import type { Keys } from '../../identity/keys/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentImages } from '../../ports/agent-images/port.ts'
import {
  type AgentsNetwork,
  ContainerError,
  type ContainerSpec,
  type ContainerState,
  type Containers,
} from '../../ports/containers/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Agent, type AgentRecords, agentStore, type Leftover, type Waiting } from '../records/index.ts'
import { type RuntimePolicy, requestedRuntime } from './container-runtime.ts'
import type { FolderMount } from './folder-mount.ts'
import type { Lock } from './lock.ts'
import type { Placement } from './placement.ts'
import type { SshPorts } from './ports.ts'
import {
  type ContainerSettings,
  desiredFor,
  networkFor,
  type ObservedContainer,
  plan,
  recreateReasonsOf,
  type Step,
} from './rules.ts'
import { containerSpec, type SpecInput, volumeLabels, volumesOf } from './spec.ts'

export type MachineOptions = {
  internalPort: number
  tmpBytes: number
  sshBind: string
  containerPrefix: string
  /** `ROOST_CONTAINER_RUNTIME`; null when it is not set. */
  containerRuntime: string | null
}

export type MachineDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'info' | 'warn'>
  agentRecords: Pick<AgentRecords, 'changed'>
  containers: Containers
  images: Pick<AgentImages, 'tagFor' | 'isReady' | 'ensure'>
  vault: Pick<Vault, 'open' | 'seal'>
  ports: Pick<SshPorts, 'move'>
  lock: Pick<Lock, 'assertHeld'>
  placement: Pick<Placement, 'claim' | 'known'>
  keys: Pick<Keys, 'mintAgentKey'>
  /** The admin whose role the system agent's key carries; null before the platform is set up. */
  systemOwner(): Promise<{ id: string } | null>
  /** The template the agent was created from; null if there is none or it no longer exists. */
  templateOf(agent: Pick<Agent, 'template' | 'template_commit'>): Promise<{ name: string } | null>
  /** Repository settings for a new container; null without a repository. */
  gitSettingsFor(agent: Agent): Promise<SpecInput['git']>
  /** Folders of other agents to mount at the next start. */
  foldersFor(agent: Agent): Promise<FolderMount[]>
  /** Creates the network without outbound access and makes the platform reachable from it. */
  openClosedNetwork(): Promise<AgentsNetwork>
  /** Where agents reach the platform, with this process first. */
  platformAddresses(): readonly string[]
  options: MachineOptions
}

/**
 * The result of starting an agent. `at` is a time just before the container started. `agent` is the row used
 * for the start, including the port it received. `waiting` is null when the container runs.
 */
export type BroughtUp = {
  steps: Step[]
  reason: RecreateReason | null
  at: Date
  agent: Agent
  waiting: Waiting | null
}

/**
 * Manages one agent's container and volumes. Callers hold the agent's lock and pass its current row. Every
 * method can be repeated after a partial failure.
 */
export type Machine = {
  /**
   * Ensures that the container exists and runs, or that the engine will run it as soon as it can. Takes a new
   * port if another program holds the agent's. `takesOver`: also on another node than a lost one.
   */
  bringUp(agent: Agent, options?: { takesOver: boolean }): Promise<BroughtUp>
  /** Stops the container and disables its restart policy. */
  bringDown(agent: Agent, graceSeconds: number): Promise<void>
  /** Removes the container and keeps the volumes. Throws node_lost while it may run on an unreachable node. */
  removeContainer(agent: Agent): Promise<void>
  /** What the engine reports now; null unless the container waits or its node is lost. The row may be older. */
  waitingNow(agent: Agent): Promise<Waiting | null>
  /** What limits the agents' OCI runtimes, as of the last answer of the engine. */
  runtimePolicy(): RuntimePolicy
  /** The image of a runtime, which is built or pulled first if the engine needs it. */
  imageFor(runtime: Runtime): Promise<string>
  /** Removes what a deleted agent still has at the engine. */
  clear(leftover: Leftover): Promise<void>
}

export const agentKeyContext = (agentId: string) => `agent-key:${agentId}`

const waitingStates: Partial<Record<ContainerError['fault'], Waiting['state']>> = {
  start_pending: 'pending',
  node_lost: 'lost',
}

/** Building an image from scratch takes about a minute; this bounds a registry that hangs. */
const imageDeadlineMs = 20 * 60_000
export const stopGraceSeconds = 10

export function createMachine(deps: MachineDeps): Machine {
  const { db, clock, log, agentRecords, containers, images, vault, ports, options } = deps
  const runtimePolicy = (): RuntimePolicy => ({
    installation: options.containerRuntime,
    engine: containers.runtimes,
  })
  type Work = {
    agent: Agent
    containerId: string | null
    graceSeconds: number
    folders: FolderMount[]
    takesOver?: boolean
  }

  /** The type requires an executor for every step. */
  const executors: Record<Step, (work: Work) => Promise<void>> = {
    stop: ({ containerId, graceSeconds }) =>
      containerId === null ? Promise.resolve() : containers.stop(containerId, graceSeconds),

    /** Clears the row first, so that the container's end does not count as a crash. */
    remove: async (work) => {
      await record(work.agent.id, { container_id: null, applied: null })
      if (work.containerId !== null) await containers.remove(work.containerId)
      work.containerId = null
    },

    create: async (work) => {
      const { agent, folders } = work
      const image = images.tagFor(agent.runtime)
      await ensureImage(agent.runtime)
      const names = volumesOf(agent)
      await containers.createVolume(names.workspace, volumeLabels(agent, 'workspace'))
      await containers.createVolume(names.shared, volumeLabels(agent, 'shared'))
      await containers.createVolume(names.private, volumeLabels(agent, 'private'))
      // A publisher that never started has no volume yet.
      for (const { name, volume } of folders)
        await containers.createVolume(volume, volumeLabels({ name }, 'shared'))
      const { keyId, agentKey } = await keyOf(agent)
      const [network, engine] = await Promise.all([networkOf(agent), containers.ping()])
      const spec = containerSpec(
        {
          agent,
          image,
          agentKey,
          template: await deps.templateOf(agent),
          git: await deps.gitSettingsFor(agent),
          folders,
          containerRuntime: requestedRuntime(agent, runtimePolicy()),
        },
        { ...options, network, platformAddresses: deps.platformAddresses(), hostCpus: engine.cpus },
      )
      work.containerId = await createContainer(agent, spec)
      const applied = desiredFor({ ...agent, agent_key_id: keyId }, image.version, folders, runtimePolicy())
      await record(agent.id, { container_id: work.containerId, applied: JSON.stringify(applied) })
      await recordOrphans(folders)
    },

    start: ({ containerId, takesOver }) =>
      containerId === null ? Promise.resolve() : containers.start(containerId, { takesOver }),
  }

  function networkOf({ egress_mode }: Agent): Promise<AgentsNetwork> {
    return networkFor(egress_mode) === 'closed' ? deps.openClosedNetwork() : containers.ensureNetwork()
  }

  async function record(agentId: string, patch: { container_id: string | null; applied: string | null }) {
    await db.atomically(async (tx) => {
      await agentStore(tx).update(agentId, patch)
      agentRecords.changed(tx, agentId)
    })
  }

  /** If a publisher was deleted meanwhile, its volume was recreated without an owner and must be removed. */
  async function recordOrphans(folders: readonly FolderMount[]): Promise<void> {
    for (const { sourceId, volume } of folders) {
      if (await agentStore(db).byId(sourceId)) continue
      const leftover = {
        ...{ id: newId(), agent_id: sourceId, container_id: null },
        ...{ engine_id: deps.placement.known(), volumes: [volume] },
      }
      await agentStore(db).addLeftover(leftover, timestamp(clock.now()))
    }
  }

  async function keyOf(agent: Agent): Promise<{ keyId: string | null; agentKey: string }> {
    const sealed = await agentStore(db).sealedKey(agent.id)
    const context = agentKeyContext(agent.id)
    if (sealed !== null) return { keyId: agent.agent_key_id, agentKey: vault.open(sealed, context) }
    // Only the system agent has no key before its first start.
    const owner = await deps.systemOwner()
    if (!owner) throw new Fault('not_configured', 'The platform has no admin yet.')
    return db.atomically(async (tx) => {
      const keyRequest = { agentId: agent.id, ownerId: owner.id, name: `Agent ${agent.name}` }
      const { id, key } = await deps.keys.mintAgentKey(tx, { ...keyRequest, scope: 'system' })
      const patch = { agent_key_id: id, agent_key_sealed: vault.seal(key, context) }
      if (!(await agentStore(tx).update(agent.id, patch))) throw new Fault('agent_not_found')
      agentRecords.changed(tx, agent.id)
      return { keyId: id, agentKey: key }
    })
  }

  async function ensureImage(runtime: Runtime): Promise<void> {
    if (await images.isReady(runtime)) return
    const logProgress = (text: string) => log.info({ runtime }, text)
    await images.ensure(runtime, logProgress, AbortSignal.timeout(imageDeadlineMs))
  }

  /** Another installation on this engine may have an agent of the same name: a suffix keeps both. */
  async function createContainer(agent: Agent, spec: ContainerSpec): Promise<string> {
    // Not for new agents, nor after this operation removed the container itself: listing all is expensive.
    if (agent.container_id === null && agent.state !== 'creating') {
      const states = await containers.list()
      await refuseSecondWriter(agent, states)
      await removeUnrecorded(agent.id, Object.values(volumesOf(agent)), states)
    }
    try {
      return await createNamed(agent, spec)
    } catch (error) {
      if (!isNameTaken(error)) throw error
      if (await isFormer(agent, spec.name))
        return createNamed(agent, { ...spec, name: `${spec.name}-${agent.volume_base.slice(-6)}` })
      const name = `${spec.name}-${agent.id.slice(-6).toLowerCase()}`
      log.warn(
        { agent: agent.name, container: name },
        "another container has the name of an agent's; set ROOST_CONTAINER_PREFIX to tell installations apart",
      )
      return createNamed(agent, { ...spec, name })
    }
  }

  /**
   * An operation that was interrupted after it cleared the row may leave a container whose node is lost by now. Assigns
   * it to the agent again and throws node_lost, so that only a takeover starts the agent elsewhere.
   */
  async function refuseSecondWriter(agent: Agent, states: readonly ContainerState[]): Promise<void> {
    const own = Object.values(volumesOf(agent))
    const existing = states.find(
      (state) => isLostOf(agent, state) && state.volumes.some((volume) => own.includes(volume)),
    )
    if (!existing) return
    const applied = agent.applied ?? settingsIn(existing.labels)
    await record(agent.id, { container_id: existing.id, applied: JSON.stringify(applied) })
    throw new ContainerError('node_lost', existing.waiting?.reason ?? '')
  }

  /**
   * A removal that failed after it cleared the row leaves a container, perhaps with the agent's name before a rename.
   * Only with these volumes, because a former workspace has a container of its own. Returns false if there is none.
   */
  async function removeUnrecorded(
    agentId: string,
    volumes: readonly string[],
    states: readonly ContainerState[],
  ): Promise<boolean> {
    const unrecorded = states.filter(
      (state) =>
        state.labels['roost.agent-id'] === agentId && state.volumes.some((each) => volumes.includes(each)),
    )
    for (const { id } of unrecorded) await containers.remove(id)
    return unrecorded.length > 0
  }

  async function removeVolumes(volumes: readonly string[]): Promise<void> {
    for (const volume of volumes) await containers.removeVolume(volume)
  }

  /** The container of a former workspace keeps the name until its node returns. It has other volumes. */
  async function isFormer(agent: Agent, name: string): Promise<boolean> {
    return (await containers.list()).some((state) => state.name === name && isLostOf(agent, state))
  }

  /** A process that crashed between creating and recording leaves a container with our name; replace it. */
  async function createNamed(agent: Agent, spec: ContainerSpec): Promise<string> {
    try {
      return (await containers.create(spec)).id
    } catch (error) {
      if (!isNameTaken(error)) throw error
      const states = await containers.list()
      await refuseSecondWriter(agent, states)
      const existing = states.find((state) => state.name === spec.name)
      const ownerId = existing?.labels['roost.agent-id']
      if (!existing || ownerId === undefined || existing.status === 'lost') throw error
      const owner = ownerId === agent.id ? null : await agentStore(db).byId(ownerId)
      if (owner) throw error
      await containers.remove(existing.id)
      return (await containers.create(spec)).id
    }
  }

  async function inspectContainer(agent: Agent): Promise<ObservedContainer> {
    return agent.container_id === null ? null : containers.inspect(agent.container_id)
  }

  async function waitingNow({ container_id }: Pick<Agent, 'container_id'>): Promise<Waiting | null> {
    const found = container_id === null ? null : await containers.inspect(container_id)
    if (!found?.waiting || (found.status !== 'pending' && found.status !== 'lost')) return null
    return { state: found.status, ...found.waiting }
  }

  async function execute(todo: Step[], work: Work): Promise<void> {
    for (const step of todo) {
      deps.lock.assertHeld(work.agent.id)
      await executors[step](work)
    }
  }

  async function startOnce(agent: Agent, takesOver: boolean): Promise<BroughtUp> {
    const observed = await inspectContainer(agent)
    const folders = await deps.foldersFor(agent)
    const desired = desiredFor(agent, images.tagFor(agent.runtime).version, folders, runtimePolicy())
    const reasons = recreateReasonsOf(agent.applied, desired)
    const planned = plan({ desired: 'running', held: false, observed, reasons })
    const containerId = observed?.id ?? null
    const work: Work = { agent, containerId, graceSeconds: stopGraceSeconds, folders, takesOver }
    const beforeStart = planned.filter((step) => step !== 'start')
    await execute(beforeStart, work)
    const at = clock.now()
    const waiting = planned.includes('start') ? await startOrWait(work) : null
    const reason = planned.includes('remove') ? (reasons[0] ?? null) : null
    return { steps: planned, reason, at, agent, waiting }
  }

  async function startOrWait(work: Work): Promise<Waiting | null> {
    try {
      await execute(['start'], work)
      return null
    } catch (error) {
      const state = error instanceof ContainerError && waitingStates[error.fault]
      if (!state) throw error
      // The engine's own report says more: since when, and whether the container can move.
      const reported = await waitingNow({ container_id: work.containerId }).catch(ignoreFault)
      if (reported) return reported
      const { waiting } = work.agent
      if (state === 'lost' && waiting?.state === 'lost') return waiting
      return { state, reason: error.message, since: timestamp(clock.now()), canMove: false }
    }
  }

  /** Ends when the range is exhausted: an agent without a port cannot collide. */
  async function startOnFreePort(agent: Agent, { takesOver } = { takesOver: false }): Promise<BroughtUp> {
    const refused = new Set<number>()
    let current = agent
    for (;;) {
      try {
        const started = await startOnce(current, takesOver)
        return refused.size === 0 ? started : { ...started, reason: 'ssh_port' }
      } catch (error) {
        if (!isPortTaken(error) || current.port === 0) throw error
        refused.add(current.port)
        const { name, port } = current
        log.warn({ agent: name, port }, "another program uses an agent's SSH port; assigning another port")
        // Published ports cannot change during a container's lifetime.
        const now = await agentStore(db).byId(current.id)
        if (now) await removeContainer(now)
        current = await ports.move(current.id, refused)
      }
    }
  }

  async function removeContainer(agent: Agent): Promise<void> {
    await deps.placement.claim(agent)
    if (agent.container_id !== null) {
      const state = await containers.inspect(agent.container_id)
      // It may still run there, and a new one would be a second writer of the workspace.
      if (state?.status === 'lost') throw new ContainerError('node_lost', state.waiting?.reason ?? '')
    }
    const work = { agent, containerId: agent.container_id, graceSeconds: stopGraceSeconds, folders: [] }
    await executors.remove(work)
  }

  return {
    async bringUp(agent, options) {
      await deps.placement.claim(agent)
      return startOnFreePort(agent, options)
    },

    async bringDown(agent, graceSeconds) {
      await deps.placement.claim(agent)
      const observed = await inspectContainer(agent)
      const planned = plan({ desired: 'stopped', held: false, observed, mayRestart: true, reasons: [] })
      await execute(planned, { agent, containerId: observed?.id ?? null, graceSeconds, folders: [] })
    },

    removeContainer,
    waitingNow,
    runtimePolicy,

    async imageFor(runtime) {
      await ensureImage(runtime)
      return images.tagFor(runtime).image
    },

    async clear({ agent_id, container_id, volumes }) {
      if (container_id !== null) await containers.remove(container_id)
      try {
        await removeVolumes(volumes)
      } catch (error) {
        if (!isVolumeInUse(error)) throw error
        if (!(await removeUnrecorded(agent_id, volumes, await containers.list()))) throw error
        await removeVolumes(volumes)
      }
    },
  }
}

function isLostOf({ id }: Pick<Agent, 'id'>, { status, labels }: ContainerState): boolean {
  return status === 'lost' && labels['roost.agent-id'] === id
}

/** What the labels of a container say. The key and the folders are unknown, so the next start replaces it. */
function settingsIn(labels: Record<string, string>): ContainerSettings {
  return {
    cpu: labels['roost.cpu'] ?? '',
    memory: labels['roost.memory'] ?? '',
    full_capabilities: labels['roost.full-capabilities'] === 'true',
    runtime: labels['roost.runtime'] ?? '',
    agent_key_id: null,
    image_version: labels['roost.image-version'] ?? '',
    folders: [],
  }
}

function ignoreFault(error: unknown): null {
  if (error instanceof ContainerError) return null
  throw error
}

function isNameTaken(error: unknown): boolean {
  return error instanceof ContainerError && error.fault === 'name_taken'
}

function isVolumeInUse(error: unknown): boolean {
  return error instanceof ContainerError && error.fault === 'volume_in_use'
}

function isPortTaken(error: unknown): boolean {
  return error instanceof ContainerError && error.fault === 'port_taken'
}

export const sealedColumns: SealedColumn[] = [
  { table: 'agents', column: 'agent_key_sealed', key: ['id'], context: ({ id = '' }) => agentKeyContext(id) },
]
