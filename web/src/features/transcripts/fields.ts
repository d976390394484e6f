import type { TokenUsage } from '@roost/contracts/link/transcript'

/**
 * Lines are untrusted data from a container. A field of an unexpected type counts as missing and never
 * throws.
 */
export type Fields = Record<string, unknown>

export function fieldsOf(value: unknown): Fields {
  // All properties are `unknown`, so the cast asserts nothing.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

export function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The blocks of a message; plain text is one block. */
export function blocksOf(content: unknown): Fields[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.map(fieldsOf) : []
}

/** The output of a tool as text: runtimes return a string or text blocks. */
export function outputOf(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content)
  return content
    .map((block) => {
      const { type, text } = fieldsOf(block)
      return typeof text === 'string' ? text : `[${textOf(type) || 'unknown'}]`
    })
    .join('\n')
}

export function usageOf(value: unknown): TokenUsage | null {
  const fields = fieldsOf(value)
  const input = numberOrNull(fields.input_tokens)
  const output = numberOrNull(fields.output_tokens)
  if (input === null || output === null) return null
  const created = numberOrNull(fields.cache_creation_input_tokens)
  const read = numberOrNull(fields.cache_read_input_tokens)
  return {
    input_tokens: input,
    output_tokens: output,
    ...(created === null ? {} : { cache_creation_input_tokens: created }),
    ...(read === null ? {} : { cache_read_input_tokens: read }),
  }
}
