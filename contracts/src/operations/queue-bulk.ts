import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Id } from '../kit/primitives.ts'
import { Answer, Reason, operatorQueueTag as tag } from './operator-queue.ts'

/** Items that are answered or cancelled at once. */
export const mostAtOnce = 500

const count = z.number().int()
const ids = z.array(Id).min(1).max(mostAtOnce)

export const BulkRespondBody = z.object({ ids, ...Answer })
export type BulkRespondBody = z.output<typeof BulkRespondBody>

export const bulkRespondToItems = endpoint({
  id: 'bulkRespondToOperatorItems',
  method: 'POST',
  path: '/api/operator-queue/bulk-respond',
  summary: 'Answer several items alike',
  description:
    'Items that are not pending, that do not offer this answer, or whose entry in the file has changed since are skipped.',
  tag,
  access: { who: 'any', gate: 'person', refuses: ['system'] },
  body: BulkRespondBody,
  returns: z.object({ answered: count, skipped: count, batch_id: Id }),
  audit: { type: 'operator_queue', action: 'bulk_respond' },
})

export const bulkCancelItems = endpoint({
  id: 'bulkCancelOperatorItems',
  method: 'POST',
  path: '/api/operator-queue/bulk-cancel',
  summary: 'Cancel several items; those that are not pending are skipped',
  tag,
  access: { who: 'any', gate: 'person' },
  body: z.object({ ids, reason: Reason }),
  returns: z.object({ cancelled: count, skipped: count, batch_id: Id }),
  audit: { type: 'operator_queue', action: 'bulk_cancel' },
})
