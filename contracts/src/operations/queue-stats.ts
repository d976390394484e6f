import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'

const count = z.number().int()

/** A separate file keeps the web UI small: every page needs only this endpoint of the queue. */
export const getQueueStats = endpoint({
  id: 'getOperatorQueueStats',
  method: 'GET',
  path: '/api/operator-queue/stats',
  summary: 'Count the items that the caller may see',
  tag: 'Operator queue',
  access: { who: 'any' },
  returns: z.object({
    pending: count,
    by_status: z.record(z.string(), count),
    by_type: z.record(z.string(), count),
    by_priority: z.record(z.string(), count),
    by_agent: z.record(z.string(), count),
    oldest_pending_seconds: count.nullable(),
  }),
})
