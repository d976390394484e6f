import type { Agent } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type AlertChangesDeps, costAlert, createAlertChanges, desiredAlerts } from './alerts.ts'
import type { AgentCheck, CheckAgents, CheckDeps } from './check.ts'
import { runFiguresStore } from './runs-store.ts'
import { checkStore } from './store.ts'
import type { AgentHealthTable } from './tables.ts'

export type RoundDeps = AlertChangesDeps & {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  checkAgents: CheckAgents
  allAgents(): Promise<readonly Agent[]>
  config: CheckDeps['config']
  /** Daily cost in US dollars from which an alert is raised; 0: none. */
  dailyLimit(): number
}

export type Rounds = {
  /** Checks these agents, stores the results, and sends events and alerts about changes. */
  check(agents: readonly Agent[]): Promise<AgentCheck[]>
  loop: Loop
}

/** The loop runs more often than the interval, because the interval can change at any time. */
const loopSeconds = 10
/** Agents per transaction. */
const batchSize = 100

export function createRounds(deps: RoundDeps): Rounds {
  const { db, clock, events } = deps
  const alertChanges = createAlertChanges(deps)
  let lastRoundAt = Number.NEGATIVE_INFINITY

  async function check(agents: readonly Agent[]): Promise<AgentCheck[]> {
    const checks = await deps.checkAgents(agents)
    const states = await alertChanges.states(deps.config().cooldown_seconds)
    for (let from = 0; from < checks.length; from += batchSize) {
      const batch = checks.slice(from, from + batchSize)
      await db.atomically(async (tx) => {
        const existing = await checkStore(tx).existing()
        const before = await checkStore(tx).newest()
        const present = batch.filter(({ agent }) => existing.has(agent.id))
        await checkStore(tx).add(present.map((each) => checkOf(each, clock.now())))
        for (const each of present) {
          await appendChange(tx, each, before.get(each.agent.id))
          await alertChanges.settle(tx, states, desiredAlerts(each, before.get(each.agent.id)))
        }
      })
    }
    return checks
  }

  async function appendChange(
    tx: Tx,
    check: AgentCheck,
    before: AgentHealthTable | undefined,
  ): Promise<void> {
    const { agent, judgement } = check
    const previous_status = before?.status ?? 'unknown'
    if (previous_status === judgement.status) return
    const fields = { previous_status, current_status: judgement.status, issues: textsOf(check) }
    const about = { agent_names: [agent.name], agent_ids: [agent.id] }
    await events.append(tx, { type: 'agent.health_changed', ...about, fields }, clock.now())
  }

  async function alertOnCost(): Promise<void> {
    const limit = deps.dailyLimit()
    const day = timestamp(clock.now()).slice(0, 10)
    const spent = limit === 0 ? 0 : await runFiguresStore(db).costSince(`${day}T00:00:00.000Z`)
    const states = await alertChanges.states(deps.config().cooldown_seconds)
    await alertChanges.settleAlone(states, costAlert(spent, limit))
  }

  return {
    check,
    loop: {
      name: 'monitoring.check',
      everySeconds: loopSeconds,
      async run() {
        const { enabled, interval_seconds } = deps.config()
        const now = clock.now().getTime()
        // The pauses of loops vary, so half a pause too early counts as due.
        const isDue = now - lastRoundAt >= (interval_seconds - loopSeconds / 2) * 1000
        if (!enabled || !isDue) return
        await check(await deps.allAgents())
        await alertOnCost()
        lastRoundAt = now
      },
    },
  }
}

export function textsOf({ judgement }: AgentCheck): string[] {
  return judgement.issues.map(({ text }) => text)
}

function checkOf(check: AgentCheck, now: Date) {
  const { agent, state, judgement } = check
  return {
    agent_id: agent.id,
    checked_at: timestamp(now),
    status: judgement.status,
    container_status: agent.status,
    cpu_percent: state.cpu_percent,
    memory_percent: state.memory_percent,
    issues: JSON.stringify(textsOf(check)),
  }
}
