import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Agent } from './agent.ts'
import { agentStore } from './store.ts'

const topic = 'agents.changed'
/** Upper bound for how long a change by another process stays unseen if the topic loses its message. */
const maxAgeMs = 15_000

/**
 * Caches every agent in memory. Exact in the process that makes a change: a read after the commit sees it.
 * Other processes are notified over a topic, and reload everything every 15 s while they are read.
 */
export type AgentRecords = {
  /** Agents visible to callers, newest first. Forks of attempts are found only by their id. */
  all(): Promise<readonly Agent[]>
  byName(name: string): Promise<Agent | null>
  byId(id: string): Promise<Agent | null>
  /** Includes agents that are still being created. */
  everyRow(): Promise<readonly Agent[]>
  /** Call this in the transaction that changes an agent. */
  changed(tx: Pick<Tx, 'onCommitted'>, agentId: string): void
  /** Marks agents that another process changed; they are reloaded before the next read. */
  markStale(agentIds: readonly string[]): void
  /** Grows with each visible change; a result cached for an older version is stale. */
  version(): Promise<number>
  /** Subscribes to changes by other processes. */
  open(): Promise<void>
  close(): Promise<void>
}

export type AgentRecordsDeps = {
  db: Db
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  clock: Pick<Clock, 'now'>
}

type Cache = {
  rows: readonly Agent[]
  ready: readonly Agent[]
  byName: Map<string, Agent>
  byId: Map<string, Agent>
}

export function createAgentRecords({ db, ephemeral, clock }: AgentRecordsDeps): AgentRecords {
  let cached: Cache | null = null
  let version = 0
  let loadedAt = 0
  let allStale = true
  const stale = new Set<string>()
  let loading: Promise<Cache> | null = null
  let loads = 0
  let reloading: Promise<void> = Promise.resolve()
  let subscription: { close(): Promise<void> } | null = null

  async function current(): Promise<Cache> {
    // Rows being reloaded count as stale until they have arrived.
    while (loading !== null || allStale || stale.size > 0 || cached === null) {
      loading ??= load().finally(() => {
        loading = null
      })
      await loading
    }
    if (clock.now().getTime() - loadedAt > maxAgeMs) reloadInBackground()
    return cached
  }

  /** Clears the marks before reading, so that changes during the read are read again. */
  async function load(): Promise<Cache> {
    const all = allStale || cached === null
    const ids = [...stale]
    loads += 1
    allStale = false
    stale.clear()
    try {
      const store = agentStore(db)
      if (all) {
        cached = index(await store.all())
        loadedAt = clock.now().getTime()
      } else {
        let rows = cached?.rows ?? []
        for (const id of ids) {
          const row = await store.byId(id)
          const others = rows.filter((agent) => agent.id !== id)
          rows = row ? sorted([...others, row]) : others
        }
        cached = index(rows)
      }
      version += 1
      return cached
    } catch (error) {
      if (all) allStale = true
      for (const id of ids) stale.add(id)
      throw error
    }
  }

  /** Reads continue from the cache; a failed reload keeps it and is retried after the next interval. */
  function reloadInBackground(): void {
    loadedAt = clock.now().getTime()
    const loadsAtStart = loads
    reloading = agentStore(db)
      .all()
      .then((rows) => {
        // A newer read finished meanwhile, so this one may be outdated.
        if (loads !== loadsAtStart || stale.size > 0 || allStale) return
        if (cached && sameRows(cached.rows, rows)) return
        cached = index(rows)
        version += 1
      })
      .catch(() => {})
  }

  return {
    all: async () => (await current()).ready,
    everyRow: async () => (await current()).rows,
    byName: async (name) => (await current()).byName.get(name) ?? null,
    byId: async (id) => (await current()).byId.get(id) ?? null,
    version: async () => {
      await current()
      return version
    },
    changed(tx, agentId) {
      tx.onCommitted(() => {
        stale.add(agentId)
        // Best effort: without the message, other processes reload when their cache expires.
        ephemeral.publish(topic, agentId).catch(() => {})
      })
    },
    markStale(agentIds) {
      for (const id of agentIds) stale.add(id)
    },
    async open() {
      subscription = await ephemeral.subscribe(
        topic,
        (agentId) => stale.add(agentId),
        () => {
          allStale = true
        },
      )
    },
    async close() {
      await subscription?.close()
      subscription = null
      await reloading
      await loading?.catch(() => {})
    },
  }
}

function index(rows: readonly Agent[]): Cache {
  const created = rows.filter((agent) => agent.state === 'ready')
  const ready = created.filter((agent) => agent.attempt_set_id === null)
  return {
    rows,
    ready,
    byName: new Map(ready.map((agent) => [agent.name, agent])),
    byId: new Map(created.map((agent) => [agent.id, agent])),
  }
}

function sorted(rows: readonly Agent[]): Agent[] {
  return rows.toSorted((a, b) => compare(b.created, a.created) || compare(a.id, b.id))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function sameRows(a: readonly Agent[], b: readonly Agent[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** The agent that the guard resolved just before; it may have been deleted since. */
export async function requireAgent(agentRecords: Pick<AgentRecords, 'byId'>, id: string): Promise<Agent> {
  const agent = await agentRecords.byId(id)
  if (!agent) throw new Fault('agent_not_found')
  return agent
}
