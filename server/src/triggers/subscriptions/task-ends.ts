import { taskCompleted, taskFailed } from '@roost/contracts/triggers/events'
import { agentPrincipal } from '../../identity/access/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Source } from '../../runs/dispatch/index.ts'
import { dollars, type ExecutionRow, type RunHooks } from '../../runs/executions/index.ts'
import type { Deliver } from './deliver.ts'
import { type EventRow, eventStore } from './event-store.ts'
import { subscriptionStore } from './store.ts'

/** Characters of the reply or error in the payload. */
const summaryLength = 2_000

/** Stores the end of a task as an event of its agent, in the same transaction, if an agent listens. */
export function registerTaskEnds(hooks: Pick<RunHooks, 'onEnded'>, deliver: Pick<Deliver, 'soon'>): void {
  hooks.onEnded(async (tx, row, now) => {
    const type = row.kind === 'task' ? typeOf(row) : null
    if (type === null || !(await subscriptionStore(tx).hasListener(type, row.agent_id))) return
    const event = eventOf(row, type, timestamp(now))
    await eventStore(tx).insert(event)
    tx.onCommitted(() => deliver.soon(event.id))
  })
}

function typeOf({ status }: ExecutionRow): string | null {
  if (status === 'success') return taskCompleted
  return status === 'failed' ? taskFailed : null
}

function eventOf(row: ExecutionRow, event_type: string, created_at: string): EventRow {
  const source: Source = {
    principal: agentPrincipal(row.agent_id, row.principal),
    userId: row.source_user_id,
    userEmail: row.source_user_email,
    agent: { id: row.agent_id, name: row.agent_name },
    key: null,
  }
  return {
    id: newId(),
    source_agent: row.agent_name,
    source_agent_id: row.agent_id,
    source_user_id: null,
    event_type,
    payload: JSON.stringify(payloadOf(row)),
    source: JSON.stringify(source),
    chain_depth: row.chain_depth,
    subscriptions_triggered: null,
    created_at,
  }
}

function payloadOf(row: ExecutionRow) {
  const { id, status, triggered_by, duration_ms, fan_out_id, loop_id } = row
  const text = (status === 'success' ? row.response : row.error) ?? ''
  return {
    execution_id: id,
    status,
    triggered_by,
    summary_or_error: text.slice(0, summaryLength).toWellFormed(),
    duration_ms,
    cost: dollars(row.cost_micros),
    cost_estimated: row.cost_estimated === 1,
    ...(fan_out_id === null ? {} : { fan_out_id }),
    ...(loop_id === null ? {} : { loop_id }),
  }
}
