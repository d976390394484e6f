import type { Agent } from '../records/index.ts'

export type ForkRequest = {
  name: string
  /** `now` makes a record first. */
  from: { type: 'now' } | { type: 'record'; id: string }
  with_schedules: boolean
  with_credentials: boolean
  /** Absent: as the source. */
  runtime?: Agent['runtime'] | undefined
  /** Absent: as the source. Null: the runtime's default. */
  runtime_model?: string | null | undefined
  /** The set of attempts that this fork belongs to: hidden from lists of agents, removed with the set. */
  attempt_set_id?: string | undefined
}
