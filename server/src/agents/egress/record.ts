import type { EgressEntry } from '@roost/contracts/agents/egress'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Target } from './rules.ts'
import { type Attempt, egressLogStore, egressStore } from './store.ts'

/**
 * Records agents' destinations in the background. Repeated attempts are combined, so each agent has at most
 * one write at a time.
 */
export type EgressRecord = {
  attempt(agentId: string, target: Target, outcome: Pick<EgressEntry, 'decision' | 'reason'>): void
  used(agentId: string, names: readonly string[]): void
  /** Resolves when everything recorded so far is written or has failed. */
  settled(): Promise<void>
}

type Use = { agentId: string; name: string; at: string }

/** Log rows kept per agent. */
export const maxLogEntries = 1000
/** Destinations waiting to be written; further new ones are dropped with a log message. */
const maxPendingDestinations = 2000

export function createRecord(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
}): EgressRecord {
  const { db, clock, log } = deps
  let attempts = new Map<string, Attempt>()
  let uses = new Map<string, Use>()
  let writing: Promise<void> | null = null

  function write(): void {
    writing ??= writeAll().finally(() => {
      writing = null
    })
  }

  async function writeAll(): Promise<void> {
    while (attempts.size + uses.size > 0) {
      const [pending, used] = [[...attempts.values()], [...uses.values()]]
      attempts = new Map()
      uses = new Map()
      const agents = new Set([
        ...pending.map(({ agent_id }) => agent_id),
        ...used.map(({ agentId }) => agentId),
      ])
      for (const agentId of agents)
        await writeOne(
          agentId,
          pending.filter(({ agent_id }) => agent_id === agentId),
          used.filter((use) => use.agentId === agentId).sort((a, b) => a.name.localeCompare(b.name)),
        )
    }
  }

  /** One transaction per agent, so that a failure affects only that agent. */
  async function writeOne(agentId: string, pending: Attempt[], used: Use[]): Promise<void> {
    try {
      await db.atomically(async (tx) => {
        // A fixed order prevents deadlocks between processes.
        pending.sort((a, b) => keyOf(a).localeCompare(keyOf(b)))
        for (const each of pending) await egressLogStore(tx).add(each)
        for (const { name, at } of used) await egressStore(tx).used(agentId, name, at)
        if (pending.length > 0) await egressLogStore(tx).trim(agentId, maxLogEntries)
      })
    } catch (error) {
      // Traffic continues without its record, for example after the agent was deleted.
      log.warn({ err: error, agent_id: agentId }, 'could not record the destinations of an agent')
    }
  }

  return {
    attempt(agent_id, { host, port }, { decision, reason }) {
      const at = timestamp(clock.now())
      const attempt: Attempt = { agent_id, host: host.slice(0, 253), port, decision, reason, count: 1, at }
      const key = keyOf(attempt)
      const before = attempts.get(key)
      if (!before && attempts.size >= maxPendingDestinations)
        return log.warn({ agent_id }, 'too many destinations at once')
      attempts.set(key, { ...attempt, count: (before?.count ?? 0) + 1 })
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

function keyOf({ agent_id, host, port, decision, reason }: Attempt): string {
  return [agent_id, host, port, decision, reason].join(' ')
}
