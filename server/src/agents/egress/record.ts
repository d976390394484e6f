import type { EgressEntry } from '@roost/contracts/agents/egress'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Target } from './rules.ts'
import { egressLogStore, egressStore, type Seen } from './store.ts'

/** Writes down where agents went, beside the traffic: a program that tries again and again costs one write at a time. */
export type EgressRecord = {
  attempt(agentId: string, target: Target, outcome: Pick<EgressEntry, 'decision' | 'reason'>): void
  used(agentId: string, names: readonly string[]): void
  /** Resolves when all that was noted so far is written, or could not be. */
  settled(): Promise<void>
}

type Use = { agentId: string; name: string; at: string }

/** Of one agent. */
export const mostEntries = 1000
/** Destinations that wait to be written; a flood of new ones above it is dropped, and said in the log. */
const mostPending = 2000

export function createRecord(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
}): EgressRecord {
  const { db, clock, log } = deps
  let attempts = new Map<string, Seen>()
  let uses = new Map<string, Use>()
  let writing: Promise<void> | null = null

  function write(): void {
    writing ??= writeAll().finally(() => {
      writing = null
    })
  }

  async function writeAll(): Promise<void> {
    while (attempts.size + uses.size > 0) {
      const [seen, used] = [[...attempts.values()], [...uses.values()]]
      attempts = new Map()
      uses = new Map()
      const agents = new Set([...seen.map(({ agent_id }) => agent_id), ...used.map(({ agentId }) => agentId)])
      for (const agentId of agents)
        await writeOne(
          agentId,
          seen.filter(({ agent_id }) => agent_id === agentId),
          used.filter((use) => use.agentId === agentId).sort((a, b) => a.name.localeCompare(b.name)),
        )
    }
  }

  /** Of one agent: what cannot be written of it is no loss for the others. */
  async function writeOne(agentId: string, seen: Seen[], used: Use[]): Promise<void> {
    try {
      await db.atomically(async (tx) => {
        // In one order everywhere: two processes that meet must not wait for each other.
        seen.sort((a, b) => keyOf(a).localeCompare(keyOf(b)))
        for (const each of seen) await egressLogStore(tx).add(each)
        for (const { name, at } of used) await egressStore(tx).used(agentId, name, at)
        if (seen.length > 0) await egressLogStore(tx).trim(agentId, mostEntries)
      })
    } catch (error) {
      // Traffic goes on without its record: an agent that was deleted meanwhile has none to be kept either.
      log.warn({ err: error, agent_id: agentId }, 'where an agent went could not be written down')
    }
  }

  return {
    attempt(agent_id, { host, port }, { decision, reason }) {
      const at = timestamp(clock.now())
      const seen: Seen = { agent_id, host: host.slice(0, 253), port, decision, reason, count: 1, at }
      const key = keyOf(seen)
      const before = attempts.get(key)
      if (!before && attempts.size >= mostPending)
        return log.warn({ agent_id }, 'too many destinations at once')
      attempts.set(key, { ...seen, count: (before?.count ?? 0) + 1 })
      write()
    },
    used(agentId, names) {
      const at = timestamp(clock.now())
      for (const name of names) uses.set(`${agentId} ${name}`, { agentId, name, at })
      if (names.length > 0) write()
    },
    settled: async () => {
      while (writing) await writing
    },
  }
}

function keyOf({ agent_id, host, port, decision, reason }: Seen): string {
  return [agent_id, host, port, decision, reason].join(' ')
}
