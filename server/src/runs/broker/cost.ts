import type { Price, PriceLookup } from '../prices/index.ts'
import type { Provider } from './provider-rules.ts'
import { type Metered, promptOf, type Tier, type Tokens } from './usage-rules.ts'

export type Cost = {
  /** Micro-dollars, rounded to whole ones. */
  micros: number
  /**
   * True for a price by model family, for a tier without a published price, and for usage that was not
   * reported.
   */
  isEstimated: boolean
  /** Size of the model's context window in tokens; null when unknown. */
  window: number | null
}

/** The provider, the prices and the time by which requests are priced. */
export type Pricing = { prices: PriceLookup; provider: Provider; at: Date }

export function costOf({ prices, provider, at }: Pricing, model: string | null, used: Metered): Cost {
  const priced = prices.priceOf(provider, model, at)
  const { price, isEstimated } = priced
  const { factor, isPublished } = factorOf(price, used.tier, prices.highestFactor(provider))
  const region = used.isUsInference ? price.usInference : 1
  const parts = used.parts && isWhole(used.parts, used.tokens) ? used.parts : [used.tokens]
  // Dollars per million tokens are micro-dollars per token.
  const tokens = parts.reduce((sum, part) => sum + microsOf(part, price), 0) * factor * region
  return {
    micros: Math.round(tokens + used.tokens.webSearches * price.webSearch * 1_000_000),
    isEstimated: isEstimated || !isPublished || used.isGuess === true,
    window: windowOf(model, priced),
  }
}

/** Size of the context window in tokens; null when unknown. */
export function windowOf(model: string | null, { price }: { price: Pick<Price, 'window'> }): number | null {
  return model?.toLowerCase().endsWith('[1m]') ? 1_000_000 : price.window
}

function microsOf(tokens: Tokens, price: Price): number {
  const { input, output, cacheRead, cacheWrite } = tokens
  const long = Math.min(tokens.cacheWriteLong, cacheWrite)
  const rates = price.long && promptOf(tokens) > price.long.above ? price.long : price
  return (
    input * rates.input +
    output * rates.output +
    cacheRead * rates.cacheRead +
    (cacheWrite - long) * rates.cacheWrite +
    long * rates.cacheWriteLong
  )
}

/**
 * A tier without a published factor costs the highest factor of the provider; `flex` costs the standard
 * price.
 */
function factorOf(price: Price, tier: Tier, highest: number): { factor: number; isPublished: boolean } {
  switch (tier) {
    case 'standard':
      return { factor: 1, isPublished: true }
    case 'flex':
      return { factor: price.flex ?? 1, isPublished: price.flex !== null }
    case 'fast':
      return { factor: price.fast ?? highest, isPublished: price.fast !== null }
    case 'unknown':
      return { factor: highest, isPublished: false }
  }
}

/** Returns false when the parts do not add up to the total. */
function isWhole(parts: readonly Tokens[], whole: Tokens): boolean {
  const counts = ['input', 'output', 'cacheRead', 'cacheWrite'] as const
  return counts.every((name) => parts.reduce((sum, part) => sum + part[name], 0) === whole[name])
}
