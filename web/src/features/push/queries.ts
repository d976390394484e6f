import type { Client } from '@roost/contracts/client'
import { listPushDevices } from '@roost/contracts/operations/push'
import { queryOptions } from '@tanstack/react-query'

export const pushDevicesQuery = (api: Client) =>
  queryOptions({
    queryKey: ['push-devices'],
    queryFn: ({ signal }) => api.call(listPushDevices, { signal }),
  })
