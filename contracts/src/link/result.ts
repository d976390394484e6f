/** Fields of a result, for the link and the HTTP callback. Kept small, because web pages import them too. */
import { z } from 'zod'

/** Limited by the database columns; a runtime that reports more is faulty. */
const Tokens = z.number().int().min(0).max(2_000_000_000)
/** Identifies the claim that a message about a run belongs to. */
export const ClaimToken = z.number().int().min(1).max(2_000_000_000)
const Text = z.string()

const RunErrorCode = z.enum([
  'timeout',
  'stalled',
  'rate_limited',
  'auth',
  'billing',
  'oom',
  'max_turns',
  'model_unsupported',
  'agent_error',
  'no_result',
  'network',
  'cap_reached',
  'agent_lost',
  'user_cancelled',
])
const TerminalReason = z.enum([
  'completed',
  'max_duration',
  'stall_no_output',
  'auth',
  'empty_result',
  'cancelled',
  'crashed',
])

export const RunMetadata = z.object({
  cost_usd: z.number().min(0).max(1_000_000).nullish(),
  duration_ms: z.number().min(0).max(2_000_000_000).nullish(),
  num_turns: Tokens.nullish(),
  tool_count: Tokens.optional(),
  session_id: z.string().max(200).nullish(),
  input_tokens: Tokens.optional(),
  output_tokens: Tokens.optional(),
  cache_creation_tokens: Tokens.optional(),
  cache_read_tokens: Tokens.optional(),
  context_window: Tokens.nullish(),
  context_tokens: Tokens.nullish(),
  model_used: z.string().max(200).nullish(),
  compact_events: z
    .array(
      z.object({
        at: z.string().max(40),
        before_tokens: Tokens.nullable(),
        after_tokens: Tokens.nullable(),
      }),
    )
    .max(1000)
    .optional(),
  session_lost: z.boolean().optional(),
})

/** Fields of a result, for the link and the HTTP callback. */
export const resultFields = {
  claim_token: ClaimToken,
  status: z.enum(['success', 'failed', 'cancelled']),
  response: Text.nullish().transform((value) => value ?? null),
  error: Text.max(100_000)
    .nullish()
    .transform((value) => value ?? null),
  error_code: RunErrorCode.nullish().transform((value) => value ?? null),
  terminal_reason: TerminalReason.nullish().transform((value) => value ?? null),
  metadata: RunMetadata.nullish().transform((value) => value ?? {}),
  runtime_session_id: z
    .string()
    .max(200)
    .nullish()
    .transform((value) => value ?? null),
  execution_time_ms: Tokens.nullish().transform((value) => value ?? 0),
}
