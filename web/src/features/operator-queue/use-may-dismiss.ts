import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { agentsQuery } from '../agents/queries.ts'
import { meQuery } from '../users/queries.ts'

export type MayDismiss = {
  /** The item can be dismissed by this person. */
  item(item: Pick<QueueItem, 'agent_name'>): boolean
  /** Some item might be. */
  any: boolean
}

/**
 * Operators dismiss whatever they see, others what is asked by agents of their own: somebody an agent has
 * addressed answers, and cannot wave the question away.
 */
export function useMayDismiss(): MayDismiss {
  const api = useApi()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const isOperator = me.role !== 'user'
  const { data: agents } = useQuery({ ...agentsQuery(api), enabled: !isOperator })
  const own = new Set(agents?.filter(({ is_owner }) => is_owner).map(({ name }) => name))
  return {
    item: ({ agent_name: name }) => isOperator || (name !== null && own.has(name)),
    any: isOperator || own.size > 0,
  }
}
