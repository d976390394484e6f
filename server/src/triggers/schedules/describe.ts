import type { Schedule as Described, LastFire } from '@roost/contracts/triggers/schedules'
import type { Clock } from '../../kit/clock.ts'
import { registrationError, type ScheduleTimes } from '../../kit/schedule-times.ts'
import type { RunStore } from './runs-store.ts'
import type { Schedule } from './store.ts'

export type DescribeDeps = {
  clock: Pick<Clock, 'now'>
  times: ScheduleTimes
  runs: Pick<RunStore, 'last'>
  /** The outcome of the newest due time of each schedule; schedules without one are omitted. */
  lastFires(scheduleIds: readonly string[]): Promise<ReadonlyMap<string, LastFire>>
}

export type Describe = (
  rows: readonly Schedule[],
  nameOf: (agentId: string) => string,
) => Promise<Described[]>

/** The views of schedules, with their last run and fire. */
export function createDescribe({ clock, times, runs, lastFires }: DescribeDeps): Describe {
  return async (rows, nameOf) => {
    const ids = rows.map(({ id }) => id)
    const [lastRuns, fires] = await Promise.all([runs.last(ids), lastFires(ids)])
    const now = clock.now()
    return rows.map((row) => {
      const run = lastRuns.get(row.id)
      const next = row.enabled === 1 && row.deleted_at === null ? times.next(row, now) : null
      return {
        ...fieldsOf(row),
        agent_name: nameOf(row.agent_id),
        next_run_at: next?.toISOString() ?? null,
        last_run_at: run ? (run.started_at ?? run.created_at) : null,
        last_run_status: run?.status ?? null,
        last_fire: fires.get(row.id) ?? null,
        registration_error: registrationError(row),
        webhook_enabled: row.webhook_token_hash !== null,
      }
    })
  }
}

function fieldsOf(row: Schedule) {
  const {
    number: _number,
    agent_id: _agent,
    created_by_id: _creator,
    principal: _principal,
    validation_principal: _validationPrincipal,
    is_paused: _paused,
    armed_at: _armed,
    position: _position,
    webhook_token_hash: _hash,
    ...fields
  } = row
  return {
    ...fields,
    enabled: row.enabled === 1,
    validation_enabled: row.validation_enabled === 1,
    undo_failed: row.undo_failed === 1,
    // Stored by this feature from a validated request.
    allowed_tools: row.allowed_tools === null ? null : (JSON.parse(row.allowed_tools) as string[]),
  }
}
