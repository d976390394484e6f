import type { Provider } from './provider-rules.ts'

/** Usage of one request as the provider reported it. `input` excludes tokens read from the cache. */
export type Tokens = {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  /** The part of `cacheWrite` that was written for an hour. */
  cacheWriteLong: number
  /** Web searches that the provider ran, which are priced separately. */
  webSearches: number
}

export const noTokens: Tokens = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteLong: 0,
  webSearches: 0,
}

/** The service tier of a request; `unknown` is a name without a published meaning. */
export type Tier = 'standard' | 'fast' | 'flex' | 'unknown'

export type Metered = {
  tokens: Tokens
  tier: Tier
  isUsInference: boolean
  /** The model calls inside one request, which are priced separately; null for a single call. */
  parts: readonly Tokens[] | null
  /** The last of several model calls: what is in the context window afterwards. Null for a single call. */
  context: Tokens | null
  /** The provider reported nothing, or not to the end: estimated from the bytes that passed. */
  isGuess?: true
}

/** The usage in one JSON document of a response; null when it has none. */
export type Reported = {
  model: string | null
  /** Counts so far; fields in later documents of the same response replace earlier ones. */
  tokens: Partial<Tokens>
  tier?: Tier
  isUsInference?: boolean
  parts?: Tokens[]
  context?: Tokens | undefined
  /** What is billed besides `tokens`. */
  extra?: Tokens
  /** A part has a price of its own, which is not known. */
  isGuess?: true
  /** True when no further counts follow. */
  isFinal: boolean
}

export function promptOf({ input, cacheRead, cacheWrite }: Tokens): number {
  return input + cacheRead + cacheWrite
}

/** Tokens in the model's context window after the request. */
export function contextTokens(tokens: Tokens): number {
  return promptOf(tokens) + tokens.output
}

export function minus(a: Tokens, b: Tokens): Tokens {
  return combined(a, b, -1)
}

export function plus(a: Tokens, b: Tokens): Tokens {
  return combined(a, b, 1)
}

function combined(a: Tokens, b: Tokens, factor: 1 | -1): Tokens {
  return {
    input: a.input + factor * b.input,
    output: a.output + factor * b.output,
    cacheRead: a.cacheRead + factor * b.cacheRead,
    cacheWrite: a.cacheWrite + factor * b.cacheWrite,
    cacheWriteLong: a.cacheWriteLong + factor * b.cacheWriteLong,
    webSearches: a.webSearches + factor * b.webSearches,
  }
}

const bytesPerToken = 4
/** Of pictures and other files. */
const encodedBytesPerToken = 64
/** More bytes without a space are no text. */
const longestWord = 4096

/** Estimates the tokens of text. */
export function tokensOfText(bytes: number): number {
  return bytes / bytesPerToken
}

/** Estimates the tokens of a part of a request or a response, which may be a part of an encoded file. */
export function tokensOfBytes(chunk: Buffer): number {
  const isText = chunk.length <= longestWord || chunk.includes(0x20)
  return chunk.length / (isText ? bytesPerToken : encodedBytesPerToken)
}

/**
 * Estimates a response without usage, because the client left or did not request usage: otherwise an agent could spend
 * unnoticed. No input is larger than the context window.
 */
export function guessOf(of: { input: number; output: number; window: number | null; tier: Tier }): Metered {
  const input = Math.ceil(Math.min(of.input, of.window ?? Number.POSITIVE_INFINITY))
  const tokens = { ...noTokens, input, output: Math.ceil(of.output) }
  // Nothing is known about the context, which may be cached or compacted.
  return { tokens, tier: of.tier, isUsInference: false, parts: null, context: noTokens, isGuess: true }
}

/**
 * The usage of a response that ended before its last count. Until then a provider reports the input and next to no
 * output, so the higher output counts.
 */
export function settled(reported: Metered | null, guess: Metered | null): Metered | null {
  if (!reported || !guess) return reported ?? guess
  const output = Math.max(reported.tokens.output, guess.tokens.output)
  return { ...reported, tokens: { ...reported.tokens, output }, parts: null, isGuess: true }
}

/** Reads one document: an event of a stream or the whole response, of any shape. */
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
  const tokens = anthropicTokens(usage)
  if (isRecord(usage.server_tool_use)) set(tokens, 'webSearches', usage.server_tool_use.web_search_requests)
  const iterations = listOf(usage.iterations).map((each) => ({
    type: each.type,
    isMessage: each.type === 'message',
    tokens: { ...noTokens, ...anthropicTokens(each) },
  }))
  const others = iterations.filter(({ isMessage }) => !isMessage)
  return {
    model: textOf(message.model),
    tokens,
    ...(typeof usage.speed === 'string' ? { tier: tierOf(usage.speed) } : {}),
    ...(typeof usage.inference_geo === 'string' ? { isUsInference: usage.inference_geo === 'us' } : {}),
    ...(iterations.length > 1
      ? {
          parts: iterations.map((each) => each.tokens),
          context: iterations.findLast(({ isMessage }) => isMessage)?.tokens,
        }
      : {}),
    // The totals are those of the messages alone; a compaction is billed as well.
    ...(others.length > 0 ? { extra: others.map((each) => each.tokens).reduce(plus) } : {}),
    // Another model may have answered, such as an advisor.
    ...(others.some(({ type }) => type !== 'compaction') ? { isGuess: true } : {}),
    isFinal: document.type !== 'message_start',
  }
}

function anthropicTokens(usage: Json): Partial<Tokens> {
  const tokens: Partial<Tokens> = {}
  set(tokens, 'input', usage.input_tokens)
  set(tokens, 'output', usage.output_tokens)
  set(tokens, 'cacheRead', usage.cache_read_input_tokens)
  set(tokens, 'cacheWrite', usage.cache_creation_input_tokens)
  if (isRecord(usage.cache_creation))
    set(tokens, 'cacheWriteLong', usage.cache_creation.ephemeral_1h_input_tokens)
  return tokens
}

/** generateContent: each document has running totals. Cached tokens are part of the prompt. */
function googleUsage(document: Json): Reported | null {
  const usage = document.usageMetadata
  if (!isRecord(usage)) return null
  const prompt = numberOf(usage.promptTokenCount) + numberOf(usage.toolUsePromptTokenCount)
  const cached = Math.min(prompt, numberOf(usage.cachedContentTokenCount))
  const candidates = listOf(document.candidates)
  const searches = candidates.map(({ groundingMetadata }) =>
    isRecord(groundingMetadata) && Array.isArray(groundingMetadata.webSearchQueries)
      ? groundingMetadata.webSearchQueries.length
      : 0,
  )
  const webSearches = searches.reduce((sum, count) => sum + count, 0)
  return {
    model: textOf(document.modelVersion),
    tokens: {
      input: prompt - cached,
      cacheRead: cached,
      output: numberOf(usage.candidatesTokenCount) + numberOf(usage.thoughtsTokenCount),
      ...(webSearches > 0 ? { webSearches } : {}),
    },
    isFinal: candidates.some(({ finishReason }) => finishReason !== undefined),
  }
}

/**
 * Responses (`response.completed` and similar, or a whole response) and chat completions. Cache reads and
 * writes are part of the input.
 */
function openaiUsage(document: Json): Reported | null {
  const response = isRecord(document.response) ? document.response : document
  const usage = response.usage
  if (!isRecord(usage)) return null
  const input = numberOf(usage.input_tokens ?? usage.prompt_tokens)
  const given = usage.input_tokens_details ?? usage.prompt_tokens_details
  const details = isRecord(given) ? given : {}
  const cached = Math.min(input, numberOf(details.cached_tokens))
  const written = Math.min(input - cached, numberOf(details.cache_write_tokens))
  const searches = listOf(response.output).filter(({ type }) => type === 'web_search_call')
  return {
    model: textOf(response.model),
    tokens: {
      input: input - cached - written,
      cacheRead: cached,
      cacheWrite: written,
      output: numberOf(usage.output_tokens ?? usage.completion_tokens),
      webSearches: searches.length,
    },
    ...(typeof response.service_tier === 'string' ? { tier: tierOf(response.service_tier) } : {}),
    isFinal: true,
  }
}

/** Names of service tiers, as the providers report them. */
export function tierOf(name: string): Tier {
  return Object.hasOwn(tiers, name.toLowerCase()) ? (tiers[name.toLowerCase()] ?? 'unknown') : 'unknown'
}

const tiers: Record<string, Tier> = {
  standard: 'standard',
  default: 'standard',
  auto: 'standard',
  scale: 'standard',
  fast: 'fast',
  priority: 'fast',
  flex: 'flex',
  batch: 'flex',
}

type Json = Record<string, unknown>

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
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
