import { z } from 'zod'

const aliases = ['sonnet', 'opus', 'haiku', 'fable']
const prefixes = ['claude-', 'gemini-', 'gpt-', 'codex']

/**
 * Parses a model override. Empty, whitespace or absent means the agent's default (null). Otherwise the value must start
 * with a known family, in any case; suffixes are kept. Returns undefined for an invalid id.
 */
export function parseModelOverride(value: string | null | undefined): string | null | undefined {
  const trimmed = value?.trim() ?? ''
  if (trimmed === '') return null
  const lower = trimmed.toLowerCase()
  return aliases.some((alias) => lower.startsWith(alias)) ||
    prefixes.some((prefix) => lower.startsWith(prefix))
    ? trimmed
    : undefined
}

/** The field in request bodies. The server applies the rule, so that its error names the value. */
export const ModelOverride = z.string().max(200).nullish()
