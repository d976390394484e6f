import type { InvariantsReport } from '@roost/contracts/operations/invariants'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { AgentRecord } from './records.ts'
import { readOf, type Violation, violationsOf } from './rules.ts'
import { readRecords } from './store.ts'

export type InvariantsDeps = {
  db: Db
  clock: Clock
  /** Runs that an agent may work on at once, now. */
  limitOf(agent: Pick<AgentRecord, 'max_parallel_tasks'>): Promise<number>
  isLinked(agentId: string): boolean
  /** Agents whose calls over the link fail. */
  unreachable(): Promise<ReadonlySet<string>>
  schedulesCount(): Promise<number>
}

export type Invariants = {
  /** Looks once, and again after seconds when something was found; only what is still so is reported. */
  check(signal?: AbortSignal): Promise<InvariantsReport>
}

/** Of a platform that is broken everywhere, enough to see it. */
const maxReported = 200
const lookAgainMs = 3_000

export function createInvariants(deps: InvariantsDeps): Invariants {
  const { db, clock, limitOf, isLinked, unreachable, schedulesCount } = deps

  async function look(): Promise<InvariantsReport> {
    const now = clock.now()
    const records = await db.snapshot(readRecords)
    const [cutOff, schedules] = await Promise.all([unreachable(), schedulesCount()])
    const limits = new Map<string, number>()
    for (const agent of records.agents) limits.set(agent.id, await limitOf(agent))
    const agentNow = ({ id }: AgentRecord) => ({
      limit: limits.get(id) ?? 0,
      isReachable: isLinked(id) && !cutOff.has(id),
    })
    const violations = violationsOf({ records, now, agentNow })
    return {
      checked_at: timestamp(now),
      ok: violations.length === 0,
      read: { ...readOf(records), schedules },
      violations,
    }
  }

  return {
    async check(signal) {
      const first = await look()
      if (first.ok) return first
      await clock.wait(lookAgainMs, signal)
      const second = await look()
      const before = new Set(first.violations.map(nameOf))
      const violations = second.violations.filter((each) => before.has(nameOf(each)))
      return { ...second, ok: violations.length === 0, violations: violations.slice(0, maxReported) }
    },
  }
}

function nameOf({ rule, subject }: Violation): string {
  return `${rule} ${subject}`
}
