import type { AlertKind, PlatformAlert } from '@roost/contracts/operations/operator-queue'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Alerts } from '../operator-queue/index.ts'
import type { Looked } from './look.ts'
import { rank } from './rules.ts'
import type { AgentHealthTable } from './tables.ts'

/** What monitoring tells operators of, and takes back when it is over. */
export const monitoredKinds = ['agent_unhealthy', 'stuck_run', 'cost_limit'] as const satisfies AlertKind[]
type Kind = (typeof monitoredKinds)[number]

/** What is to be pending for an agent, or for the platform; null: nothing. */
type Wanted = { agentId: string | null; kind: Kind; alert: Omit<PlatformAlert, 'agentId' | 'kind'> | null }

export function wantedFor(looked: Looked, before: AgentHealthTable | undefined): Wanted[] {
  return [unhealthyAlert(looked, before), stuckAlert(looked)]
}

/** Told when two checks in a row found it: a container that is just busy or restarting is no alert. */
function unhealthyAlert({ agent, facts, judgement }: Looked, before: AgentHealthTable | undefined): Wanted {
  const about = { agentId: agent.id, kind: 'agent_unhealthy' as const }
  const isBad = (status: AgentHealthTable['status']) => rank(status) <= rank('unhealthy')
  // Of one that keeps ending, the alert of its restart loop tells.
  if (!isBad(judgement.status) || facts.held || !before || !isBad(before.status))
    return { ...about, alert: null }
  return {
    ...about,
    alert: {
      title: `The agent "${agent.name}" is ${judgement.status}`,
      question: judgement.issues.map(({ text, recommendation }) => `${text} ${recommendation}`).join('\n'),
      priority: judgement.status === 'critical' ? 'critical' : 'high',
      context: { status: judgement.status, issues: judgement.issues.map(({ text }) => text) },
    },
  }
}

function stuckAlert({ agent, facts, stuckRun }: Looked): Wanted {
  const about = { agentId: agent.id, kind: 'stuck_run' as const }
  if (stuckRun === null) return { ...about, alert: null }
  return {
    ...about,
    alert: {
      title: `A run of the agent "${agent.name}" is silent`,
      question: 'Look at its transcript, and terminate it if it hangs.',
      priority: 'medium',
      context: { execution_id: stuckRun, silent_runs: facts.stuck },
      executionId: stuckRun,
    },
  }
}

const earlyShare = 0.8

/** `limitUsd` 0: there is none. */
export function costAlert(spentMicros: number, limitUsd: number): Wanted {
  const about = { agentId: null, kind: 'cost_limit' as const }
  const spent = spentMicros / 1_000_000
  if (limitUsd === 0 || spent < limitUsd * earlyShare) return { ...about, alert: null }
  const isReached = spent >= limitUsd
  return {
    ...about,
    alert: {
      title: isReached
        ? `Today's runs have cost the daily limit of ${limitUsd} USD`
        : `Today's runs have cost ${Math.round((spent / limitUsd) * 100)} % of the daily limit`,
      question: 'Nothing is stopped by this. Look at the costs by agent, and set spend caps where it helps.',
      priority: isReached ? 'high' : 'medium',
      context: { spent_usd: spent, limit_usd: limitUsd },
    },
  }
}

type Told = ReadonlyMap<Kind, Awaited<ReturnType<Alerts['told']>>>

export function createTelling({ db, clock, alerts }: { db: Db; clock: Pick<Clock, 'now'>; alerts: Alerts }) {
  return {
    /** What is pending, or was told within the cooldown. */
    async told(cooldownSeconds: number): Promise<Told> {
      const since = timestamp(secondsLater(clock.now(), -cooldownSeconds))
      const each = monitoredKinds.map(async (kind) => [kind, await alerts.told(kind, since)] as const)
      return new Map(await Promise.all(each))
    },

    /** Raises and takes back what has changed; in the cooldown nothing is told anew. */
    async settle(tx: Tx, told: Told, wanted: readonly Wanted[]): Promise<void> {
      for (const { agentId, kind, alert } of wanted) {
        const before = told.get(kind)?.get(agentId)
        if (alert && (before === undefined || before === 'pending')) {
          await alerts.raiseAlert(tx, { ...alert, agentId, kind })
        } else if (!alert && before === 'pending') await alerts.clearAlert(tx, agentId, kind)
      }
    },

    /** The same in a transaction of its own, where there is anything to do. */
    async settleAlone(told: Told, wanted: Wanted): Promise<void> {
      if (wanted.alert || told.get(wanted.kind)?.get(wanted.agentId) === 'pending')
        await db.atomically((tx) => this.settle(tx, told, [wanted]))
    },
  }
}
