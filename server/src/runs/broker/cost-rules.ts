import { type Price, type Provider, prices } from './prices.ts'

/** Tokens of one request as the provider reported them. `input` leaves out what came from the cache. */
export type Tokens = {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  /** Of `cacheWrite`, what was written for an hour. */
  cacheWriteLong: number
}

export const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0 }

/** What the request cost in micro-dollars, rounded to whole ones. */
export function costMicros(provider: Provider, model: string | null, tokens: Tokens): number {
  const price = priceOf(provider, model)
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite
  const at = price.long && prompt > price.long.above ? { ...price, ...price.long } : price
  const micros =
    tokens.input * at.input +
    tokens.output * at.output +
    tokens.cacheRead * at.read +
    (tokens.cacheWrite - tokens.cacheWriteLong) * at.write +
    tokens.cacheWriteLong * at.writeLong
  return Math.round(micros / 1_000_000)
}

/** Tokens that fit the model's window; `[1m]` asks Anthropic for the long one. */
export function contextWindow(provider: Provider, model: string | null): number {
  return model?.toLowerCase().includes('[1m]') ? 1_000_000 : priceOf(provider, model).window
}

/** What stands in the model's window after the request. */
export function contextTokens(tokens: Tokens): number {
  return tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.output
}

export function minus(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input - b.input,
    output: a.output - b.output,
    cacheRead: a.cacheRead - b.cacheRead,
    cacheWrite: a.cacheWrite - b.cacheWrite,
    cacheWriteLong: a.cacheWriteLong - b.cacheWriteLong,
  }
}

function priceOf(provider: Provider, model: string | null): Price {
  const id = (model ?? '').toLowerCase()
  const row = prices[provider].find(([start]) => id.startsWith(start))
  if (!row) throw new Error(`The price table of ${provider} has no last row.`)
  return row[1]
}
