import type { ServerResponse } from 'node:http'
import type { Usage } from '../executions/index.ts'
import type { Cost } from './cost.ts'
import { drained } from './drained.ts'
import { UpstreamDown } from './failures.ts'
import type { Meter } from './meter.ts'
import { contextTokens, type Metered, minus, noTokens, settled, type Tokens } from './usage-rules.ts'

/**
 * Forwards a response and books its reported usage. The final count is booked before its bytes are forwarded,
 * so that a run that ends on them finds its cost. An aborted response is booked as far as it came, then
 * throws `UpstreamDown`.
 */
export async function relay(
  reply: AsyncIterable<Buffer>,
  response: ServerResponse,
  { meter, book, onChunk }: { meter: Meter; book: Booking; onChunk(): void },
): Promise<void> {
  try {
    for await (const chunk of reply) {
      const isFinal = meter.feed(chunk)
      onChunk()
      if (isFinal) await book()
      if (!response.write(chunk)) await drained(response)
    }
    meter.end()
    await book({ hasEnded: true })
    response.end()
  } catch (error) {
    meter.end()
    await book({ hasEnded: true })
    response.destroy()
    throw new UpstreamDown({ cause: error })
  }
}

export type Booking = (at?: { hasEnded: boolean }) => Promise<void>

/** Each call adds the usage that the meter has counted since the last call. */
export function createBooking(of: {
  /** The requested model, until the response names one. */
  requestedModel: string | null
  meter: Meter
  /** Estimates the usage of an ended response that did not report all of it; null for no usage. */
  guess(): Metered | null
  /** Cost of the request with the usage metered so far. */
  cost(model: string | null, metered: Metered): Cost
  add(usage: Usage): Promise<void>
}): Booking {
  const { requestedModel, meter, guess, cost, add } = of
  let booked: { tokens: Tokens; micros: number } | null = null
  return async ({ hasEnded } = { hasEnded: false }) => {
    const reported = meter.metered()
    const metered = hasEnded && !meter.isFinal() ? settled(reported, guess()) : reported
    if (!metered) return
    const { tokens } = metered
    const fresh = minus(tokens, booked?.tokens ?? noTokens)
    if (booked && Object.values(fresh).every((count) => count === 0)) return
    const model = meter.model() ?? requestedModel
    const { micros, isEstimated, window } = cost(model, metered)
    const before = booked?.micros ?? 0
    const requests = booked ? 0 : 1
    await add({
      requests,
      cost_micros: micros - before,
      is_cost_estimated: isEstimated,
      input_tokens: fresh.input,
      output_tokens: fresh.output,
      cache_creation_tokens: fresh.cacheWrite,
      cache_read_tokens: fresh.cacheRead,
      model,
      context_used: contextTokens(metered.context ?? tokens),
      context_max: window,
    })
    booked = { tokens, micros }
  }
}
