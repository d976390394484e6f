import type { Agent } from '../../agents/records/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { NotRun, RunRequest, Source } from '../../runs/dispatch/index.ts'
import type { ScheduleTimes } from '../schedule-times/index.ts'
import type { Schedule } from '../schedules/index.ts'
import type { ReachesAgent } from './ports.ts'

export type FireRequestsDeps = {
  clock: Pick<Clock, 'now'>
  times: Pick<ScheduleTimes, 'next'>
  reachesAgent: ReachesAgent
}

const nobody: Source = { userId: null, userEmail: null, agent: null, key: null }

/** The run that a schedule asks for. */
export function createFireRequests({ clock, times, reachesAgent }: FireRequestsDeps) {
  /** Null: it cannot be registered. */
  function nextRunAt(schedule: Schedule): string | null {
    const next = times.next(schedule, clock.now())
    return next && timestamp(next)
  }

  function requestOf(
    schedule: Schedule,
    {
      executionId,
      message,
      trigger,
      by = null,
      metadata = null,
    }: {
      executionId: string
      message: string
      trigger: RunRequest['triggeredBy']
      by?: Source | null
      metadata?: Record<string, unknown> | null | undefined
    },
  ): RunRequest {
    return {
      executionId,
      agentId: schedule.agent_id,
      kind: 'task',
      triggeredBy: trigger,
      message,
      source: by ?? nobody,
      model: schedule.model,
      timeoutSeconds: schedule.timeout_seconds,
      // Written by the feature that owns schedules.
      allowedTools: schedule.allowed_tools === null ? null : (JSON.parse(schedule.allowed_tools) as string[]),
      links: { scheduleId: schedule.id },
      schedule: { name: schedule.name, nextRunAt: nextRunAt(schedule) },
      metadata,
    }
  }

  /** Why the run fails before it begins, because of whom its output is for; null lets it run. */
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
