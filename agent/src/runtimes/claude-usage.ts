import type { TokenUsage } from '@roost/contracts/link/transcript'
import { countAt, isObject, type Json, numberAt, objectAt } from '../kit/json.ts'

export function usageOf(usage: Json): TokenUsage {
  return {
    input_tokens: countAt(usage, 'input_tokens'),
    output_tokens: countAt(usage, 'output_tokens'),
    cache_creation_input_tokens: countAt(usage, 'cache_creation_input_tokens'),
    cache_read_input_tokens: countAt(usage, 'cache_read_input_tokens'),
  }
}

/** Context size after the last call: its whole input and output. */
export function contextOf(usage: TokenUsage): number {
  const { input_tokens, output_tokens, cache_creation_input_tokens = 0, cache_read_input_tokens = 0 } = usage
  return input_tokens + output_tokens + cache_creation_input_tokens + cache_read_input_tokens
}

/** Cost of this turn. `total_cost_usd` and `modelUsage` accumulate over the whole session. */
export function costOf(line: Json): number | null {
  const since = line.model_usage_since_last_result
  if (!isObject(since)) return numberAt(line, 'total_cost_usd')
  return Object.values(since).reduce<number>((sum, usage) => sum + (numberAt(usage, 'costUSD') ?? 0), 0)
}

/** Context window of the answering model, or of the largest model involved. */
export function windowOf(line: Json, model: string | null): number | null {
  const usage = objectAt(line, 'modelUsage')
  const own = model ? numberAt(usage[model], 'contextWindow') : null
  return (
    own ??
    Object.values(usage).reduce<number | null>((max, entry) => {
      const size = numberAt(entry, 'contextWindow')
      return size === null ? max : Math.max(size, max ?? 0)
    }, null)
  )
}
