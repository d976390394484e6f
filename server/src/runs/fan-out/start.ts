import type { FanOutBody } from '@roost/contracts/runs/fan-out'
import type { SignedIn } from '../../identity/access/caller.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import { type Dispatch, modelOf, type RunRequest, sourceOf } from '../dispatch/index.ts'
import { waitSeconds } from './rules.ts'
import { type FanOutRow, fanOutStore, type TaskRow } from './store.ts'

export type StartDeps = {
  clock: Pick<Clock, 'now'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueueAll'>
  /** Name of an agent, for fan-outs that an agent starts on another one. */
  agentName(agentId: string): Promise<string | null>
}

/** An accepted fan-out, its tasks at that time, and how long a request waits for it. */
export type Started = { fanOut: FanOutRow; tasks: TaskRow[]; waitSeconds: number }

/**
 * Accepts a fan-out with all its tasks, or none of it. `within` runs in the same transaction. Throws
 * `invalid_model`, `agent_not_running`, `circuit_open`, `queue_full`, `inter_agent_depth_exceeded`.
 */
export function createStart({ clock, dispatch, agentName }: StartDeps) {
  return async function start(
    party: { caller: SignedIn; agentId: string },
    request: FanOutBody,
    within: (tx: Tx, started: Started) => Promise<void>,
  ): Promise<Started> {
    const { caller, agentId } = party
    const { max_concurrency } = request
    const model = modelOf(request.model)
    const agent = await dispatch.checkAgent(agentId)
    const callingAgentId = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
    const source = sourceOf(caller, callingAgentId === null ? null : await agentName(callingAgentId))
    const fanOut: FanOutRow = {
      id: `fo_${newId()}`,
      agent_id: agentId,
      max_concurrency,
      source_mcp_key_id: source.key?.id ?? null,
      created_at: timestamp(clock.now()),
      completed_at: null,
    }
    const requests = request.tasks.map(
      ({ id, message }): RunRequest => ({
        agentId,
        kind: 'task',
        triggeredBy: 'fan_out',
        message,
        source,
        model,
        systemPrompt: request.system_prompt ?? null,
        allowedTools: request.allowed_tools ?? null,
        links: { fanOutId: fanOut.id, fanOutTaskId: id },
      }),
    )
    const maxWaitSeconds = waitSeconds(
      {
        taskCount: request.tasks.length,
        maxConcurrency: max_concurrency,
        timeoutSeconds: request.timeout_seconds,
      },
      agent.execution_timeout_seconds,
    )
    return dispatch.transaction(async (tx) => {
      await fanOutStore(tx).insert(fanOut)
      const tasks = await dispatch.enqueueAll(tx, agent, requests, max_concurrency)
      const started = { fanOut, tasks, waitSeconds: maxWaitSeconds }
      await within(tx, started)
      return started
    })
  }
}
