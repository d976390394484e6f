import { z } from 'zod'
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

/** The header that makes a repeated call harmless: by the key that the caller gave, else by the call itself. */
export function idempotent(
  { retryKey }: Pick<Call, 'retryKey'>,
  given?: string | undefined,
): Record<string, string> {
  const key = given ?? retryKey
  return key === null ? {} : { 'idempotency-key': key }
}
