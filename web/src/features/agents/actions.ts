import type { AgentDetails, AgentRow } from '@roost/contracts/agents/agent'
import { startAgent, stopAgent } from '@roost/contracts/agents/lifecycle'
import { putAutonomy } from '@roost/contracts/agents/settings'
import { useMutation } from '@tanstack/react-query'
import { partOf, rowsOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from './queries.ts'

/** Starts and stops agents. */
export function usePowerChange() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: async ({ name, to }: { name: string; to: 'start' | 'stop' }) => {
      const reply = await api.call(to === 'start' ? startAgent : stopAgent, { params: { name } })
      return { message: reply.message }
    },
    onSuccess: ({ message }) => void toast({ title: message, tone: 'success' }),
    onError: (error) => void toast({ title: error.message, tone: 'danger' }),
    onSettled: (_reply, _error, { name }) =>
      Promise.all([
        queries.invalidateQueries({ queryKey: agentKeys.list }),
        queries.invalidateQueries({ queryKey: agentKeys.details(name) }),
      ]),
  })
}

/** Starts and stops an agent; `pending` is the running action. */
export function useAgentPower(name: string) {
  const change = usePowerChange()
  return {
    start: () => change.mutate({ name, to: 'start' }),
    stop: () => change.mutate({ name, to: 'stop' }),
    pending: change.isPending ? change.variables.to : null,
  }
}

/** Turns the schedules of an agent on or off, optimistically. */
export function useAutonomy(name: string) {
  const { api } = useApp()
  const details = agentKeys.details(name)
  return useOptimisticSave({
    queryKey: details,
    save: (enabled: boolean) => api.call(putAutonomy, { params: { name }, body: { enabled } }),
    shows: (enabled) => [
      rowsOf<AgentRow>(agentKeys.list, (row) => row.name === name, { autonomy_enabled: enabled }),
      partOf<AgentDetails>(details, { autonomy_enabled: enabled }),
    ],
    stale: [agentKeys.list, agentKeys.settings(name)],
  })
}
