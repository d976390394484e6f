import type { AgentDetails } from '@roost/contracts/agents/agent'
import { deleteAgent, putLabel, renameAgent } from '@roost/contracts/agents/registry'
import { putAgentTags } from '@roost/contracts/agents/tags'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { partOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from './queries.ts'

/** Changes the label; shown at once and taken back when it is refused. Null clears it. */
export function useLabel(name: string) {
  const { api } = useApp()
  return useShown(name, {
    save: (label: string | null) => api.call(putLabel, { params: { name }, body: { label } }),
    part: (label) => ({ label }),
  })
}

/** Replaces the tags, as above. */
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
    onError: complain,
  })
}

function useShown<Input, Reply>(
  name: string,
  { save, part }: { save(input: Input): Promise<Reply>; part(input: Input): Partial<AgentDetails> },
) {
  const queryKey = agentKeys.details(name)
  return useAtOnce({
    queryKey,
    save,
    shows: (input: Input) => [partOf<AgentDetails>(queryKey, part(input))],
    stale: [agentKeys.list],
  })
}

function complain(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
