import type { AgentDetails } from '@roost/contracts/agents/agent'
import { deleteAgent, putLabel, renameAgent } from '@roost/contracts/agents/registry'
import { putAgentTags } from '@roost/contracts/agents/tags'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { partOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from './queries.ts'

/** Saves the label optimistically. Null removes it. */
export function useLabel(name: string) {
  const { api } = useApp()
  return useShown(name, {
    save: (label: string | null) => api.call(putLabel, { params: { name }, body: { label } }),
    part: (label) => ({ label }),
  })
}

/** Replaces the tags optimistically. */
export function useTags(name: string) {
  const { api } = useApp()
  return useShown(name, {
    save: (tags: string[]) => api.call(putAgentTags, { params: { name }, body: { tags } }),
    part: (tags) => ({ tags }),
  })
}

export function useRename(name: string) {
  const app = useApp()
  return useMutation({
    mutationFn: (newName: string) =>
      app.api.call(renameAgent, { params: { name }, body: { new_name: newName } }),
    onSuccess: () => void app.queries.invalidateQueries({ queryKey: ['agents'] }),
  })
}

export function useDelete(name: string) {
  const app = useApp()
  return useMutation({
    mutationFn: () => app.api.call(deleteAgent, { params: { name } }),
    onSuccess: () => void app.queries.invalidateQueries({ queryKey: ['agents'] }),
    onError: showFault,
  })
}

function useShown<Input, Reply>(
  name: string,
  { save, part }: { save(input: Input): Promise<Reply>; part(input: Input): Partial<AgentDetails> },
) {
  const queryKey = agentKeys.details(name)
  return useOptimisticSave({
    queryKey,
    save,
    shows: (input: Input) => [partOf<AgentDetails>(queryKey, part(input))],
    stale: [agentKeys.list],
  })
}

function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
