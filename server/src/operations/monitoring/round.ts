import type { Agent } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Alerts } from '../operator-queue/index.ts'
import { costAlert, createTelling, wantedFor } from './alerts.ts'
import type { Look, LookDeps, Looked } from './look.ts'
import { runFiguresStore } from './runs-store.ts'
import { checkStore } from './store.ts'
import type { AgentHealthTable } from './tables.ts'

export type RoundDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  alerts: Alerts
  look: Look
  allAgents(): Promise<readonly Agent[]>
  config: LookDeps['config']
  /** US dollars that the runs of a day may cost before operators are told; 0: none. */
  dailyLimit(): number
}

export type Rounds = {
  /** Looks at these agents, writes down how they are, and tells what has changed. */
  check(agents: readonly Agent[]): Promise<Looked[]>
  loop: Loop
}

/** How often it is looked whether the interval, which may be changed at any time, is over. */
const lookEverySeconds = 10
/** Agents whose checks share a commit. */
const together = 100

export function createRounds(deps: RoundDeps): Rounds {
  const { db, clock, events } = deps
  const telling = createTelling(deps)
  let lastRoundAt = Number.NEGATIVE_INFINITY

  async function check(agents: readonly Agent[]): Promise<Looked[]> {
    const looked = await deps.look(agents)
    const told = await telling.told(deps.config().cooldown_seconds)
    for (let from = 0; from < looked.length; from += together) {
      const some = looked.slice(from, from + together)
      await db.atomically(async (tx) => {
        const existing = await checkStore(tx).existing()
        const before = await checkStore(tx).newest()
        const present = some.filter(({ agent }) => existing.has(agent.id))
        await checkStore(tx).add(present.map((each) => checkOf(each, clock.now())))
        for (const each of present) {
          await tellChange(tx, each, before.get(each.agent.id))
          await telling.settle(tx, told, wantedFor(each, before.get(each.agent.id)))
        }
      })
    }
    return looked
  }

  async function tellChange(tx: Tx, looked: Looked, before: AgentHealthTable | undefined): Promise<void> {
    const { agent, judgement } = looked
    const previous_status = before?.status ?? 'unknown'
    if (previous_status === judgement.status) return
    const fields = { previous_status, current_status: judgement.status, issues: textsOf(looked) }
    const about = { agent_names: [agent.name], agent_ids: [agent.id] }
    await events.append(tx, { type: 'agent.health_changed', ...about, fields }, clock.now())
  }

  async function tellCost(): Promise<void> {
    const limit = deps.dailyLimit()
    const day = timestamp(clock.now()).slice(0, 10)
    const spent = limit === 0 ? 0 : await runFiguresStore(db).costSince(`${day}T00:00:00.000Z`)
    const told = await telling.told(deps.config().cooldown_seconds)
    await telling.settleAlone(told, costAlert(spent, limit))
  }

  return {
    check,
    loop: {
      name: 'monitoring.check',
      everySeconds: lookEverySeconds,
      async run() {
        const { enabled, interval_seconds } = deps.config()
        const now = clock.now().getTime()
        // The pauses of loops are spread: half of one early is on time.
        const isDue = now - lastRoundAt >= (interval_seconds - lookEverySeconds / 2) * 1000
        if (!enabled || !isDue) return
        await check(await deps.allAgents())
        await tellCost()
        lastRoundAt = now
      },
    },
  }
}

export function textsOf({ judgement }: Looked): string[] {
  return judgement.issues.map(({ text }) => text)
}

function checkOf(looked: Looked, now: Date) {
  const { agent, facts, judgement } = looked
  return {
    agent_id: agent.id,
    checked_at: timestamp(now),
    status: judgement.status,
    container_status: agent.status,
    cpu_percent: facts.cpu_percent,
    memory_percent: facts.memory_percent,
    issues: JSON.stringify(textsOf(looked)),
  }
}
