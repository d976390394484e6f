import { createHash } from 'node:crypto'
import { AgentParams } from '@roost/contracts/kit/primitives'
import { z } from 'zod'
import { Refusal } from '../refusals.ts'
import type { Call } from '../tool.ts'

/** Parameters and descriptions that many tools share. */
export const agentName = AgentParams.shape.name.describe('Name of the agent, as list_agents returns it.')
export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .describe(
    'Any unique text. A repeated call with the same key within 24 hours returns the first result and starts no new work.',
  )
export const words = {
  model:
    'Model to use: a short alias (sonnet, opus, haiku, fable) or a full id (claude-…, gemini-…, gpt-…). Defaults to the model of the agent.',
  allowed_tools:
    'The only tools of the coding CLI that may be used, for example ["Read", "Bash(git log:*)"]. Defaults to all.',
  system_prompt: 'Instructions added to those of the agent, for this run only.',
  limit: 'Maximum number of items.',
  offset: 'Number of items to skip.',
} as const

/** Reasons that several tools give for a field without a parameter, or for a parameter that differs. */
export const reasons = {
  self: 'The agent is the one whose key makes the call.',
  files: 'Attachments are file contents, which a model cannot produce. Put files into the workspace instead.',
  values: 'The endpoint answers unknown_filter for other values; a model is shown the known ones.',
  ownIdempotencyKey: 'Sent as the header Idempotency-Key.',
} as const
/**
 * The `Idempotency-Key` of an API request: the tool's argument, else the header of the MCP request, else the call
 * itself. Throws `invalid_parameters` when argument and header differ.
 */
export function idempotent(
  { headerKey, retryKey }: Pick<Call, 'headerKey' | 'retryKey'>,
  argument?: string | undefined,
): Record<string, string> {
  if (argument !== undefined && headerKey !== null && argument !== headerKey) {
    throw new Refusal(
      'invalid_parameters',
      'idempotency_key: differs from the header Idempotency-Key of the request. Send one of them, or the same value in both.',
    )
  }
  const key = argument ?? headerKey ?? retryKey
  return key === null ? {} : { 'idempotency-key': headerValue(key) }
}

/** Text that is not a valid header value is replaced by its digest. */
function headerValue(key: string): string {
  if (/^[\x21-\x7e\x80-\xff]([\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(key)) return key
  return createHash('sha256').update(key).digest('base64url')
}
