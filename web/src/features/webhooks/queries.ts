import type { Client } from '@roost/contracts/client'
import { getWebhook } from '@roost/contracts/triggers/webhooks'
import { queryOptions } from '@tanstack/react-query'
import { scheduleKeys } from '../schedules/queries.ts'

export const webhookQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...scheduleKeys.one(name, id), 'webhook'],
    queryFn: ({ signal }) => api.call(getWebhook, { params: { name, id }, signal }),
  })
