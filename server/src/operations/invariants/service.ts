import type { InvariantsReport } from '@roost/contracts/operations/invariants'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { AgentRecord } from './records.ts'
import { readOf, type Violation, violationsOf } from './rules.ts'
import { readRecords } from './store.ts'

export type InvariantsDeps = {
  db: Db
  clock: Clock
  /** Present maximum of an agent's concurrent runs. */
  limitOf(agent: Pick<AgentRecord, 'max_parallel_tasks'>): Promise<number>
  isLinked(agentId: string): boolean
  /** Agents whose link calls fail. */
  unreachable(): Promise<ReadonlySet<string>>
  schedulesCount(): Promise<number>
}

export type Invariants = {
  /** Checks again after seconds when it finds violations, and reports only those that remain. */
  check(signal?: AbortSignal): Promise<InvariantsReport>
}

/** Enough to recognize a platform that is broken everywhere. */
const maxReported = 200
const recheckMs = 3_000

export function createInvariants(deps: InvariantsDeps): Invariants {
  const { db, clock, limitOf, isLinked, unreachable, schedulesCount } = deps

  async function checkOnce(): Promise<InvariantsReport> {
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
      const first = await checkOnce()
      if (first.ok) return first
      await clock.wait(recheckMs, signal)
      const second = await checkOnce()
      const before = new Set(first.violations.map(keyOf))
      const violations = second.violations.filter((each) => before.has(keyOf(each)))
      return { ...second, ok: violations.length === 0, violations: violations.slice(0, maxReported) }
    },
  }
}

function keyOf({ rule, subject }: Violation): string {
  return `${rule} ${subject}`
}

/** Checks a restored copy of a database as of the time of its backup, when no agent was connected to it. */
export async function violationsOfCopy(db: Db, at: Date): Promise<string[]> {
  const records = await db.snapshot(readRecords)
  const agentNow = () => ({ limit: Number.POSITIVE_INFINITY, isReachable: false })
  return violationsOf({ records, now: at, agentNow }).map(({ rule, message }) => `${rule}: ${message}`)
}
