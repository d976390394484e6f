import { z } from 'zod'
import { Instructions } from '../agents/agent.ts'
import { maxTimeoutSeconds } from '../agents/settings.ts'
import { Id } from '../kit/primitives.ts'

/** Fields that all requests for runs share: chat, tasks, fan-outs, schedules, loops. */

export const maxMessageLength = 100_000

export const MessageText = z
  .string()
  .min(1, 'must not be empty')
  .max(maxMessageLength)
  .refine((text) => text.trim() !== '', 'must not be blank')

/**
 * Seconds, at least 10. A value above the agent's cap becomes the cap; clamping to the highest possible cap here
 * therefore loses nothing.
 */
export const RunTimeout = z
  .number()
  .int()
  .min(10)
  .transform((seconds) => Math.min(seconds, maxTimeoutSeconds))

/** Names of the runtime, with its patterns: `Read`, `Bash(git log:*)`. An empty list is valid. */
export const AllowedTools = z
  .array(
    z
      .string()
      .min(1, 'must not be empty')
      .max(200)
      .regex(/^\P{Cc}+$/u, 'must not contain control characters'),
  )
  .max(200)

/** Appended to the agent's own prompt; at most 32 KiB. */
export const SystemPrompt = Instructions

/** The reply to a repeated request when the first one did not wait for the end of the run. */
export const QueuedReceipt = z
  .object({
    status: z.literal('queued_timeout'),
    execution_id: Id,
    agent_name: z.string(),
    async_mode: z.literal(true),
  })
  .meta({ id: 'QueuedReceipt' })
export type QueuedReceipt = z.output<typeof QueuedReceipt>

/** Request and reply headers of requests for one run. */
export const runHeaders = ['Idempotency-Key', 'Prefer', 'X-Via-MCP'] as const
export const runReplyHeaders = ['X-Execution-Id', 'Preference-Applied'] as const

/** Errors of every endpoint that starts one run and waits for it. */
export const runFails = [
  'agent_not_found',
  'agent_not_running',
  'invalid_model',
  'attachment_rejected',
  'attachment_too_large',
  'disk_quota_reached',
  'body_too_large',
  'queue_full',
  'request_in_progress',
  'circuit_open',
  'inter_agent_depth_exceeded',
  'run_failed',
  'run_timeout',
  'provider_rate_limited',
  'sync_wait_exceeded',
] as const
