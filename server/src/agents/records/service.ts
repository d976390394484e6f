import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Agent } from './agent.ts'
import { agentStore } from './store.ts'

const topic = 'agents.changed'
/** A change made elsewhere is seen after this long at the latest, should the topic have lost its message. */
const maxAgeMs = 15_000

/**
 * Every agent, in memory. Exact in the process that makes a change: a read after the commit sees it.
 * Other processes hear of it over a topic, and read everything anew every 15 s while they are asked.
 */
export type AgentRecords = {
  /** Agents that exist for callers, the newest first. */
  all(): Promise<readonly Agent[]>
  byName(name: string): Promise<Agent | null>
  byId(id: string): Promise<Agent | null>
  /** Also those that are still being created. */
  everyRow(): Promise<readonly Agent[]>
  /** Call it in the transaction that changes an agent. */
  changed(tx: Pick<Tx, 'onCommitted'>, agentId: string): void
  /** Others have told of a change of these agents: they are read anew before the next answer. */
  heard(agentIds: readonly string[]): void
  /** Grows with each change that a reader can see; a cached answer of an older version is stale. */
  version(): Promise<number>
  /** Listens for changes of other processes. */
  open(): Promise<void>
  close(): Promise<void>
}

export type AgentRecordsDeps = {
  db: Db
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  clock: Pick<Clock, 'now'>
}

type Held = {
  rows: readonly Agent[]
  ready: readonly Agent[]
  byName: Map<string, Agent>
  byId: Map<string, Agent>
}

export function createAgentRecords({ db, ephemeral, clock }: AgentRecordsDeps): AgentRecords {
  let held: Held | null = null
  let version = 0
  let loadedAt = 0
  let everythingIsOld = true
  const old = new Set<string>()
  let loading: Promise<Held> | null = null
  let loads = 0
  let reloading: Promise<void> = Promise.resolve()
  let subscription: { close(): Promise<void> } | null = null

  async function current(): Promise<Held> {
    // What is being read anew counts as old until it is there.
    while (loading !== null || everythingIsOld || old.size > 0 || held === null) {
      loading ??= load().finally(() => {
        loading = null
      })
      await loading
    }
    if (clock.now().getTime() - loadedAt > maxAgeMs) reloadBehind()
    return held
  }

  /** Takes the marks first: what is marked while it reads is read again. */
  async function load(): Promise<Held> {
    const all = everythingIsOld || held === null
    const ids = [...old]
    loads += 1
    everythingIsOld = false
    old.clear()
    try {
      const store = agentStore(db)
      if (all) {
        held = index(await store.all())
        loadedAt = clock.now().getTime()
      } else {
        let rows = held?.rows ?? []
        for (const id of ids) {
          const row = await store.byId(id)
          const others = rows.filter((agent) => agent.id !== id)
          rows = row ? sorted([...others, row]) : others
        }
        held = index(rows)
      }
      version += 1
      return held
    } catch (error) {
      if (all) everythingIsOld = true
      for (const id of ids) old.add(id)
      throw error
    }
  }

  /** Answers go on from what is there; a failure leaves it and is tried again after the next interval. */
  function reloadBehind(): void {
    loadedAt = clock.now().getTime()
    const before = loads
    reloading = agentStore(db)
      .all()
      .then((rows) => {
        // Something newer was read meanwhile: what came now may be older.
        if (loads !== before || old.size > 0 || everythingIsOld) return
        if (held && sameRows(held.rows, rows)) return
        held = index(rows)
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
        old.add(agentId)
        // Fails open: other processes then learn of it by age.
        ephemeral.publish(topic, agentId).catch(() => {})
      })
    },
    heard(agentIds) {
      for (const id of agentIds) old.add(id)
    },
    async open() {
      subscription = await ephemeral.subscribe(
        topic,
        (agentId) => old.add(agentId),
        () => {
          everythingIsOld = true
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

function index(rows: readonly Agent[]): Held {
  const ready = rows.filter((agent) => agent.state === 'ready')
  return {
    rows,
    ready,
    byName: new Map(ready.map((agent) => [agent.name, agent])),
    byId: new Map(ready.map((agent) => [agent.id, agent])),
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

/** The agent that the guard reached a moment ago; it may be gone meanwhile. */
export async function requireAgent(agentRecords: Pick<AgentRecords, 'byId'>, id: string): Promise<Agent> {
  const agent = await agentRecords.byId(id)
  if (!agent) throw new Fault('agent_not_found')
  return agent
}
