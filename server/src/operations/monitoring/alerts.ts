import type { AlertKind, PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { Alerts } from '../../foundation/alerts/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { AlertList } from '../operator-queue/index.ts'
import type { AgentCheck } from './check.ts'
import { rank } from './rules.ts'
import type { AgentHealthTable } from './tables.ts'

/** Alert kinds that monitoring raises and clears. */
export const monitoredKinds = ['agent_unhealthy', 'stuck_run', 'cost_limit'] as const satisfies AlertKind[]
type Kind = (typeof monitoredKinds)[number]

/** Desired alert of a kind for an agent, or for the platform; null: the alert must not be pending. */
type Desired = { agentId: string | null; kind: Kind; alert: Omit<PlatformAlert, 'agentId' | 'kind'> | null }

export function desiredAlerts(check: AgentCheck, before: AgentHealthTable | undefined): Desired[] {
  return [unhealthyAlert(check, before), stuckAlert(check)]
}

/** Needs two bad checks in a row: a container that is just busy or restarting raises no alert. */
function unhealthyAlert(
  { agent, state, judgement }: AgentCheck,
  before: AgentHealthTable | undefined,
): Desired {
  const about = { agentId: agent.id, kind: 'agent_unhealthy' as const }
  const isBad = (status: AgentHealthTable['status']) => rank(status) <= rank('unhealthy')
  // A crashing agent has the alert of its restart loop already.
  if (!isBad(judgement.status) || state.held || !before || !isBad(before.status))
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

function stuckAlert({ agent, state, stuckRun }: AgentCheck): Desired {
  const about = { agentId: agent.id, kind: 'stuck_run' as const }
  if (stuckRun === null) return { ...about, alert: null }
  return {
    ...about,
    alert: {
      title: `A run of the agent "${agent.name}" is silent`,
      question: 'Check its transcript, and terminate it if it hangs.',
      priority: 'medium',
      context: { execution_id: stuckRun, silent_runs: state.stuck },
      executionId: stuckRun,
    },
  }
}

const warningShare = 0.8

/** `limitUsd` 0: unlimited. */
export function costAlert(spentMicros: number, limitUsd: number): Desired {
  const about = { agentId: null, kind: 'cost_limit' as const }
  const spent = spentMicros / 1_000_000
  if (limitUsd === 0 || spent < limitUsd * warningShare) return { ...about, alert: null }
  const isReached = spent >= limitUsd
  return {
    ...about,
    alert: {
      title: isReached
        ? `Today's runs have cost the daily limit of ${limitUsd} USD`
        : `Today's runs have cost ${Math.round((spent / limitUsd) * 100)} % of the daily limit`,
      question: 'This does not stop any run. Check the costs by agent, and set spend caps where needed.',
      priority: isReached ? 'high' : 'medium',
      context: { spent_usd: spent, limit_usd: limitUsd },
    },
  }
}

type AlertStates = ReadonlyMap<Kind, Awaited<ReturnType<AlertList['statesOf']>>>

export type AlertChangesDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
  alertList: Pick<AlertList, 'statesOf'>
}

export function createAlertChanges({ db, clock, alerts, alertList }: AlertChangesDeps) {
  return {
    /** Alerts that are pending or were raised within the cooldown. */
    async states(cooldownSeconds: number): Promise<AlertStates> {
      const since = timestamp(secondsLater(clock.now(), -cooldownSeconds))
      const each = monitoredKinds.map(async (kind) => [kind, await alertList.statesOf(kind, since)] as const)
      return new Map(await Promise.all(each))
    },

    /** Raises and clears alerts whose state must change. Raises no resolved alert again within the cooldown. */
    async settle(tx: Tx, states: AlertStates, desired: readonly Desired[]): Promise<void> {
      for (const { agentId, kind, alert } of desired) {
        const before = states.get(kind)?.get(agentId)
        if (alert && (before === undefined || before === 'pending')) {
          await alerts.raise(tx, { ...alert, agentId, kind })
        } else if (!alert && before === 'pending') await alerts.clear(tx, agentId, kind)
      }
    },

    /** Calls `settle` in its own transaction, if there is anything to change. */
    async settleAlone(states: AlertStates, desired: Desired): Promise<void> {
      if (desired.alert || states.get(desired.kind)?.get(desired.agentId) === 'pending')
        await db.atomically((tx) => this.settle(tx, states, [desired]))
    },
  }
}
