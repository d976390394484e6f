import type { AgentDetails } from '@roost/contracts/agents/agent'
import { partOf } from '../../live/optimistic.ts'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from '../agents/queries.ts'

/** The props of every section. `isOwner`: may change the settings; others read them. */
export type SettingProps = { agent: AgentDetails; isOwner: boolean }

/**
 * Returns a function that saves one setting, shows the reply, refetches the agent's other views and shows
 * `message`.
 */
export function useSave<Input, Value>(
  queryKey: readonly unknown[],
  { name }: Pick<AgentDetails, 'name'>,
  { save, message }: { save(input: Input): Promise<Value>; message(value: Value): string },
) {
  const { queries } = useApp()
  return async (input: Input): Promise<Value> => {
    const value = await save(input)
    await storeReply(queries, queryKey, value)
    void queries.invalidateQueries({ queryKey: agentKeys.details(name) })
    void queries.invalidateQueries({ queryKey: agentKeys.list })
    toast({ title: message(value), tone: 'success' })
    return value
  }
}

/** Saves a switch optimistically and rolls it back when the platform refuses. */
export function useToggle<Value extends object>(
  queryKey: readonly unknown[],
  { name }: Pick<AgentDetails, 'name'>,
  options: {
    save(enabled: boolean): Promise<Value>
    message(value: Value): string
    shown(enabled: boolean): Partial<Value>
  },
) {
  return useOptimisticSave({
    queryKey,
    save: options.save,
    shows: (enabled: boolean) => [partOf<Value>(queryKey, options.shown(enabled))],
    stale: [agentKeys.details(name), agentKeys.list],
    onSuccess: (value) => void toast({ title: options.message(value), tone: 'success' }),
  })
}
