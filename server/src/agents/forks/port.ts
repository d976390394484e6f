import type { CreatedAgent } from '@roost/contracts/agents/registry'
import type { Claim } from '../../foundation/idempotency/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import type { Agent } from '../records/index.ts'

export type ForkRequest = {
  name: string
  /** `now` makes a record first. */
  from: { type: 'now' } | { type: 'record'; id: string }
  with_schedules: boolean
  with_credentials: boolean
  /** Absent: as the source. */
  runtime?: string
  /** Absent: as the source. Null: the runtime's default. */
  runtime_model?: string | null
  /** The set of attempts that this fork belongs to: hidden from lists of agents, removed with the set. */
  attempt_set_id?: string
}

/** The columns `forked_from` (JSON `ForkedFrom`) and `attempt_set_id` of `agents`. */
export type ForkedFrom = { agent_id: string; agent_name: string; record_id: string; record_at: string }

export type Forks = {
  /**
   * Creates an agent with the workspace of a record. The answer's `warnings` name what is not as in the source. A failed
   * fork leaves nothing behind.
   */
  fork(
    caller: SignedIn,
    source: Agent,
    request: ForkRequest,
    claim?: Pick<Claim, 'take'>,
  ): Promise<CreatedAgent>
}
