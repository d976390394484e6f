import type { AgentDetails, AgentRow } from '@roost/contracts/agents/agent'
import { startAgent, stopAgent } from '@roost/contracts/agents/lifecycle'
import { putAutonomy } from '@roost/contracts/agents/settings'
import { useMutation } from '@tanstack/react-query'
import { useApp } from '../../shell/app-context.ts'
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
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: (enabled: boolean) => api.call(putAutonomy, { params: { name }, body: { enabled } }),
    onMutate: async (enabled) => {
      const details = agentKeys.details(name)
      await queries.cancelQueries({ queryKey: agentKeys.list })
      await queries.cancelQueries({ queryKey: details })
      const before = queries.getQueryData<AgentRow[]>(agentKeys.list)
      const detailsBefore = queries.getQueryData<AgentDetails>(details)
      queries.setQueryData(
        agentKeys.list,
        before?.map((row) => (row.name === name ? { ...row, autonomy_enabled: enabled } : row)),
      )
      if (detailsBefore) queries.setQueryData(details, { ...detailsBefore, autonomy_enabled: enabled })
      return { before, detailsBefore }
    },
    onError: (error, _enabled, context) => {
      queries.setQueryData(agentKeys.list, context?.before)
      queries.setQueryData(agentKeys.details(name), context?.detailsBefore)
      toast({ title: error.message, tone: 'danger' })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: agentKeys.details(name) }),
  })
}
