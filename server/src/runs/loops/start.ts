import type { LoopBody } from '@roost/contracts/runs/loops'
import type { SignedIn } from '../../identity/access/caller.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import { type Dispatch, modelOf, type RunContext, sourceOf } from '../dispatch/index.ts'
import { messageReader } from '../executions/index.ts'
import { runTimeout } from './rules.ts'
import { runRequest } from './run-request.ts'
import { type LoopRow, loopStore } from './store.ts'

export type StartDeps = {
  clock: Pick<Clock, 'now'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  /** Name of an agent, for loops that an agent starts on another one. */
  agentName(agentId: string): Promise<string | null>
}

/**
 * Accepts a loop with its first run, or rejects it. `within` runs in the same transaction. Throws
 * `loop_timeout_exceeds_agent_cap`, `loop_deadline_below_run_timeout`, `invalid_model`, `agent_not_running`,
 * `circuit_open`, `inter_agent_depth_exceeded`.
 */
export function createStart({ clock, dispatch, agentName }: StartDeps) {
  return async function start(
    party: { caller: SignedIn; agentId: string },
    request: LoopBody,
    within: (tx: Tx, loop: LoopRow) => Promise<void>,
  ): Promise<LoopRow> {
    const { caller, agentId } = party
    const model = modelOf(request.model)
    const agent = await dispatch.checkAgent(agentId)
    checkTimes(request, agent)
    const callingId = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
    const source = sourceOf(caller, callingId === null ? null : await agentName(callingId))
    const { max_cost_usd, allowed_tools, model: _, ...plain } = request
    const now = clock.now()
    const draft: Omit<LoopRow, 'chain_depth'> = {
      ...plain,
      ...initialState,
      id: `loop_${newId()}`,
      agent_id: agentId,
      model,
      allowed_tools: allowed_tools && JSON.stringify(allowed_tools),
      // Rounded up, so that a budget below one micro-dollar is not zero.
      max_cost_micros: max_cost_usd === null ? null : Math.ceil(max_cost_usd * 1_000_000),
      created_at: timestamp(now),
      source: JSON.stringify(source),
      started_by: source.agent?.name ?? caller.user.email ?? caller.user.username,
      source_user_id: messageReader(caller).userId,
      source_mcp_key_id: source.key?.id ?? null,
    }
    return dispatch.transaction(async (tx) => {
      const timeoutSeconds = runTimeout(draft, [], now)
      const first = runRequest(draft, { number: 1, previous: null, timeoutSeconds })
      const { row } = await dispatch.enqueue(tx, agent, first)
      const loop = { ...draft, open_execution_id: row.id, chain_depth: row.chain_depth }
      await loopStore(tx).insert(loop)
      await within(tx, loop)
      return loop
    })
  }
}

function checkTimes(request: LoopBody, { execution_timeout_seconds: cap }: RunContext): void {
  const { timeout_per_run, max_duration_seconds } = request
  if (timeout_per_run !== null && timeout_per_run > cap) {
    const detail = `A run may take ${timeout_per_run} s here, but the agent's cap is ${cap} s.`
    throw new Fault('loop_timeout_exceeds_agent_cap', detail, {
      agent_cap_seconds: cap,
      requested_seconds: timeout_per_run,
    })
  }
  // Checks only values of the request against each other; the agent's own timeout yields to the deadline.
  if (timeout_per_run !== null && max_duration_seconds !== null && max_duration_seconds < timeout_per_run) {
    const detail = `max_duration_seconds (${max_duration_seconds}) is below timeout_per_run (${timeout_per_run}).`
    throw new Fault('loop_deadline_below_run_timeout', detail, {
      requested_seconds: max_duration_seconds,
      run_timeout_seconds: timeout_per_run,
    })
  }
}

/** State columns of a new loop. */
const initialState = {
  status: 'open',
  stop_reason: null,
  error: null,
  runs_completed: 0,
  open_execution_id: null,
  next_run_at: null,
  stop_requested_at: null,
  completed_at: null,
} satisfies Partial<LoopRow>
