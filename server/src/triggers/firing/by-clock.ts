import type { PreCheckAnswer } from '@roost/contracts/link/messages'
import type { Agent } from '../../agents/records/index.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { RunContext } from '../../runs/dispatch/index.ts'
import { fireStore, scheduleRunStore } from '../fires/index.ts'
import {
  type Choice,
  type Closed,
  type Due,
  decisionOf,
  entryOf,
  eventsOf,
  firedOf,
  hasRecord,
  type Open,
} from './choice.ts'
import { decidedFire, type Fired } from './decided.ts'
import type { FireDeps } from './deps.ts'
import { createGroup } from './group.ts'
import { createPreCheck } from './pre-check.ts'
import { createFireRequests } from './requests.ts'
import { closedGate, type Gate, readPreCheck, skipped, suppressed } from './rules.ts'

/** What the gates ask of an agent. */
export type Known = { agent: Agent; fact: RunContext; frozenAfter: number | null }

/** The transaction is given up: another one has decided, or a gate has closed meanwhile. */
class GivenUp extends Error {
  readonly gate: Gate | null
  constructor(gate: Gate | null) {
    super('The fire was given up.')
    this.gate = gate
  }
}

/** The steps of a fire of the clock. */
export function createByClock(deps: FireDeps) {
  const { db, clock, events, dispatch } = deps
  const preCheck = createPreCheck(deps)
  const group = createGroup(db)
  const { nextRunAt, requestOf, recipientRefusal } = createFireRequests(deps)

  /** Null: the agent is gone. */
  async function knowOf(agentId: string): Promise<Known | null> {
    const [agent, fact] = await Promise.all([deps.agentRecords.byId(agentId), deps.factOf(agentId)])
    return agent && fact ? { agent, fact, frozenAfter: await deps.frozenAfter(agent) } : null
  }

  /** The gates before the pre-check; null lets the fire through to it. */
  function closedFor(due: Due, { agent, fact, frozenAfter }: Known): Closed | null {
    const gate = closedGate({
      isEnabled: due.schedule.enabled === 1,
      isRegistrable: nextRunAt(due.schedule) !== null,
      isAutonomous: agent.autonomy_enabled,
      frozenAfter,
      isRunning: fact.status === 'running',
      isPreviousActive: due.isPreviousActive,
    })
    return gate && { due, fact, gate }
  }

  /** What the answer of the hook makes of a fire that came through to it. */
  async function afterHook(due: Due, { agent, fact }: Known, answer: PreCheckAnswer | null): Promise<Choice> {
    const asked = readPreCheck(answer)
    if (asked === 'empty') return { due, fact, gate: skipped('pre_check_empty') }
    const message = asked?.message ?? due.schedule.message
    return { due, fact, message, refusal: await recipientRefusal(due.schedule, agent) }
  }

  /** `ask` asks the hook. */
  async function choose(due: Due, known: Known | null, ask: typeof preCheck): Promise<Choice> {
    if (!known) return { due, fact: null, gate: suppressed('agent_deleted') }
    return closedFor(due, known) ?? afterHook(due, known, await ask(known.agent.id))
  }

  /** Decides and records one fire. */
  async function carryOut(choice: Choice): Promise<Fired> {
    if ('gate' in choice) return close(choice)
    const { due, fact } = choice
    try {
      await group(due.schedule.agent_id, (tx) => make(tx, choice))
      return firedOf(choice)
    } catch (error) {
      // The record of a breaker's refusal is the skipped one, so this is no `dispatch.transaction`.
      if (isFault(error, 'circuit_open')) return close({ due, fact, gate: skipped('circuit_open') })
      if (!(error instanceof GivenUp)) throw error
      return error.gate ? close({ due, fact, gate: error.gate }) : decidedBefore(due.key)
    }
  }

  async function make(tx: Tx, choice: Open): Promise<void> {
    const { schedule, key, isCatchUp } = choice.due
    const now = clock.now()
    if (!(await fireStore(tx).decide(key, decisionOf(choice, now)))) throw new GivenUp(null)
    const { agent, request, why } = entryOf(choice, requestOf)
    if (why) {
      await dispatch.recordSkipped(tx, agent, request, why)
      return
    }
    const { row } = await dispatch.enqueue(tx, agent, request)
    // Asked again while the agent's queue is held: of two fires of one schedule one sees the other.
    if (!isCatchUp && (await scheduleRunStore(tx).isActive(schedule.id, row.id))) {
      throw new GivenUp(skipped('previous_run_active'))
    }
    for (const event of eventsOf(choice, row)) await events.append(tx, event, now)
  }

  async function close(choice: Closed): Promise<Fired> {
    const { key } = choice.due
    const isMine = await db.atomically(async (tx) => {
      const now = clock.now()
      if (!(await fireStore(tx).decide(key, decisionOf(choice, now)))) return false
      if (!hasRecord(choice)) return true
      const { agent, request, why } = entryOf(choice, requestOf)
      if (!why) return true
      const row = await dispatch.recordSkipped(tx, agent, request, why)
      for (const event of eventsOf(choice, row)) await events.append(tx, event, now)
      return true
    })
    return isMine ? firedOf(choice) : decidedBefore(key)
  }

  /** Throws `conflict` while it is being decided. */
  async function decidedBefore(key: Due['key']): Promise<Fired> {
    const row = await fireStore(db).find(key)
    const told = row && decidedFire(row)
    if (told) return told
    throw new Fault('conflict', 'The fire is being decided.')
  }

  return {
    knowOf,
    choose,
    preCheck,
    carryOut,
    decidedBefore,
    requestOf,

    async byClock(due: Due): Promise<Fired> {
      return carryOut(await choose(due, await knowOf(due.schedule.agent_id), preCheck))
    },
  }
}

export type ByClock = ReturnType<typeof createByClock>
