import type { AgentDetails } from '@roost/contracts/agents/agent'
import { partOf } from '../../live/at-once.ts'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from '../agents/queries.ts'

/** What every part of the tab is given. `isOwner`: may change it; others read. */
export type SettingProps = { agent: AgentDetails; isOwner: boolean }

/**
 * Stores one setting: its reply takes the place of what is shown, and the agent's other views are fetched
 * anew. `said` is what the person is told.
 */
export function useSave<Input, Value>(
  queryKey: readonly unknown[],
  { name }: Pick<AgentDetails, 'name'>,
  { save, said }: { save(input: Input): Promise<Value>; said(value: Value): string },
) {
  const { queries } = useApp()
  return async (input: Input): Promise<Value> => {
    const value = await save(input)
    await storeReply(queries, queryKey, value)
    void queries.invalidateQueries({ queryKey: agentKeys.details(name) })
    void queries.invalidateQueries({ queryKey: agentKeys.list })
    toast({ title: said(value), tone: 'success' })
    return value
  }
}

/** The same for a switch: shown at once, taken back when it is refused. */
export function useToggle<Value extends object>(
  queryKey: readonly unknown[],
  { name }: Pick<AgentDetails, 'name'>,
  options: {
    save(enabled: boolean): Promise<Value>
    said(value: Value): string
    shown(enabled: boolean): Partial<Value>
  },
) {
  return useAtOnce({
    queryKey,
    save: options.save,
    shows: (enabled: boolean) => [partOf<Value>(queryKey, options.shown(enabled))],
    stale: [agentKeys.details(name), agentKeys.list],
    onSuccess: (value) => void toast({ title: options.said(value), tone: 'success' }),
  })
}
