import { z } from 'zod'

/** Accompanies every cost, of one run or of many. */
export const CostEstimated = z
  .boolean()
  .describe(
    'Part of the cost is an estimate: the price table has no row for a model, so its family applies, or a provider reported no usage.',
  )
