import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { inQuery } from '../kit/in-query.ts'
import { Id } from '../kit/primitives.ts'
import { Answer, Reason, operatorQueueTag as tag } from './operator-queue.ts'

/** Maximum of items per request. */
export const maxItems = 500

const count = z.number().int()
const ids = z.array(Id).min(1).max(maxItems)

export const BulkRespondBody = z.object({ ids, ...Answer })
export type BulkRespondBody = z.output<typeof BulkRespondBody>

export const bulkRespondToItems = endpoint({
  id: 'bulkRespondToOperatorItems',
  method: 'POST',
  path: '/api/operator-queue/bulk-respond',
  summary: 'Give several items the same answer',
  description:
    'Skips items that are not pending, do not offer this answer, or whose entry in the file has changed.',
  tag,
  access: { who: 'any', gate: 'person', refuses: ['system'] },
  strict: true,
  query: inQuery(BulkRespondBody),
  body: BulkRespondBody,
  bodyOptional: true,
  returns: z.object({ answered: count, skipped: count, batch_id: Id }),
  audit: { type: 'operator_queue', action: 'bulk_respond' },
})

const BulkCancelBody = z.object({ ids, reason: Reason })

export const bulkCancelItems = endpoint({
  id: 'bulkCancelOperatorItems',
  method: 'POST',
  path: '/api/operator-queue/bulk-cancel',
  summary: 'Cancel several items; those that are not pending are skipped',
  tag,
  access: { who: 'any', gate: 'person' },
  strict: true,
  query: inQuery(BulkCancelBody),
  body: BulkCancelBody,
  bodyOptional: true,
  returns: z.object({ cancelled: count, skipped: count, batch_id: Id }),
  audit: { type: 'operator_queue', action: 'bulk_cancel' },
})
