import type { AgentDetails, AgentRow } from '@roost/contracts/agents/agent'
import { startAgent, stopAgent } from '@roost/contracts/agents/lifecycle'
import { putAutonomy } from '@roost/contracts/agents/settings'
import { useMutation } from '@tanstack/react-query'
import { partOf, rowsOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from './queries.ts'

/** Starts and stops an agent, and says so; `pending` names what is under way. */
export function useAgentPower(name: string) {
  const { api, queries } = useApp()
  const change = useMutation({
    mutationFn: async (to: 'start' | 'stop') => {
      const reply = await api.call(to === 'start' ? startAgent : stopAgent, { params: { name } })
      return { message: reply.message }
    },
    onSuccess: ({ message }) => void toast({ title: message, tone: 'success' }),
    onError: (error) => void toast({ title: error.message, tone: 'danger' }),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: agentKeys.list }),
        queries.invalidateQueries({ queryKey: agentKeys.details(name) }),
      ]),
  })
  return {
    start: () => change.mutate('start'),
    stop: () => change.mutate('stop'),
    pending: change.isPending ? change.variables : null,
  }
}

/** Switches the clock of an agent on or off; shown at once and taken back when the platform refuses. */
export function useAutonomy(name: string) {
  const { api } = useApp()
  const details = agentKeys.details(name)
  return useAtOnce({
    queryKey: details,
    save: (enabled: boolean) => api.call(putAutonomy, { params: { name }, body: { enabled } }),
    shows: (enabled) => [
      rowsOf<AgentRow>(agentKeys.list, (row) => row.name === name, { autonomy_enabled: enabled }),
      partOf<AgentDetails>(details, { autonomy_enabled: enabled }),
    ],
    stale: [agentKeys.list, agentKeys.settings(name)],
  })
}
