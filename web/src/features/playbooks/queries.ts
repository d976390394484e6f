import type { Client } from '@roost/contracts/client'
import { listPlaybooks } from '@roost/contracts/runs/playbooks'
import { queryOptions } from '@tanstack/react-query'
import { containerEvents, ofAgent, staleOn } from '../../live/stale.ts'

const playbooksKey = (name: string) => ['agent', name, 'playbooks'] as const

staleOn(['skills_*', 'execution_finished', ...containerEvents], ofAgent(playbooksKey))

/** The skills of the workspace that users can run, by name. */
export const playbooksQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: playbooksKey(name),
    queryFn: async ({ signal }) => (await api.call(listPlaybooks, { params: { name }, signal })).playbooks,
  })
