import {
  type Conversation,
  createConversation,
  renameConversation,
  resetMain,
  starConversation,
} from '@roost/contracts/conversations/workspace-conversations'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { rowsOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { conversationsQuery, everyConversationQuery, workspaceKeys } from './queries.ts'
import { showFault } from './show-fault.ts'

/** The user's actions on the conversations of one agent. */
export function useConversationActions(name: string) {
  const { api, queries } = useApp()
  const navigate = useNavigate()
  const stale = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: workspaceKeys.conversations(name) }),
      queries.invalidateQueries({ queryKey: workspaceKeys.every }),
    ])
  const show = (id: string, change: Partial<Conversation>) => {
    const changed = (rows: Conversation[] | undefined) =>
      rows?.map((row) => (row.id === id ? { ...row, ...change } : row))
    queries.setQueryData(conversationsQuery(api, name).queryKey, changed)
    queries.setQueryData(everyConversationQuery(api).queryKey, changed)
  }

  const begin = useMutation({
    mutationFn: () => api.call(createConversation, { params: { name }, body: {} }),
    onSuccess: async ({ id }) => {
      await stale()
      void navigate({ to: '/workspace/c/$id', params: { id }, search: {} })
    },
    onError: showFault,
  })
  /** Saved optimistically. */
  const star = useOptimisticSave({
    queryKey: workspaceKeys.conversations(name),
    save: ({ id, starred }: Pick<Conversation, 'id' | 'starred'>) =>
      api.call(starConversation, { params: { id }, body: { starred } }),
    shows: ({ id, starred }) =>
      [conversationsQuery(api, name), everyConversationQuery(api)].map(({ queryKey }) =>
        rowsOf<Conversation>(queryKey, (row) => row.id === id, { starred }),
      ),
    stale: [workspaceKeys.every],
  })
  const reset = useMutation({
    mutationFn: () => api.call(resetMain, { params: { name } }),
    onSuccess: async ({ archived_session_id }) => {
      await stale()
      if (archived_session_id === null) return
      toast({
        title: 'Main started over.',
        description: 'The previous messages are in the archived conversations.',
      })
      void navigate({ to: '/workspace/a/$agent', params: { agent: name }, search: {} })
    },
    onError: showFault,
  })
  return {
    begin,
    star,
    reset,
    /** Throws the error for the form. */
    async rename(id: string, title: string): Promise<void> {
      show(id, await api.call(renameConversation, { params: { name, id }, body: { title } }))
      await stale()
    },
  }
}

export type ConversationActions = ReturnType<typeof useConversationActions>
