import type { RecreateReason, Runtime } from '@roost/contracts/agents/agent'
import type { Vault } from '../../foundation/vault/index.ts'
import type { Keys } from '../../identity/keys/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentImages } from '../../ports/agent-images/port.ts'
import {
  type AgentsNetwork,
  ContainerError,
  type ContainerSpec,
  type Containers,
} from '../../ports/containers/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Agent, type AgentRecords, agentStore, type Leftover } from '../records/index.ts'
import type { FolderMount } from './folder-mount.ts'
import type { SshPorts } from './ports.ts'
import { networkFor, plan, recreateReasonsOf, type Seen, type Step, wantedFor } from './rules.ts'
import { containerSpec, type SpecInput, volumeLabels, volumesOf } from './spec.ts'

export type MachineOptions = {
  internalPort: number
  tmpBytes: number
  sshBind: string
  containerPrefix: string
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
  keys: Pick<Keys, 'mintAgentKey'>
  /** Whose role the key of the system agent carries: an admin. Null before the platform is set up. */
  systemOwner(): Promise<{ id: string } | null>
  /** Folder of the template an agent was made from; null when there is none (any more). */
  templateFolder(
    agent: Pick<Agent, 'template' | 'template_commit'>,
  ): Promise<{ name: string; folder: string } | null>
  /** What a container that is made now is told of its repository; null: it has none. */
  gitFactsFor(agent: Agent): Promise<SpecInput['git']>
  /** Folders of other agents that the agent reads when it is started now. */
  foldersFor(agent: Agent): Promise<FolderMount[]>
  /** Makes the network without a way out, and has the platform heard there. */
  openClosed(): Promise<AgentsNetwork>
  options: MachineOptions
}

/**
 * What was done to bring an agent up. `at` is a time just before its container was started; `agent` is the row
 * that it was started by, with the port that it got.
 */
export type BroughtUp = { steps: Step[]; reason: RecreateReason | null; at: Date; agent: Agent }

/**
 * One agent's container and volumes. Everything here is called by whoever holds the agent's lock, with the
 * row as it is now, and may be called again after it failed half-way.
 */
export type Machine = {
  /** Makes the container be there and run; on another port when another program holds the agent's. */
  bringUp(agent: Agent): Promise<BroughtUp>
  /** Makes the container stand still, and its restart policy leave it so. */
  bringDown(agent: Agent, graceSeconds: number): Promise<void>
  /** Removes the container; the volumes stay. */
  takeAway(agent: Agent): Promise<void>
  /** Removes what a deleted agent has left at the engine. */
  clear(leftover: Leftover): Promise<void>
}

export const agentKeyContext = (agentId: string) => `agent-key:${agentId}`

/** Building an image from nothing takes about a minute; this bounds a registry that hangs. */
const imageDeadlineMs = 20 * 60_000
export const stopGraceSeconds = 10

export function createMachine(deps: MachineDeps): Machine {
  const { db, clock, log, agentRecords, containers, images, vault, ports, options } = deps
  type Work = { agent: Agent; containerId: string | null; graceSeconds: number; folders: FolderMount[] }

  /** A step without an executor does not compile. */
  const executors: Record<Step, (work: Work) => Promise<void>> = {
    stop: ({ containerId, graceSeconds }) =>
      containerId === null ? Promise.resolve() : containers.stop(containerId, graceSeconds),

    /** The row lets go first: the container's end is then not taken for a crash. */
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
      // A publisher that was never started has none yet.
      for (const { name, volume } of folders)
        await containers.createVolume(volume, volumeLabels({ name }, 'shared'))
      const { keyId, agentKey } = await keyOf(agent)
      const [network, engine] = await Promise.all([networkOf(agent), containers.ping()])
      const spec = containerSpec(
        {
          agent,
          image,
          agentKey,
          template: await deps.templateFolder(agent),
          git: await deps.gitFactsFor(agent),
          folders,
        },
        { ...options, kind: containers.kind, network, hostCpus: engine.cpus },
      )
      work.containerId = await createContainer(agent, spec)
      const applied = wantedFor({ ...agent, agent_key_id: keyId }, image.version, folders)
      await record(agent.id, { container_id: work.containerId, applied: JSON.stringify(applied) })
      await noteOrphans(folders)
    },

    start: ({ containerId }) => (containerId === null ? Promise.resolve() : containers.start(containerId)),
  }

  function networkOf({ egress_mode }: Agent): Promise<AgentsNetwork> {
    return networkFor(egress_mode) === 'closed' ? deps.openClosed() : containers.ensureNetwork()
  }

  async function record(agentId: string, patch: { container_id: string | null; applied: string | null }) {
    await db.atomically(async (tx) => {
      await agentStore(tx).update(agentId, patch)
      agentRecords.changed(tx, agentId)
    })
  }

  /** A publisher that was deleted meanwhile took its volume along: what was made anew is nobody's. */
  async function noteOrphans(folders: readonly FolderMount[]): Promise<void> {
    for (const { sourceId, volume } of folders) {
      if (await agentStore(db).byId(sourceId)) continue
      const leftover = { id: newId(), agent_id: sourceId, container_id: null, volumes: [volume] }
      await agentStore(db).addLeftover(leftover, timestamp(clock.now()))
    }
  }

  async function keyOf(agent: Agent): Promise<{ keyId: string | null; agentKey: string }> {
    const sealed = await agentStore(db).sealedKey(agent.id)
    const context = agentKeyContext(agent.id)
    if (sealed !== null) return { keyId: agent.agent_key_id, agentKey: vault.open(sealed, context) }
    // Only the system agent has none before its first start.
    const owner = await deps.systemOwner()
    if (!owner) throw new Fault('not_configured', 'The platform has no admin yet.')
    return db.atomically(async (tx) => {
      const wanted = { agentId: agent.id, ownerId: owner.id, name: `Agent ${agent.name}` }
      const { id, key } = await deps.keys.mintAgentKey(tx, { ...wanted, scope: 'system' })
      const patch = { agent_key_id: id, agent_key_sealed: vault.seal(key, context) }
      if (!(await agentStore(tx).update(agent.id, patch))) throw new Fault('agent_not_found')
      agentRecords.changed(tx, agent.id)
      return { keyId: id, agentKey: key }
    })
  }

  async function ensureImage(runtime: Runtime): Promise<void> {
    if (await images.isReady(runtime)) return
    const tell = (text: string) => log.info({ runtime }, text)
    await images.ensure(runtime, tell, AbortSignal.timeout(imageDeadlineMs))
  }

  /** A process that died between making and recording leaves a container under our name: it gives way. */
  async function createContainer(agent: Agent, spec: ContainerSpec): Promise<string> {
    try {
      return (await containers.create(spec)).id
    } catch (error) {
      if (!(error instanceof ContainerError && error.fault === 'name_taken')) throw error
      const present = (await containers.list()).find((state) => state.name === spec.name)
      const ownerId = present?.labels['roost.agent-id']
      if (!present || ownerId === undefined) throw error
      const owner = ownerId === agent.id ? null : await agentStore(db).byId(ownerId)
      if (owner) throw error
      await containers.remove(present.id)
      return (await containers.create(spec)).id
    }
  }

  async function seenOf(agent: Agent): Promise<Seen> {
    return agent.container_id === null ? null : containers.inspect(agent.container_id)
  }

  async function follow(todo: Step[], work: Work): Promise<void> {
    for (const step of todo) await executors[step](work)
  }

  async function startOnce(agent: Agent): Promise<BroughtUp> {
    const seen = await seenOf(agent)
    const folders = await deps.foldersFor(agent)
    const wanted = wantedFor(agent, images.tagFor(agent.runtime).version, folders)
    const reasons = recreateReasonsOf(agent.applied, wanted)
    const todo = plan({ desired: 'running', held: false, seen, reasons })
    const work: Work = { agent, containerId: seen?.id ?? null, graceSeconds: stopGraceSeconds, folders }
    const upTo = todo.filter((step) => step !== 'start')
    await follow(upTo, work)
    const at = clock.now()
    if (todo.includes('start')) await executors.start(work)
    return { steps: todo, reason: todo.includes('remove') ? (reasons[0] ?? null) : null, at, agent }
  }

  /** Ends with the range: an agent without a port has none that could be taken. */
  async function startOnFreePort(agent: Agent): Promise<BroughtUp> {
    const refused = new Set<number>()
    let present = agent
    for (;;) {
      try {
        const up = await startOnce(present)
        return refused.size === 0 ? up : { ...up, reason: 'ssh_port' }
      } catch (error) {
        if (!isPortTaken(error) || present.port === 0) throw error
        refused.add(present.port)
        const { name, port } = present
        log.warn({ agent: name, port }, "another program holds an agent's SSH port: it gets another one")
        // A published port is the container's for life.
        const now = await agentStore(db).byId(present.id)
        if (now) await takeAway(now)
        present = await ports.move(present.id, refused)
      }
    }
  }

  const takeAway = (agent: Agent) =>
    executors.remove({ agent, containerId: agent.container_id, graceSeconds: stopGraceSeconds, folders: [] })

  return {
    bringUp: startOnFreePort,

    async bringDown(agent, graceSeconds) {
      const seen = await seenOf(agent)
      const todo = plan({ desired: 'stopped', held: false, seen, mayRestart: true, reasons: [] })
      await follow(todo, { agent, containerId: seen?.id ?? null, graceSeconds, folders: [] })
    },

    takeAway,

    async clear(leftover) {
      const ids = leftover.container_id
        ? [leftover.container_id]
        : (await containers.list())
            .filter((state) => state.labels['roost.agent-id'] === leftover.agent_id)
            .map((state) => state.id)
      for (const id of ids) await containers.remove(id)
      for (const volume of leftover.volumes) await containers.removeVolume(volume)
    },
  }
}

function isPortTaken(error: unknown): boolean {
  return error instanceof ContainerError && error.fault === 'port_taken'
}
