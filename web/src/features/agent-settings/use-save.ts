import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useMutation } from '@tanstack/react-query'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'

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
    queries.setQueryData(queryKey, value)
    void queries.invalidateQueries({ queryKey: ['agent', name, 'details'] })
    void queries.invalidateQueries({ queryKey: ['agents', 'list'] })
    toast({ title: said(value), tone: 'success' })
    return value
  }
}

/** The same for a switch: shown at once, taken back when it is refused. */
export function useToggle<Value extends object>(
  queryKey: readonly unknown[],
  agent: Pick<AgentDetails, 'name'>,
  options: {
    save(enabled: boolean): Promise<Value>
    said(value: Value): string
    shown(enabled: boolean): Partial<Value>
  },
) {
  const { queries } = useApp()
  const save = useSave(queryKey, agent, options)
  return useMutation({
    mutationFn: save,
    onMutate: async (enabled: boolean) => {
      await queries.cancelQueries({ queryKey })
      const before = queries.getQueryData<Value>(queryKey)
      if (before) queries.setQueryData(queryKey, { ...before, ...options.shown(enabled) })
      return { before }
    },
    onError: (error, _enabled, context) => {
      if (context?.before) queries.setQueryData(queryKey, context.before)
      toast({ title: error.message, tone: 'danger' })
    },
  })
}
