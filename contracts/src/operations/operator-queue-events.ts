import { z } from 'zod'
import { eventType } from '../kit/event.ts'
import { Id, Timestamp } from '../kit/primitives.ts'
import { itemPriorities, itemStatuses, itemTypes } from './operator-queue.ts'

const count = z.number().int()
const changedItem = { item_id: Id, status: z.enum(itemStatuses), responded_by: z.string().nullish() }

export const operatorQueueNew = eventType({
  name: 'operator_queue.new',
  stored: true,
  fields: z.object({
    item_id: Id,
    item_type: z.enum(itemTypes),
    priority: z.enum(itemPriorities),
    title: z.string(),
    data: z.object({
      id: Id,
      agent_name: z.string().nullable(),
      type: z.enum(itemTypes),
      priority: z.enum(itemPriorities),
      title: z.string(),
      created_at: Timestamp,
    }),
  }),
})
export const operatorQueueResponded = eventType({
  name: 'operator_queue.responded',
  stored: true,
  fields: z.object(changedItem),
})
export const operatorQueueAcknowledged = eventType({
  name: 'operator_queue.acknowledged',
  stored: true,
  fields: z.object(changedItem),
})
export const operatorQueueCancelled = eventType({
  name: 'operator_queue.cancelled',
  stored: true,
  fields: z.object(changedItem),
})
export const operatorQueueExpired = eventType({
  name: 'operator_queue.expired',
  stored: true,
  fields: z.object(changedItem),
})
export const operatorQueueCleared = eventType({
  name: 'operator_queue.cleared',
  stored: true,
  fields: z.object({ count }),
})
