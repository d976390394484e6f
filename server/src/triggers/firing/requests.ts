import type { Agent } from '../../agents/records/index.ts'
import { accountPrincipal, agentPrincipal } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { ScheduleTimes } from '../../kit/schedule-times.ts'
import type { NotRun, RunRequest, Source } from '../../runs/dispatch/index.ts'
import type { Schedule } from '../schedules/index.ts'
import type { ReachesAgent } from './deps.ts'

export type FireRequestsDeps = {
  clock: Pick<Clock, 'now'>
  times: Pick<ScheduleTimes, 'next'>
  reachesAgent: ReachesAgent
}

const noCaller = { userId: null, userEmail: null, agent: null, key: null }

export function createFireRequests({ clock, times, reachesAgent }: FireRequestsDeps) {
  /** Null for a schedule without a due time. */
  function nextRunAt(schedule: Schedule): string | null {
    const next = times.next(schedule, clock.now())
    return next && timestamp(next)
  }

  /** The request for the run of a schedule. */
  function requestOf(
    { schedule, executionId }: { schedule: Schedule; executionId: string },
    run: {
      message: string
      trigger: RunRequest['triggeredBy']
      nextRunAt: string | null
      by?: Source | null
      metadata?: Record<string, unknown> | null
    },
  ): RunRequest {
    return {
      executionId,
      agentId: schedule.agent_id,
      kind: 'task',
      triggeredBy: run.trigger,
      message: run.message,
      // The record names who fired it. The run works for the author of the schedule's message.
      source: { ...(run.by ?? noCaller), principal: schedule.principal },
      model: schedule.model,
      timeoutSeconds: schedule.timeout_seconds,
      // Written by the feature that owns schedules.
      allowedTools: schedule.allowed_tools === null ? null : (JSON.parse(schedule.allowed_tools) as string[]),
      links: { scheduleId: schedule.id },
      schedule: { name: promptName(schedule), nextRunAt: run.nextRunAt },
      metadata: run.metadata ?? null,
    }
  }

  /** The failure of a run whose recipient cannot reach the agent; null if it may run. */
  async function recipientRefusal(schedule: Schedule, agent: Agent): Promise<NotRun | null> {
    const email = schedule.deliver_to_workspace_email
    if (email === null || (await reachesAgent(agent, email))) return null
    return {
      status: 'failed',
      error: `The recipient of the output, ${email}, cannot reach the agent.`,
      error_code: 'recipient_unreachable',
    }
  }

  return { nextRunAt, requestOf, recipientRefusal }
}

/**
 * What the system prompt of a run calls the schedule: its name, or its id if the run works for somebody other than the
 * creator. The creator can change the name, and must not instruct a run that has another person's rights.
 */
export function promptName(
  { id, agent_id, name, created_by_id, ...schedule }: Schedule,
  principal = schedule.principal,
): string {
  const creator = created_by_id === null ? agentPrincipal(agent_id, null) : accountPrincipal(created_by_id)
  return principal === creator ? name : id
}
