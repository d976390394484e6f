import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Refusal } from '../refusals.ts'
import type { Call } from '../tool.ts'

/** Parameters that many tools take, in the words in which a model is told of them. */
export const agentName = z
  .string()
  .min(1)
  .describe('Name of the agent, as list_agents gives it. It is unique and has no spaces.')
export const model = z
  .string()
  .optional()
  .describe(
    'Model for this run only: a short alias (sonnet, opus, haiku, fable) or a full id (claude-…, gemini-…, gpt-…). Left out: the model of the agent.',
  )
export const allowedTools = z
  .array(z.string())
  .optional()
  .describe('Only these tools of the coding CLI may be used, for example ["Read", "Bash(git log:*)"].')
export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .describe(
    'Any unique text. Asking again with the same key within 24 hours gives the first answer and does not do the work twice.',
  )
export const systemPrompt = z
  .string()
  .optional()
  .describe('Instructions that are added to those of the agent, for this run only.')

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

/** Other text does not survive as a header value, so its digest stands for it. */
function headerValue(key: string): string {
  if (/^[\x21-\x7e\x80-\xff]([\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(key)) return key
  return createHash('sha256').update(key).digest('base64url')
}
