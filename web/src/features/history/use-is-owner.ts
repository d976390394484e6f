import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { agentQuery } from '../agents/queries.ts'

/** Whether the user may restore the workspace; false until it is known. */
export function useIsOwner(agentName: string): boolean {
  const { data } = useQuery(agentQuery(useApi(), agentName))
  return data !== undefined && (data.is_owner || data.can_delete)
}
