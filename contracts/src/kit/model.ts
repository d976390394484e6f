import { z } from 'zod'

const aliases = ['sonnet', 'opus', 'haiku', 'fable']
const prefixes = ['claude-', 'gemini-', 'gpt-', 'codex']

/**
 * The model-override rule: empty, whitespace or absent means the agent's default (null); otherwise the
 * value must start, ignoring case, with a known family. Only the shape is checked; suffixes are kept.
 * `undefined` means: not a model id.
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

/** As it stands in request bodies; the rule is applied by the server so that its error names the value. */
export const ModelOverride = z.string().max(200).nullish()
