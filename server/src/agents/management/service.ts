import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { Loop } from '../../background/loops.ts'
import type { Relation, SignedIn } from '../../identity/access/index.ts'
import { createCache } from '../../kit/cache.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Containers } from '../../ports/containers/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { AgentAccess } from '../access/index.ts'
import type { Disk } from '../disk/index.ts'
import type { Health } from '../health/index.ts'
import { isolationOf, type Lifecycle } from '../lifecycle/index.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import { type CreateDeps, createCreate } from './create.ts'
import { createDescribe, type DescribeDeps } from './describe.ts'
import { type AgentList, type AgentListDeps, createAgentList } from './list.ts'
import { createRemove, type RemoveDeps } from './remove.ts'
import { createRename, type Renamed } from './rename.ts'
import { distinct, tagChange } from './rules.ts'
import { detailsOf } from './view.ts'

export type AgentManagement = {
  create: ReturnType<typeof createCreate>
  list: AgentList
  details(agent: Agent, caller: SignedIn, relation: Relation): Promise<AgentDetails>
  remove(agentId: string): Promise<{ message: string }>
  /** Throws `agent_not_found` if the agent no longer has this name. */
  rename(agent: Pick<Agent, 'id' | 'name'>, newName: string): Promise<Renamed>
  setLabel(agent: Agent, label: string | null): Promise<void>
  /** `change` receives the current tags; returns the new ones. */
  changeTags(
    agent: Agent,
    caller: SignedIn,
    change: (tags: readonly string[]) => readonly string[],
  ): Promise<string[]>
  describe: ReturnType<typeof createDescribe>
  /** The agent's own description; null without one. */
  descriptionOf: ReturnType<typeof createDescriptionOf>
  loops: Loop[]
}

export type AgentManagementDeps = CreateDeps &
  RemoveDeps &
  DescribeDeps &
  AgentListDeps & {
    log: Log
    agentRecords: AgentRecords
    agentAccess: Pick<AgentAccess, 'accessibleAgents' | 'relationTo'>
    containers: Pick<Containers, 'isolation'>
    health: Pick<Health, 'forget' | 'heartbeatOf'>
    disk: Pick<Disk, 'forget' | 'usage'>
    lifecycle: Lifecycle
    /** Whether either breaker of the agent is open. */
    isBreakerOpen(agent: Agent): Promise<boolean>
    /** Number of finished executions, for ephemeral agents. */
    finishedExecutions(agentId: string): Promise<number>
  }

export function createAgentManagement(deps: AgentManagementDeps): AgentManagement {
  const { db, clock, log, agentRecords, events, health, disk, lifecycle, containers } = deps
  const remove = createRemove(deps)
  const describe = createDescribe(deps)

  /** Deletes ephemeral agents that have reached one of their limits. */
  async function sweepEphemeral(signal: AbortSignal): Promise<void> {
    const now = clock.now().getTime()
    for (const { id, name, created, ephemeral } of await agentRecords.all()) {
      if (!ephemeral || signal.aborted) continue
      const isExpired =
        now >= Date.parse(created) + ephemeral.ttl_seconds * 1000 ||
        (await deps.finishedExecutions(id)) >= ephemeral.max_executions
      if (!isExpired) continue
      log.info({ agent: name }, 'deleting an ephemeral agent that reached its limit')
      await remove(id).catch((error: unknown) =>
        log.warn({ err: error, agent: name }, 'could not delete an ephemeral agent; will retry'),
      )
    }
  }

  async function originOf({ forked_from }: Agent, caller: SignedIn): Promise<Agent | null> {
    const source = forked_from && (await agentRecords.byId(forked_from.agent_id))
    return source && (await deps.agentAccess.relationTo(caller, source)) ? source : null
  }

  async function appendChange(
    tx: Tx,
    agent: Agent,
    type: string,
    fields: Record<string, unknown>,
  ): Promise<void> {
    const event = { type, agent_names: [agent.name], agent_ids: [agent.id], fields }
    await events.append(tx, event, clock.now())
    agentRecords.changed(tx, agent.id)
  }

  return {
    create: createCreate(deps),
    list: createAgentList(deps),
    remove,
    rename: createRename(deps),
    describe,
    descriptionOf: createDescriptionOf({ ...deps, describe }),

    async details(agent, caller, relation) {
      return detailsOf(agent, {
        caller,
        relation,
        reasons: await lifecycle.recreateReasons(agent),
        heartbeat: health.heartbeatOf(agent.id),
        disk: await disk.usage(agent),
        breakerOpen: await deps.isBreakerOpen(agent),
        isolation: isolationOf(agent, lifecycle.runtimePolicy(), containers.isolation),
        origin: await originOf(agent, caller),
      })
    },

    async setLabel(agent, label) {
      await db.atomically(async (tx) => {
        await agentStore(tx).update(agent.id, { label })
        await appendChange(tx, agent, 'agent.label_changed', { label })
      })
    },

    changeTags: (agent, caller, change) =>
      db.atomically(async (tx) => {
        const store = agentStore(tx)
        const before = await store.tagsOf(agent.id)
        const after = distinct(change(before))
        const { added, removed } = tagChange(caller, before, after)
        if (added.length + removed.length === 0) return before
        await store.addTags(agent.id, added)
        await store.removeTags(agent.id, removed)
        await appendChange(tx, agent, 'agent.tags_changed', {})
        return after
      }),

    loops: [{ name: 'agents.ephemeral', everySeconds: 15, run: sweepEphemeral, deadlineSeconds: 120 }],
  }
}

type DescriptionDeps = {
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'debug'>
  agentRecords: Pick<AgentRecords, 'byId'>
  describe: Pick<ReturnType<typeof createDescribe>, 'workspace'>
}

/** Anonymous visitors can trigger this, and each load makes the agent read files. */
const descriptionCache = { maxAgeSeconds: 60, maxEntries: 500 }
/** Upper bound for how long a page waits for a busy agent. */
const maxDescriptionWaitMs = 2000

/**
 * An agent's description from its `template.yaml`: the one in its workspace, else that of its template. Null
 * if both are empty.
 */
function createDescriptionOf({ clock, log, agentRecords, describe }: DescriptionDeps) {
  const cache = createCache<{ text: string | null }>({
    clock,
    ...descriptionCache,
    async load(agentId) {
      const agent = await agentRecords.byId(agentId)
      if (!agent) return null
      try {
        const { template } = await describe.workspace(agent, AbortSignal.timeout(maxDescriptionWaitMs))
        return { text: template?.file.description.trim() || null }
      } catch (error) {
        // Fails open: the agent is usable without a description.
        log.debug({ err: error, agent_id: agentId }, 'could not load the description of an agent')
        return { text: null }
      }
    },
  })
  return async ({ id }: Pick<Agent, 'id'>): Promise<string | null> => (await cache.get(id))?.text ?? null
}
