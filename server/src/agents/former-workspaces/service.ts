import type { FormerList, FormerWorkspace } from '@roost/contracts/agents/former-workspaces'
import type { Alerts } from '../../foundation/alerts/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import { ContainerError, type Containers } from '../../ports/containers/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type HistorySettingsRow, historyStore, type RestoreService } from '../history/index.ts'
import { type EngineIdentity, type Lock, volumesOf } from '../lifecycle/index.ts'
import { type ReplaceKeyDeps, replaceKey } from '../own-key/index.ts'
import { type Agent, type AgentRecords, agentStore, blankRow } from '../records/index.ts'
import { formerWorkspaceStore } from './store.ts'
import type { FormerWorkspaceRow } from './tables.ts'

export type FormerWorkspaces = {
  list(agentId: string): Promise<FormerList>
  /** Throws `not_found`, and `conflict` for an agent that is not stopped or a container that may still run. */
  use(agentId: string, id: string): Promise<FormerList>
  /** Throws `not_found`. */
  discard(agentId: string, id: string): Promise<FormerList>
  /** Whether the owner allows the agent to continue from its latest record, and there is one. */
  isAllowed(agent: Agent): Promise<boolean>
  /** Gives an agent of a lost node new volumes and a new key. Returns false if that is not allowed any more. */
  open(tx: Tx, agent: Agent): Promise<boolean>
  /** Removes containers of former workspaces whose nodes answer again. */
  clear(): Promise<void>
  /** The agent is being deleted: its former volumes are removed with it. */
  forget(tx: Tx, agent: Agent): Promise<void>
}

export type FormerWorkspacesDeps = ReplaceKeyDeps & {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
  agentRecords: Pick<AgentRecords, 'changed'>
  link: Pick<AgentLink, 'disconnect'>
  containers: Pick<Containers, 'remove'>
  engine: Pick<EngineIdentity, 'read'>
  lock: Pick<Lock, 'run'>
  restores: Pick<RestoreService, 'fillNew' | 'workspaceReplaced' | 'filling'>
}

export function createFormerWorkspaces(deps: FormerWorkspacesDeps): FormerWorkspaces {
  const { db, clock, log, alerts, restores } = deps

  async function list(agentId: string): Promise<FormerList> {
    const rows = await formerWorkspaceStore(db).ofAgent(agentId)
    return { workspaces: rows.map(viewOf), filling: await restores.filling(agentId) }
  }

  /** Puts the agent's present workspace among the former ones. */
  async function leave(tx: Tx, agent: Agent, recordId: string | null): Promise<void> {
    await formerWorkspaceStore(tx).insert({
      ...{ id: newId(), agent_id: agent.id, volume_base: agent.volume_base, engine_id: agent.engine_id },
      container_id: agent.container_id ?? noContainer,
      ...{ has_container: agent.container_id === null ? 0 : 1, record_id: recordId },
      left_at: timestamp(clock.now()),
    })
  }

  async function moveTo(tx: Tx, agent: Agent, volumeBase: string): Promise<void> {
    const patch = { volume_base: volumeBase, container_id: null, applied: null, waiting: null }
    if (!(await agentStore(tx).update(agent.id, patch))) throw new Fault('agent_not_found')
    deps.agentRecords.changed(tx, agent.id)
  }

  /** The lost container may still run, so its key ends. */
  async function renewKey(tx: Tx, agent: Agent): Promise<void> {
    await replaceKey(deps, tx, agent)
    // A connection that outlasted a cut network was opened with the old key.
    tx.onCommitted(() => deps.link.disconnect(agent.id))
  }

  async function clearAlert(tx: Tx, agentId: string): Promise<void> {
    const left = await formerWorkspaceStore(tx).ofAgent(agentId)
    if (left.length === 0) await alerts.clear(tx, agentId, 'workspace_replaced')
  }

  async function removeContainer(row: FormerWorkspaceRow): Promise<void> {
    try {
      await deps.containers.remove(row.container_id)
    } catch (error) {
      // The node ends the container when it returns.
      if (error instanceof ContainerError && error.fault === 'node_lost') return
      log.warn(
        { err: error, agent_id: row.agent_id },
        'could not yet remove the container of a former workspace',
      )
      return
    }
    await formerWorkspaceStore(db).containerRemoved(row.id)
  }

  return {
    list,

    use: (agentId, id) =>
      deps.lock.run(agentId, async () => {
        await db.atomically(async (tx) => {
          const former = await formerWorkspaceStore(tx).byId(agentId, id)
          if (!former) throw new Fault('not_found')
          const agent = await agentStore(tx).byId(agentId)
          if (agent?.state !== 'ready') throw new Fault('agent_not_found')
          if (agent.desired !== 'stopped' || agent.status === 'running')
            throw new Fault('conflict', `Stop agent ${agent.name} first.`)
          if (former.has_container === 1)
            throw new Fault('conflict', 'A container on a lost node may still write to this workspace.')
          // A request that discards it may have removed it meanwhile.
          if (!(await formerWorkspaceStore(tx).remove(id))) throw new Fault('not_found')
          await leave(tx, agent, null)
          await moveTo(tx, agent, former.volume_base)
          await restores.workspaceReplaced(tx, agentId)
          // The owner has decided.
          await alerts.clear(tx, agentId, 'workspace_replaced')
        })
        for (const row of await formerWorkspaceStore(db).ofAgent(agentId))
          if (row.has_container === 1) await removeContainer(row)
        return list(agentId)
      }),

    async discard(agentId, id) {
      await db.atomically(async (tx) => {
        const former = await formerWorkspaceStore(tx).byId(agentId, id)
        if (!former || !(await formerWorkspaceStore(tx).remove(id))) throw new Fault('not_found')
        await agentStore(tx).addLeftover(leftoverOf(former), timestamp(clock.now()))
        await clearAlert(tx, agentId)
      })
      return list(agentId)
    },

    async isAllowed({ id, is_system }) {
      const store = historyStore(db)
      if (is_system || !mayStart(await store.settings(id))) return false
      return (await store.latest(id)) !== null
    },

    async open(tx, agent) {
      if (!mayStart(await historyStore(tx).settings(agent.id))) return false
      const record = await restores.fillNew(tx, agent.id)
      if (!record) return false
      await leave(tx, agent, record.id)
      await moveTo(tx, agent, blankRow(agent.name, agent.created).volume_base)
      await renewKey(tx, agent)
      await alerts.raise(tx, {
        agentId: agent.id,
        kind: 'workspace_replaced',
        title: `The agent "${agent.name}" continues from a record, because its node is lost`,
        question: `It was started elsewhere with the files of ${record.created_at}. What was written later is in its former workspace. When the node is back, decide under History which of the two stays.`,
        priority: 'high',
        context: { record: record.id, record_at: record.created_at },
      })
      log.warn(
        { agent: agent.name, record: record.id },
        'an agent of a lost node continues from its latest record',
      )
      return true
    },

    async clear() {
      const rows = await formerWorkspaceStore(db).withContainer()
      if (rows.length === 0) return
      const own = await deps.engine.read()
      for (const row of rows) if (row.engine_id === null || row.engine_id === own) await removeContainer(row)
    },

    async forget(tx, agent) {
      const store = formerWorkspaceStore(tx)
      for (const row of await store.ofAgent(agent.id)) {
        await agentStore(tx).addLeftover(leftoverOf(row), timestamp(clock.now()))
        await store.remove(row.id)
      }
    },
  }
}

/** Without records of its runs, the latest record may be old. */
function mayStart(settings: HistorySettingsRow | null): boolean {
  return settings?.is_on === 1 && settings.start_from_record === 1
}

/** No engine has a container with this id. */
const noContainer = 'none-of-this-agent'

/** Names the container: without one, the agent's present container would count as left. */
const leftoverOf = ({ agent_id, container_id, engine_id, volume_base }: FormerWorkspaceRow) => ({
  ...{ id: newId(), agent_id, container_id, engine_id },
  volumes: Object.values(volumesOf({ volume_base })),
})

const viewOf = ({ id, left_at, record_id, has_container }: FormerWorkspaceRow): FormerWorkspace => ({
  ...{ id, left_at, record: record_id, available: has_container === 0 },
})
