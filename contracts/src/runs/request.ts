import { z } from 'zod'
import { Instructions } from '../agents/agent.ts'
import { maxTimeoutSeconds } from '../agents/settings.ts'
import { Id } from '../kit/primitives.ts'

/** What requests for runs have in common, whoever makes them: chat, tasks, fan-outs, schedules, loops. */

export const maxMessageLength = 100_000

export const MessageText = z
  .string()
  .min(1, 'must not be empty')
  .max(maxMessageLength)
  .refine((text) => text.trim() !== '', 'must not be blank')

/**
 * Seconds, at least 10. Above the agent's cap it is the cap, however far above: no cap is higher than what is kept of
 * it here.
 */
export const RunTimeout = z
  .number()
  .int()
  .min(10)
  .transform((seconds) => Math.min(seconds, maxTimeoutSeconds))

/** Names as the runtime knows them, with its patterns: `Read`, `Bash(git log:*)`. None at all is allowed too. */
export const AllowedTools = z
  .array(
    z
      .string()
      .min(1, 'must not be empty')
      .max(200)
      .regex(/^\P{Cc}+$/u, 'must have no control characters'),
  )
  .max(200)

/** Appended to the agent's own; at most 32 KiB. */
export const SystemPrompt = Instructions

/** What a repeated request is told when nobody waited for the end of the first one. */
export const QueuedReceipt = z
  .object({
    status: z.literal('queued_timeout'),
    execution_id: Id,
    agent_name: z.string(),
    async_mode: z.literal(true),
  })
  .meta({ id: 'QueuedReceipt' })
export type QueuedReceipt = z.output<typeof QueuedReceipt>

/** Headers that requests for one run read, and those of their replies. */
export const runHeaders = ['Idempotency-Key', 'Prefer', 'X-Via-MCP'] as const
export const runReplyHeaders = ['X-Execution-Id', 'Preference-Applied'] as const

/** What everybody who asks for one run and waits for it must be ready for. */
export const runFails = [
  'agent_not_found',
  'agent_not_running',
  'invalid_model',
  'attachment_rejected',
  'attachment_too_large',
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
