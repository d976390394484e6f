import {
  type AvailableFolder,
  exposedPath,
  type FolderConsumer,
  mountPathOf,
  type SharedFolders,
} from '@roost/contracts/agents/folders'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Relation, SignedIn } from '../../identity/access/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { AgentAccess } from '../access/index.ts'
import { type FolderMount, readFolderMark, volumesOf } from '../lifecycle/index.ts'
import type { Edges } from '../permissions/index.ts'
import { type Agent, type AgentRecords, agentStore, requireAgent } from '../records/index.ts'
import { consumedBy, consumerOf, needsRestart, type Reader } from './rules.ts'
import { folderStore } from './store.ts'

/** A caller who views an agent, with the relation to it. */
export type Viewer = { caller: SignedIn; relation: Relation }

/** Missing or null fields stay unchanged. */
export type FoldersPatch = { expose_enabled?: boolean | null; consume_enabled?: boolean | null }

export type Folders = {
  of(agent: Agent, viewer: Viewer): Promise<SharedFolders>
  /** Missing fields stay unchanged. Throws `agent_not_found`. */
  change(agent: Agent, patch: FoldersPatch, viewer: Viewer): Promise<SharedFolders>
  available(agent: Agent, viewer: Viewer): Promise<AvailableFolder[]>
  consumers(agent: Agent, viewer: Viewer): Promise<FolderConsumer[]>
}

type Publishing = { db: Db; edges: Pick<Edges, 'targetsOf'> }

/** The folders that an agent would mount at a start now, sorted by publisher name. */
export function createFoldersFor({ db, edges }: Publishing) {
  return async (agent: Pick<Agent, 'id' | 'consume_folders'>): Promise<FolderMount[]> =>
    agent.consume_folders ? publishedTo({ db, edges }, agent.id) : []
}

/** Ignores whether the agent itself consumes folders. */
async function publishedTo({ db, edges }: Publishing, agentId: string): Promise<FolderMount[]> {
  const targets = await edges.targetsOf(agentId)
  const publishers = await folderStore(db).publishing([...targets])
  return publishers.map(({ id, name, volume_base }) => ({
    sourceId: id,
    name,
    volume: volumesOf({ volume_base }).shared,
  }))
}

export function createFolders(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'all' | 'byId' | 'changed'>
  events: Pick<Outbox, 'append'>
  edges: Pick<Edges, 'targetsOf' | 'sourcesOf'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
}): Folders {
  const { db, clock, agentRecords, events, edges, agentAccess } = deps
  const foldersFor = createFoldersFor(deps)

  /** Owners, admins and the agent's own key see all of its neighbours. */
  async function visibilityFor({ caller, relation }: Viewer): Promise<(agentId: string | null) => boolean> {
    if (relation === 'owner' || relation === 'admin' || relation === 'self') return () => true
    const ids = new Set((await agentAccess.accessibleAgents(caller)).map(({ agent }) => agent.id))
    return (agentId) => agentId !== null && ids.has(agentId)
  }

  async function of(agent: Agent, viewer: Viewer): Promise<SharedFolders> {
    const [desired, all, isShown] = await Promise.all([
      foldersFor(agent),
      agentRecords.all(),
      visibilityFor(viewer),
    ])
    const byVolume = new Map(all.map((other) => [volumesOf(other).shared, other]))
    const consumed_folders = consumedBy(readerOf(agent), desired).flatMap(({ volume, ...folder }) => {
      const source = byVolume.get(volume)
      if (!isShown(source?.id ?? null)) return []
      return [{ ...folder, source_agent: source?.name ?? folder.source_agent }]
    })
    return {
      agent_name: agent.name,
      expose_enabled: agent.expose_folder,
      consume_enabled: agent.consume_folders,
      exposed_volume: agent.expose_folder ? volumesOf(agent).shared : null,
      exposed_path: exposedPath,
      consumed_folders,
      restart_required: needsRestart(readerOf(agent), desired),
    }
  }

  return {
    of,

    async change(agent, { expose_enabled, consume_enabled }, viewer) {
      await db.atomically(async (tx) => {
        const store = agentStore(tx)
        // The lock gives concurrent changes a consistent `before`, so each event reports its own change.
        if (!(await store.lock(agent.id))) throw new Fault('agent_not_found')
        const before = await store.byId(agent.id)
        const expose = expose_enabled ?? before?.expose_folder
        const consume = consume_enabled ?? before?.consume_folders
        if (expose === before?.expose_folder && consume === before?.consume_folders) return
        await store.update(agent.id, { expose_folder: expose ? 1 : 0, consume_folders: consume ? 1 : 0 })
        const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
        await events.append(tx, { ...event, fields: { setting: 'folders' } }, clock.now())
        agentRecords.changed(tx, agent.id)
      })
      return of(await requireAgent(agentRecords, agent.id), viewer)
    },

    async available(agent, viewer) {
      const [folders, all, isShown] = await Promise.all([
        publishedTo({ db, edges }, agent.id),
        agentRecords.all(),
        visibilityFor(viewer),
      ])
      const statuses = new Map(all.map(({ id, status }) => [id, status]))
      return folders
        .filter(({ sourceId }) => isShown(sourceId))
        .map(({ sourceId, name, volume }) => ({
          source_agent: name,
          volume_name: volume,
          mount_path: mountPathOf(name),
          source_status: statuses.get(sourceId) ?? 'stopped',
        }))
    },

    async consumers(agent, viewer) {
      const [sources, all, isShown] = await Promise.all([
        edges.sourcesOf(agent.id),
        agentRecords.all(),
        visibilityFor(viewer),
      ])
      const publisher = { name: agent.name, volume: volumesOf(agent).shared }
      const readers = all.filter(({ id }) => id !== agent.id && isShown(id))
      const found = readers.map((reader) => {
        const mayRead = agent.expose_folder && reader.consume_folders && sources.includes(reader.id)
        return consumerOf(readerOf(reader), publisher, mayRead)
      })
      return found.filter((row) => row !== null).sort((a, b) => (a.agent_name < b.agent_name ? -1 : 1))
    },
  }
}

function readerOf({ name, status, applied }: Agent): Reader {
  return { name, status, made: (applied?.folders ?? []).map(readFolderMark) }
}
