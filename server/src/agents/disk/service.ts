import type { AgentDisk, DiskReport, DiskUsage } from '@roost/contracts/agents/disk'
import type { Loop } from '../../background/loops.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Containers, DiskFigures } from '../../ports/containers/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type EngineIdentity, volumesOf } from '../lifecycle/index.ts'
import { type Agent, type AgentRecords, agentStore, requireAgent } from '../records/index.ts'
import { type Figures, hasChanged, quotaAlert, quotaOf, stateOf, usedBytes, workspaceBytes } from './rules.ts'
import { type DiskRow, diskStore, unmeasured } from './store.ts'

export type DiskDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  agentRecords: Pick<AgentRecords, 'all' | 'byId' | 'everyRow' | 'changed'>
  events: Pick<Outbox, 'append'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
  link: Pick<AgentLink, 'wake'>
  containers: Pick<Containers, 'diskFigures'>
  engine: Pick<EngineIdentity, 'known'>
  /** Quota of agents without their own; 0 means unlimited. */
  defaultDiskQuota(): number
  /** Shortest time between two measurements. */
  diskSeconds: number
}

export type Disk = {
  view(agent: Agent): Promise<AgentDisk>
  usage(agent: Agent): Promise<DiskUsage>
  /** The quota of an agent with this own one; 0 means unlimited. */
  quotaFor(ownBytes: number | null): number
  /** Every agent by name, in one query. */
  usages(): Promise<ReadonlyMap<string, DiskUsage>>
  /** Null: the default applies. Takes effect immediately. */
  setQuota(agent: Agent, quotaBytes: number | null): Promise<AgentDisk>
  /** The agent's program has measured its volumes. */
  reported(agentId: string, bytes: number): Promise<void>
  /** The agent has connected to this process; another one may have stored newer figures. */
  connected(agentId: string): void
  forget(agentId: string): void
  /** Agents close to their quota, for operators. */
  report(): Promise<DiskReport>
  loops: Loop[]
}

/** The engine reads every file of every agent, so it may spend at most this share of the time on it. */
const engineShare = 1 / 20
/** A walk over the volumes of a large installation takes minutes. */
const engineMaxSeconds = 1800

export function createDisk(deps: DiskDeps): Disk {
  const { db, clock, log, agentRecords, events, alerts, link, containers } = deps
  /** What this process knows to be stored, so that an unchanged report costs no query. */
  const stored = new Map<string, DiskRow>()
  let nextEngineAt = 0

  function usageOf(agent: Pick<Agent, 'disk_quota_bytes'>, figures: Figures): DiskUsage {
    const amounts = {
      used_bytes: usedBytes(figures),
      quota_bytes: quotaOf(agent, deps.defaultDiskQuota()),
    }
    return { ...amounts, state: stateOf(amounts) }
  }

  /** Stores figures, and moves the agent's state with its alert in the same transaction. */
  async function record(agentId: string, patch: Partial<Figures>): Promise<void> {
    const row = await db.atomically(async (tx) => {
      // Concurrent measurements take turns, so that the later one sees the figures of both.
      if (!(await agentStore(tx).lock(agentId))) return null
      if (Object.keys(patch).length > 0) await diskStore(tx).put(agentId, patch, timestamp(clock.now()))
      const figures = await diskStore(tx).of(agentId)
      const agent = await agentStore(tx).byId(agentId)
      if (agent) await settle(tx, agent, figures)
      return figures
    })
    if (row) stored.set(agentId, row)
  }

  async function settle(tx: Tx, agent: Agent, figures: Figures): Promise<void> {
    const usage = usageOf(agent, figures)
    const { id, disk_state: before } = agent
    if (usage.state === before) return
    if (!(await agentStore(tx).move(id, { diskState: before }, { disk_state: usage.state }))) return
    if (usage.state === 'ok') await alerts.clear(tx, id, 'disk_quota')
    else await alerts.raise(tx, quotaAlert(agent, usage))
    await announce(tx, agent)
    // Runs may be waiting for room.
    if (before === 'full') tx.onCommitted(() => link.wake(id))
  }

  async function announce(tx: Tx, { id, name }: Agent): Promise<void> {
    const event = { type: 'agent.settings_changed', agent_names: [name], agent_ids: [id] }
    await events.append(tx, { ...event, fields: { setting: 'disk' } }, clock.now())
    agentRecords.changed(tx, id)
  }

  async function view(agent: Agent): Promise<AgentDisk> {
    const figures = await diskStore(db).of(agent.id)
    return {
      agent_name: agent.name,
      ...usageOf(agent, figures),
      workspace_bytes: workspaceBytes(figures),
      container_bytes: figures.container_bytes,
      own_quota_bytes: agent.disk_quota_bytes,
      default_quota_bytes: deps.defaultDiskQuota(),
      measured_at: figures.measured_at,
    }
  }

  /** Returns null when it is too early, or when the engine cannot measure now. */
  async function askEngine(signal: AbortSignal): Promise<DiskFigures | null> {
    const begin = clock.now().getTime()
    if (begin < nextEngineAt) return null
    try {
      return await containers.diskFigures(signal)
    } catch (error) {
      log.warn({ err: error }, 'the engine did not report disk usage; agents still report their own')
      return null
    } finally {
      const end = clock.now().getTime()
      nextEngineAt = end + (end - begin) / engineShare
    }
  }

  async function measureAll(signal: AbortSignal): Promise<void> {
    const measured = await askEngine(signal)
    const rows = await diskStore(db).all()
    // Forks of attempts have quotas too.
    const agents = (await agentRecords.everyRow()).filter(({ state }) => state === 'ready')
    for (const agent of agents) {
      if (signal.aborted) return
      const before = rows.get(agent.id) ?? unmeasured
      // The engine of a reader has an empty copy of the shared volume.
      const isHere = agent.engine_id === deps.engine.known()
      const patch = measured && isHere ? changesOf(before, engineFigures(agent, measured)) : {}
      const isDue = usageOf(agent, { ...before, ...patch }).state !== agent.disk_state
      if (Object.keys(patch).length > 0 || isDue) await record(agent.id, patch)
    }
  }

  return {
    view,
    quotaFor: (disk_quota_bytes) => quotaOf({ disk_quota_bytes }, deps.defaultDiskQuota()),
    usage: async (agent) => usageOf(agent, await diskStore(db).of(agent.id)),
    async usages() {
      const [agents, rows] = await Promise.all([agentRecords.all(), diskStore(db).all()])
      return new Map(agents.map((agent) => [agent.name, usageOf(agent, rows.get(agent.id) ?? unmeasured)]))
    },

    async setQuota(agent, quotaBytes) {
      await db.atomically(async (tx) => {
        const store = agentStore(tx)
        if (!(await store.lock(agent.id))) throw new Fault('agent_not_found')
        await store.update(agent.id, { disk_quota_bytes: quotaBytes })
        const changed = await store.byId(agent.id)
        if (!changed) throw new Fault('agent_not_found')
        await announce(tx, changed)
        await settle(tx, changed, await diskStore(tx).of(agent.id))
      })
      return view(await requireAgent(agentRecords, agent.id))
    },

    async reported(agentId, bytes) {
      const agent = (await agentRecords.everyRow()).find(({ id }) => id === agentId)
      if (!agent) return
      const known = stored.get(agentId)
      const isSame = known && !hasChanged(known.reported_bytes, bytes)
      if (isSame && usageOf(agent, { ...known, reported_bytes: bytes }).state === agent.disk_state) return
      await record(agentId, { reported_bytes: bytes })
    },

    connected: (agentId) => void stored.delete(agentId),
    forget: (agentId) => void stored.delete(agentId),

    async report() {
      const [agents, rows] = await Promise.all([agentRecords.all(), diskStore(db).all()])
      const namesIn = (state: string) =>
        agents.filter(({ disk_state }) => disk_state === state).map(({ name }) => name)
      const measured = agents.filter(({ id }) => rows.has(id)).length
      return { agents: agents.length, measured, low: namesIn('low'), full: namesIn('full') }
    },

    loops: [
      {
        name: 'agents.disk',
        everySeconds: deps.diskSeconds,
        per: 'engine',
        run: measureAll,
        deadlineSeconds: engineMaxSeconds,
      },
    ],
  }
}

/** The engine's figures of one agent. What it does not report stays as it is. */
function engineFigures(
  agent: Pick<Agent, 'volume_base' | 'container_id'>,
  { volumes, containers }: DiskFigures,
): Partial<Figures> {
  const own = Object.values(volumesOf(agent)).flatMap((name) => volumes.get(name) ?? [])
  const layer = agent.container_id === null ? 0 : containers.get(agent.container_id)
  return {
    ...(own.length > 0 ? { volume_bytes: own.reduce((sum, bytes) => sum + bytes, 0) } : {}),
    ...(layer === undefined ? {} : { container_bytes: layer }),
  }
}

function changesOf(before: Figures, next: Partial<Figures>): Partial<Figures> {
  const keys = Object.keys(next) as (keyof Figures)[]
  return Object.fromEntries(
    keys.filter((key) => hasChanged(before[key], next[key] ?? null)).map((key) => [key, next[key] ?? null]),
  )
}
