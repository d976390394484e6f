import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'

const count = z.number().int()

/** Apart from the items: every page of the web application asks for it, and for nothing else of the queue. */
export const getQueueStats = endpoint({
  id: 'getOperatorQueueStats',
  method: 'GET',
  path: '/api/operator-queue/stats',
  summary: 'How many items there are, of those that the caller sees',
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
