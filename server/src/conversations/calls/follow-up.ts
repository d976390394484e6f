import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Dispatch, readSource } from '../../runs/dispatch/index.ts'
import { executionStore } from '../../runs/executions/index.ts'
import { followUpMessage } from './rules.ts'
import { type CallRow, callStore } from './store.ts'

export type FollowUpDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
}

/** Age at which an undelivered transcript is dropped. */
const maxAgeHours = 24
const batch = 50

/** Gives the transcript to the agent as a task after the call: once, and retried while the agent cannot accept it. */
export function createFollowUp({ db, clock, log, dispatch }: FollowUpDeps) {
  const pending = new Set<Promise<void>>()

  async function enqueueTask(call: CallRow): Promise<void> {
    try {
      const agent = await dispatch.checkAgent(call.agent_id)
      await dispatch.transaction(async (tx) => {
        if (!(await callStore(tx).followUp(call.id, 'done'))) return
        const row = await executionStore(tx).byId(call.execution_id)
        const source = readSource(call.source)
        await dispatch.enqueue(tx, agent, {
          agentId: call.agent_id,
          kind: 'task',
          triggeredBy: 'voip',
          message: followUpMessage(call, row?.response ?? ''),
          source,
          // Nobody calls the agent now: the task is as deep as the run that placed the call.
          chainDepth: source.depth,
          links: { parentExecutionId: call.execution_id },
        })
      })
    } catch (error) {
      await handleFailure(call, error)
    }
  }

  async function handleFailure(call: CallRow, error: unknown): Promise<void> {
    const isExpired = (call.ended_at ?? '') < timestamp(secondsLater(clock.now(), -maxAgeHours * 3600))
    // The breaker has recorded its refusal; each retry would add another record.
    const isFinal =
      isExpired || isFault(error, 'circuit_open', 'agent_not_found', 'inter_agent_depth_exceeded')
    if (!isFinal && isFault(error)) return
    log.warn({ call_id: call.id, err: error }, 'the transcript of a call could not be given to its agent')
    if (isFinal) await callStore(db).followUp(call.id, 'none')
  }

  return {
    /** Starts the follow-up of this call in the background. */
    start(call: CallRow): void {
      if (call.follow_up !== 'due') return
      const attempt = enqueueTask(call)
        .catch((error: unknown) => log.error({ call_id: call.id, err: error }, 'a call was not followed up'))
        .finally(() => pending.delete(attempt))
      pending.add(attempt)
    },
    /** Processes all calls that are due. */
    async runDue(signal: AbortSignal): Promise<void> {
      for (const call of await callStore(db).dueFollowUps(batch)) {
        if (signal.aborted) return
        await enqueueTask(call)
      }
    },
    async idle(): Promise<void> {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}
