import type { Tokens } from './cost-rules.ts'
import type { Provider } from './prices.ts'

/** What one JSON document of an answer says of its use; null when it says nothing. */
export type Reported = {
  model: string | null
  /** What is known so far; later documents of the same answer replace what they name again. */
  tokens: Partial<Tokens>
  /** Nothing more is to come. */
  isFinal: boolean
}

/** Reads a document: an event of a stream, or the whole answer. Whatever shape it has. */
export function readUsage(provider: Provider, document: unknown): Reported | null {
  if (!isRecord(document)) return null
  switch (provider) {
    case 'anthropic':
      return anthropicUsage(document)
    case 'google':
      return googleUsage(document)
    case 'openai':
      return openaiUsage(document)
  }
}

/** Messages API: `message_start` and `message_delta` of a stream, or a message. */
function anthropicUsage(document: Json): Reported | null {
  const message = isRecord(document.message) ? document.message : document
  const usage = message.usage
  if (!isRecord(usage)) return null
  const tokens: Partial<Tokens> = {}
  set(tokens, 'input', usage.input_tokens)
  set(tokens, 'output', usage.output_tokens)
  set(tokens, 'cacheRead', usage.cache_read_input_tokens)
  set(tokens, 'cacheWrite', usage.cache_creation_input_tokens)
  if (isRecord(usage.cache_creation))
    set(tokens, 'cacheWriteLong', usage.cache_creation.ephemeral_1h_input_tokens)
  return { model: textOf(message.model), tokens, isFinal: document.type !== 'message_start' }
}

/** generateContent: each document of a stream has the counts so far. Cached tokens are part of the prompt. */
function googleUsage(document: Json): Reported | null {
  const usage = document.usageMetadata
  if (!isRecord(usage)) return null
  const prompt = numberOf(usage.promptTokenCount) + numberOf(usage.toolUsePromptTokenCount)
  const cached = Math.min(prompt, numberOf(usage.cachedContentTokenCount))
  const candidates = Array.isArray(document.candidates) ? document.candidates : []
  return {
    model: textOf(document.modelVersion),
    tokens: {
      input: prompt - cached,
      cacheRead: cached,
      output: numberOf(usage.candidatesTokenCount) + numberOf(usage.thoughtsTokenCount),
    },
    isFinal: candidates.some((candidate) => isRecord(candidate) && candidate.finishReason !== undefined),
  }
}

/** Responses (`response.completed` and the like, or a response) and chat completions. Cached is part of input. */
function openaiUsage(document: Json): Reported | null {
  const response = isRecord(document.response) ? document.response : document
  const usage = response.usage
  if (!isRecord(usage)) return null
  const input = numberOf(usage.input_tokens ?? usage.prompt_tokens)
  const details = isRecord(usage.input_tokens_details)
    ? usage.input_tokens_details
    : usage.prompt_tokens_details
  const cached = isRecord(details) ? Math.min(input, numberOf(details.cached_tokens)) : 0
  return {
    model: textOf(response.model),
    tokens: {
      input: input - cached,
      cacheRead: cached,
      output: numberOf(usage.output_tokens ?? usage.completion_tokens),
    },
    isFinal: true,
  }
}

type Json = Record<string, unknown>

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function set(tokens: Partial<Tokens>, name: keyof Tokens, value: unknown): void {
  if (typeof value === 'number') tokens[name] = numberOf(value)
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.round(value) : 0
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, 200) : null
}
