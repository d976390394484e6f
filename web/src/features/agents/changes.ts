import type { AgentDetails } from '@roost/contracts/agents/agent'
import { deleteAgent, putLabel, renameAgent } from '@roost/contracts/agents/registry'
import { putAgentTags } from '@roost/contracts/agents/tags'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { type App, useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from './queries.ts'

/** Changes the label; shown at once and taken back when it is refused. Null clears it. */
export function useLabel(name: string) {
  const app = useApp()
  return useMutation({
    mutationFn: (label: string | null) => app.api.call(putLabel, { params: { name }, body: { label } }),
    onMutate: (label) => showAtOnce(app, name, { label }),
    onError: (error, _label, undo) => takeBack(error, undo),
    onSettled: () => refresh(app, name),
  })
}

/** Replaces the tags, as above. */
export function useTags(name: string) {
  const app = useApp()
  return useMutation({
    mutationFn: (tags: string[]) => app.api.call(putAgentTags, { params: { name }, body: { tags } }),
    onMutate: (tags) => showAtOnce(app, name, { tags }),
    onError: (error, _tags, undo) => takeBack(error, undo),
    onSettled: () => refresh(app, name),
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

/** Returns what takes the change back. */
async function showAtOnce({ queries }: App, name: string, part: Partial<AgentDetails>) {
  const queryKey = agentKeys.details(name)
  await queries.cancelQueries({ queryKey })
  const before = queries.getQueryData<AgentDetails>(queryKey)
  if (before) queries.setQueryData(queryKey, { ...before, ...part })
  return () => void queries.setQueryData(queryKey, before)
}

function takeBack(error: unknown, undo: (() => void) | undefined): void {
  undo?.()
  complain(error)
}

function complain(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

function refresh({ queries }: App, name: string) {
  return Promise.all([
    queries.invalidateQueries({ queryKey: agentKeys.details(name) }),
    queries.invalidateQueries({ queryKey: agentKeys.list }),
  ])
}
