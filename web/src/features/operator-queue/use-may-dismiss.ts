import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { agentsQuery } from '../agents/queries.ts'
import { meQuery } from '../users/queries.ts'

export type MayDismiss = {
  /** Whether this user may dismiss the item. */
  item(item: Pick<QueueItem, 'agent_name'>): boolean
  /** Whether this user may dismiss any item. */
  any: boolean
}

/**
 * Operators may dismiss all items that they see, others those of their own agents. A recipient who is not the
 * owner can only answer.
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
