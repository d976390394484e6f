import { type Hello, principalsAbility } from '@roost/contracts/link/messages'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { RunContexts } from '../../agents/run-context/index.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Db } from '../../ports/database/port.ts'
import { queueStore } from '../executions/index.ts'

export type IsolationDeps = {
  db: Db
  runContexts: Pick<RunContexts, 'find' | 'principal'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
}

/**
 * Holds runs back from agent programs of releases up to 0.1.0: these run every turn as the workspace's own user, also
 * for people who share the agent. The process that has an agent's link knows the abilities of its program.
 */
export function createIsolation({ db, runContexts, alerts }: IsolationDeps) {
  const limited = new Set<string>()

  return {
    async hello(agentId: string, { abilities = [] }: Pick<Hello, 'abilities'>): Promise<void> {
      if (!abilities.includes(principalsAbility)) {
        limited.add(agentId)
        return
      }
      limited.delete(agentId)
      await db.atomically((tx) => alerts.clear(tx, agentId, 'program_outdated'))
    },

    /** The principals whose runs the agent may get now; null: all. */
    async allowed(agentId: string): Promise<ReadonlySet<string | null> | null> {
      if (!limited.has(agentId)) return null
      const allowed = new Set<string | null>()
      let held = 0
      for (const { principal, runs } of await queueStore(db).waitingPrincipals(agentId)) {
        const resolved = await runContexts.principal(agentId, principal ?? '')
        // An ended one is claimed too: its run is cancelled instead of being delivered.
        if ('ended' in resolved || resolved.access === 'owner') allowed.add(principal)
        else held += runs
      }
      const agent = held > 0 ? await runContexts.find(agentId) : null
      if (agent) await db.atomically((tx) => alerts.raise(tx, outdatedAlert(agent, held)))
      return allowed
    },
  }
}

function outdatedAlert(agent: { id: string; name: string }, held: number): PlatformAlert {
  return {
    agentId: agent.id,
    kind: 'program_outdated',
    priority: 'high',
    title: `"${agent.name}" must be restarted: ${held} ${held === 1 ? 'run waits' : 'runs wait'} for it`,
    question:
      'Its program is from an earlier version of Roost, which cannot separate people who share the agent. ' +
      'Runs of other people and agents wait. Restart the agent to start the present program; they then run.',
    context: { held_runs: held },
  }
}
