import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch, Source } from '../../runs/dispatch/index.ts'
import { executionStore } from '../../runs/executions/index.ts'
import { followUpMessage } from './rules.ts'
import { type CallRow, callStore } from './store.ts'

export type FollowUpDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
}

/** An agent that takes nothing for so long is not told any more. */
const patienceHours = 24
const batch = 50

/** After a call the agent is given what was said, as a task: once, and later when it cannot take it now. */
export function createFollowUp({ db, clock, log, dispatch }: FollowUpDeps) {
  const giving = new Set<Promise<void>>()

  async function give(call: CallRow): Promise<void> {
    try {
      const agent = await dispatch.checkAgent(call.agent_id)
      await dispatch.transaction(async (tx) => {
        if (!(await callStore(tx).followUp(call.id, 'done'))) return
        const row = await executionStore(tx).byId(call.execution_id)
        await dispatch.enqueue(tx, agent, {
          agentId: call.agent_id,
          kind: 'task',
          triggeredBy: 'voip',
          message: followUpMessage(call, row?.response ?? ''),
          // Written by this feature when the call was made.
          source: JSON.parse(call.source) as Source,
          links: { parentExecutionId: call.execution_id },
          chainDepth: row?.chain_depth ?? 0,
        })
      })
    } catch (error) {
      await later(call, error)
    }
  }

  async function later(call: CallRow, error: unknown): Promise<void> {
    const isLate = (call.ended_at ?? '') < timestamp(secondsLater(clock.now(), -patienceHours * 3600))
    // The breaker's refusal has left its record; another try would leave another one.
    const isGivenUp =
      isLate || isFault(error, 'circuit_open', 'agent_not_found', 'inter_agent_depth_exceeded')
    if (!isGivenUp && isFault(error)) return
    log.warn({ call_id: call.id, err: error }, 'what was said in a call could not be given to its agent')
    if (isGivenUp) await callStore(db).followUp(call.id, 'none')
  }

  return {
    /** Of this call, in a moment. */
    soon(call: CallRow): void {
      if (call.follow_up !== 'due') return
      const given = give(call)
        .catch((error: unknown) => log.error({ call_id: call.id, err: error }, 'a call was not followed up'))
        .finally(() => giving.delete(given))
      giving.add(given)
    },
    /** Of every call that waits for it. */
    async all(signal: AbortSignal): Promise<void> {
      for (const call of await callStore(db).dueFollowUps(batch)) {
        if (signal.aborted) return
        await give(call)
      }
    },
    async settled(): Promise<void> {
      while (giving.size > 0) await Promise.all(giving)
    },
  }
}
