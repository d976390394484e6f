import type { InvariantsReport } from '@roost/contracts/operations/invariants'
import { finalStatuses } from '@roost/contracts/runs/executions'
import type { AgentRecord, EventRecord, Records, RunRecord } from './records.ts'

export type Violation = InvariantsReport['violations'][number]

/** State of an agent that is not in the records. */
export type AgentNow = {
  /** Maximum of concurrent runs. */
  limit: number
  /** Its link is connected and its calls succeed. */
  isReachable: boolean
}

export type Snapshot = { records: Records; now: Date; agentNow(agent: AgentRecord): AgentNow }

/** A wake message can be lost; a loop repeats it every ten seconds. */
export const graceSeconds = 30

/** Applies every rule; a record can break several. */
export function violationsOf(snapshot: Snapshot): Violation[] {
  return [
    ...slotsEqualRunningRows(snapshot),
    ...noQueuedBesideFreeSlot(snapshot),
    ...noRunningWithoutLease(snapshot.records),
    ...noEventWithoutRow(snapshot.records),
    ...terminalRowsUnchanged(snapshot.records),
    ...fanOutsFollowTheirRuns(snapshot),
  ]
}

/** Counts the checked records, each run once. */
export function readOf(records: Records): Omit<InvariantsReport['read'], 'schedules'> {
  const runs = [...distinct(records).values()]
  const inState = (status: RunRecord['status']) => runs.filter((run) => run.status === status).length
  return {
    executions: runs.length,
    queued: inState('queued'),
    running: inState('running'),
    terminal: runs.filter(isFinal).length,
    events: records.events.length,
  }
}

/**
 * Slots are counted from running rows, so only a surplus is possible. It is valid if the limit was lowered after the
 * last claim.
 */
function slotsEqualRunningRows({ records, agentNow }: Snapshot): Violation[] {
  const agents = new Map(records.agents.map((agent) => [agent.id, agent]))
  const running = Map.groupBy(
    records.open.filter((run) => run.status === 'running' && !isCarried(run)),
    (run) => run.agent_id,
  )
  return [...running].flatMap(([agentId, runs]): Violation[] => {
    const agent = agents.get(agentId)
    if (!agent) {
      const message = 'is running for an agent that does not exist'
      return runs.map(({ id }) => ({ rule: 'slots_equal_running_rows', subject: id, message }))
    }
    const { limit } = agentNow(agent)
    const lastClaim = latest(runs.map(({ started_at }) => started_at))
    if (runs.length <= limit || limitChangedAt(records, agentId) > lastClaim) return []
    const message = `${runs.length} runs are running, the agent has ${limit} slots`
    return [{ rule: 'slots_equal_running_rows', subject: agent.name, message }]
  })
}

/** Time of the last change of the agent's limit or the platform's ceiling; '' when unknown. */
function limitChangedAt({ events, ceilingChangedAt }: Records, agentId: string): string {
  const changes = events.filter((event) => event.setting === 'capacity' && event.agentIds.includes(agentId))
  return latest([ceilingChangedAt, ...changes.map(({ ts }) => ts)])
}

function noQueuedBesideFreeSlot({ records, now, agentNow }: Snapshot): Violation[] {
  const calmSince = graceBefore(now)
  return records.agents.flatMap((agent): Violation[] => {
    const runs = records.open.filter(({ agent_id }) => agent_id === agent.id)
    const running = runs.filter((run) => run.status === 'running' && !isCarried(run))
    const busy = new Set(running.flatMap(({ serial_key }) => serial_key ?? []))
    const waiting = runs.filter(
      // Held runs are not in the queue yet; a turn waits for the one before it.
      ({ status, queued_at, serial_key }) =>
        status === 'queued' && queued_at !== null && queued_at < calmSince && !busy.has(serial_key ?? ''),
    )
    if (waiting.length === 0) return []
    const { limit, isReachable } = agentNow(agent)
    const hasRoom = agent.disk_state !== 'full'
    const takesRuns = agent.desired === 'running' && agent.status === 'running' && isReachable && hasRoom
    if (!takesRuns || running.length >= limit) return []
    // A slot may just have become free, or the agent may just have started.
    if (lastEvent(records, agent.id) > calmSince) return []
    const message = `${waiting.length} runs wait, the first since ${waiting[0]?.queued_at}, beside ${limit - running.length} free slots of a reachable agent`
    return [{ rule: 'no_queued_beside_free_slot', subject: agent.name, message }]
  })
}

/** The platform itself carries a telephone call: no agent claims it, and it uses no slot. */
function isCarried({ triggered_by, claim_token }: RunRecord): boolean {
  return triggered_by === 'voip' && claim_token === null
}

function noRunningWithoutLease({ open }: Records): Violation[] {
  return open
    .filter((run) => run.status === 'running' && !isCarried(run))
    .flatMap(({ id, lease_expires_at, claim_token, started_at }): Violation[] => {
      const missing = [
        ...(lease_expires_at === null ? ['lease'] : []),
        ...(claim_token === null ? ['claim token'] : []),
        ...(started_at === null ? ['time of its claim'] : []),
      ]
      if (missing.length === 0) return []
      const message = `is running without ${missing.join(' and ')}`
      return [{ rule: 'no_running_without_lease', subject: id, message }]
    })
}

function noEventWithoutRow(records: Records): Violation[] {
  const known = distinct(records)
  const orphans = new Map(
    records.events.flatMap(({ executionId, type }) =>
      executionId !== null && !known.has(executionId) ? [[executionId, type] as const] : [],
    ),
  )
  return [...orphans].map(([id, type]) => ({
    rule: 'no_event_without_row',
    subject: id,
    message: `${type} names a run that has no record`,
  }))
}

/**
 * The transaction that ends a run appends one event with its status. A record with another status was changed
 * afterwards.
 */
function terminalRowsUnchanged(records: Records): Violation[] {
  const eventsOf = Map.groupBy(
    records.events.filter(({ executionId }) => executionId !== null),
    ({ executionId }) => executionId ?? '',
  )
  const complete = new Set(records.newest.map(({ id }) => id))
  return [...distinct(records).values()].flatMap((run) => {
    const events = eventsOf.get(run.id) ?? []
    return faultsOfEnd(run, events, complete.has(run.id)).map((message) => ({
      rule: 'terminal_rows_unchanged' as const,
      subject: run.id,
      message,
    }))
  })
}

/** `isComplete`: `events` contains all events of the run. */
function faultsOfEnd(run: RunRecord, events: readonly EventRecord[], isComplete: boolean): string[] {
  const ends = events.filter(({ type }) => type === 'execution.finished')
  const firstEnd = ends[0]
  const faults: string[] = []
  if (isFinal(run)) {
    if (run.completed_at === null) faults.push(`is ${run.status} without a time of its end`)
    if (run.lease_expires_at !== null) faults.push(`is ${run.status} and still has a lease`)
    if (isComplete && ends.length === 0 && run.status !== 'skipped') {
      faults.push(`is ${run.status} and has no end event`)
    }
  } else if (run.completed_at !== null) faults.push(`is ${run.status} with a time of its end`)
  if (ends.length > 1) faults.push(`has ${ends.length} end events`)
  for (const { status } of ends) {
    if (status !== run.status) faults.push(`is ${run.status}, and its end event says ${status}`)
  }
  const isRestarted = events.some(
    ({ type, sequence }) => type === 'execution.started' && firstEnd && sequence > firstEnd.sequence,
  )
  if (isRestarted) faults.push('was started after it had ended')
  return faults
}

/** A fan-out ends with its last run. Its end event follows soon, even if the process of that run died. */
function fanOutsFollowTheirRuns({ records, now }: Snapshot): Violation[] {
  const working = new Set(records.open.map(({ fan_out_id }) => fan_out_id))
  return records.fanOuts.flatMap(({ id, agent_id, created_at, completed_at }): Violation[] => {
    const isWorking = working.has(id)
    if (isWorking === (completed_at === null)) return []
    const isCalm = created_at < graceBefore(now) && lastEvent(records, agent_id) < graceBefore(now)
    if (!isWorking && !isCalm) return []
    const message = isWorking
      ? 'has an end event, but some of its runs have not ended'
      : 'has no end event, although all its runs have ended'
    return [{ rule: 'fan_outs_follow_their_runs', subject: id, message }]
  })
}

function graceBefore(now: Date): string {
  return new Date(now.getTime() - graceSeconds * 1000).toISOString()
}

function distinct({ open, newest, named, leased }: Records): Map<string, RunRecord> {
  return new Map([...open, ...newest, ...named, ...leased].map((run) => [run.id, run]))
}

function lastEvent({ events }: Records, agentId: string): string {
  return latest(events.filter(({ agentIds }) => agentIds.includes(agentId)).map(({ ts }) => ts))
}

function latest(times: readonly (string | null)[]): string {
  return times.reduce<string>((last, time) => (time !== null && time > last ? time : last), '')
}

function isFinal({ status }: RunRecord): boolean {
  return finalStatuses.some((final) => final === status)
}
