import type { ServerResponse } from 'node:http'
import type { Usage } from '../executions/index.ts'
import type { Cost } from './cost.ts'
import { drained } from './drained.ts'
import { UpstreamDown } from './failures.ts'
import type { Meter } from './meter.ts'
import { contextTokens, type Metered, minus, noTokens, type Tokens } from './usage-rules.ts'

/**
 * Passes an answer on as it comes and books what it says it used. The final count is booked before its
 * bytes go on, so that a run which ends on them finds its cost; an answer that is broken off is booked as
 * far as it came. Throws `UpstreamDown` for one that broke off, after ending the response.
 */
export async function relay(
  reply: AsyncIterable<Buffer>,
  response: ServerResponse,
  { meter, book }: { meter: Meter; book: Booking },
): Promise<void> {
  try {
    for await (const chunk of reply) {
      if (meter.feed(chunk)) await book()
      if (!response.write(chunk)) await drained(response)
    }
    meter.end()
    await book({ isOver: true })
    response.end()
  } catch (error) {
    meter.end()
    await book({ isOver: true })
    response.destroy()
    throw new UpstreamDown({ cause: error })
  }
}

export type Booking = (at?: { isOver: boolean }) => Promise<void>

/** Adds to a run, at each call, what its meter has counted since the last one. */
export function createBooking(of: {
  /** The model that was asked for, while the answer does not name one. */
  askedModel: string | null
  meter: Meter
  /** What an answer used that is over and reported nothing; null: nothing. */
  guess(): Metered | null
  /** What the request costs with what is metered so far. */
  cost(model: string | null, metered: Metered): Cost
  add(usage: Usage): Promise<void>
}): Booking {
  const { askedModel, meter, guess, cost, add } = of
  let booked: { tokens: Tokens; micros: number } | null = null
  return async ({ isOver } = { isOver: false }) => {
    const metered = meter.metered() ?? (isOver ? guess() : null)
    if (!metered) return
    const { tokens } = metered
    const fresh = minus(tokens, booked?.tokens ?? noTokens)
    if (booked && Object.values(fresh).every((count) => count === 0)) return
    const model = meter.model() ?? askedModel
    const { micros, isEstimated, window } = cost(model, metered)
    const before = booked?.micros ?? 0
    const requests = booked ? 0 : 1
    booked = { tokens, micros }
    await add({
      requests,
      cost_micros: micros - before,
      is_cost_estimated: isEstimated,
      input_tokens: fresh.input,
      output_tokens: fresh.output,
      cache_creation_tokens: fresh.cacheWrite,
      cache_read_tokens: fresh.cacheRead,
      model,
      context_used: contextTokens(tokens),
      context_max: window,
    })
  }
}
