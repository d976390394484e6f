import type { Price, PriceLookup } from '../prices/index.ts'
import type { Provider } from './provider-rules.ts'
import { type Metered, promptOf, type Tier, type Tokens } from './usage-rules.ts'

export type Cost = {
  /** Micro-dollars, rounded to whole ones. */
  micros: number
  /** Priced by the family of the model, in a tier without a published price, or for usage that nobody reported. */
  isEstimated: boolean
  /** Tokens that fit the model's window; null: not known. */
  window: number | null
}

/** What requests to one provider cost, by the price table as it is at this moment. */
export type Pricing = { prices: PriceLookup; provider: Provider; at: Date }

export function costOf({ prices, provider, at }: Pricing, model: string | null, used: Metered): Cost {
  const { price, isEstimated } = prices.priceOf(provider, model, at)
  const { factor, isPublished } = factorOf(price, used.tier, prices.highestFactor(provider))
  const region = used.isUsInference ? price.usInference : 1
  const parts = used.parts && isWhole(used.parts, used.tokens) ? used.parts : [used.tokens]
  // Dollars per million tokens are micro-dollars per token.
  const tokens = parts.reduce((sum, part) => sum + microsOf(part, price), 0) * factor * region
  return {
    micros: Math.round(tokens + used.tokens.webSearches * price.webSearch * 1_000_000),
    isEstimated: isEstimated || !isPublished || used.isGuess === true,
    window: model?.toLowerCase().endsWith('[1m]') ? 1_000_000 : price.window,
  }
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

/** A tier without a published factor costs as much as the dearest one, or the standard price for `flex`. */
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

/** Parts that do not add up to the whole leave something out. */
function isWhole(parts: readonly Tokens[], whole: Tokens): boolean {
  const counts = ['input', 'output', 'cacheRead', 'cacheWrite'] as const
  return counts.every((name) => parts.reduce((sum, part) => sum + part[name], 0) === whole[name])
}
