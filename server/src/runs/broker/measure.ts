import type { Meters } from '../../kit/platform-meters.ts'
import type { Usage } from '../executions/index.ts'
import { Aborted, Refused, UpstreamDown } from './failures.ts'
import type { Provider } from './provider-rules.ts'

/** `refused`: by the platform, before a provider saw the request. */
export type ModelResult =
  | 'ok'
  | 'rate_limited'
  | 'client_error'
  | 'server_error'
  | 'unreachable'
  | 'aborted'
  | 'refused'
  | 'broker_error'

export function resultOf(status: number): ModelResult {
  if (status < 400) return 'ok'
  if (status === 429) return 'rate_limited'
  return status < 500 ? 'client_error' : 'server_error'
}

export function failedResult(error: unknown): ModelResult {
  if (error instanceof Refused) return 'refused'
  if (error instanceof UpstreamDown) return 'unreachable'
  return error instanceof Aborted ? 'aborted' : 'broker_error'
}

const kinds = ['input', 'output', 'cache_creation', 'cache_read'] as const

export type ModelMeters = Pick<Meters, 'modelRequests' | 'modelSeconds' | 'modelTokens' | 'modelCost'>

/** Counts requests, tokens and cost by provider: the only part of a request that no caller chooses freely. */
export function measured({ meters, monotonic }: { meters: ModelMeters; monotonic(): number }) {
  return {
    begin(provider: Provider): (result: ModelResult) => void {
      const startedAt = monotonic()
      return (result) => {
        meters.modelRequests.add([provider, result])
        meters.modelSeconds.observe([provider], (monotonic() - startedAt) / 1000)
      }
    },
    used(provider: Provider, usage: Usage): void {
      for (const kind of kinds) {
        const tokens = usage[`${kind}_tokens`]
        if (tokens > 0) meters.modelTokens.add([provider, kind], tokens)
      }
      // A correction of a guessed cost is negative, and a counter never falls.
      if (usage.cost_micros > 0) meters.modelCost.add([provider], usage.cost_micros / 1_000_000)
    },
  }
}
