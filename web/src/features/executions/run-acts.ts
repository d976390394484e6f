import type { Client } from '@roost/contracts/client'
import {
  type ExecutionDetails,
  type ExecutionSummary,
  getExecution,
  terminateExecution,
} from '@roost/contracts/runs/executions'
import { runTask } from '@roost/contracts/runs/tasks'
import { Refusal } from '../../lib/batch.ts'
import { plural } from '../../lib/format.ts'
import { terminatedWords } from './words.ts'

/** An action on several runs. */
export type RunAct = 'cancel' | 'retry'

const openStatuses: readonly string[] = ['queued', 'running', 'pending_retry']

/** True before the run has its final status. */
export function isOpen({ status }: Pick<ExecutionSummary, 'status'>): boolean {
  return openStatuses.includes(status)
}

/** True if a new task can have the message of the run. */
export function isRepeatable(run: Pick<ExecutionSummary, 'redacted' | 'message' | 'agent_deleted'>): boolean {
  return !run.redacted && run.message !== null && !run.agent_deleted
}

/** The request that repeats a run. Its files are missing: they are deleted when a run ends. */
export function requestOf(run: ExecutionDetails) {
  const { message, model, allowed_tools, timeout_seconds, system_prompt } = run
  return { message: message ?? '', model, allowed_tools, timeout_seconds, system_prompt }
}

/**
 * Acts on one of several runs. Returns what happened; throws the platform's refusal, or a `Refusal`. A repeated call
 * with the same key starts one run.
 */
export async function actOnRun(
  api: Client,
  act: RunAct,
  run: ExecutionSummary,
  key: string,
): Promise<string> {
  const { agent_name: name, id } = run
  // Another agent may have the name now.
  if (run.agent_deleted) throw new Refusal('The agent of the run was deleted.')
  if (act === 'cancel') {
    const reply = await api.call(terminateExecution, { params: { name, id } })
    if (reply.status === 'already_finished') throw new Refusal(terminatedWords(reply))
    return terminatedWords(reply)
  }
  if (isOpen(run)) throw new Refusal('The run has not ended yet.')
  if (!isRepeatable(run)) throw new Refusal('The conversation is private, so its message is unknown.')
  const details = await api.call(getExecution, { params: { name, id } })
  if (details.attachment_count > 0) {
    const files = plural(details.attachment_count, 'file')
    throw new Refusal(`Its ${files} cannot be sent again. Use “Retry with changes” and attach them.`)
  }
  await api.call(runTask, {
    params: { name },
    body: { ...requestOf(details), async_mode: true },
    headers: { 'idempotency-key': key },
  })
  return 'Started as a new run.'
}
