import type { AgentDetails } from '@roost/contracts/agents/agent'
import { putSetting, type Setting } from '@roost/contracts/foundation/settings'
import {
  assignSubscription,
  clearSubscription,
  deleteSubscription,
  type PutSubscription,
  putSubscription,
  type Subscription,
} from '@roost/contracts/runs/provider-subscriptions'
import { useMutation } from '@tanstack/react-query'
import type { z } from 'zod'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { partOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { settingQuery } from '../settings/queries.ts'
import { agentAuthQuery, subscriptionKeys } from './queries.ts'

function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

/** Adds a subscription or replaces its token. Throws the error for the form. */
export function usePutSubscription() {
  const { api, queries } = useApp()
  return async (body: z.input<typeof PutSubscription>): Promise<void> => {
    const { name } = await api.call(putSubscription, { body })
    await queries.invalidateQueries({ queryKey: subscriptionKeys.all })
    toast({ title: `Subscription ${name} saved.`, tone: 'success' })
  }
}

export function useDeleteSubscription(onDone: () => void) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: ({ id }: Subscription) => api.call(deleteSubscription, { params: { id } }),
    onSuccess: ({ message, agents_cleared }) => {
      const cleared = `${plural(agents_cleared.length, 'agent')} switched to the platform’s key.`
      toast({ title: message, ...(agents_cleared.length > 0 ? { description: cleared } : {}) })
      onDone()
    },
    onError: showFault,
    onSettled: () => queries.invalidateQueries({ queryKey: subscriptionKeys.all }),
  })
}

/** Switches agents between subscriptions automatically. Saved optimistically. */
export function useAutoSwitch() {
  const { api } = useApp()
  const key = 'subscription_auto_switch'
  const { queryKey } = settingQuery(api, key)
  return useOptimisticSave({
    queryKey,
    save: (isOn: boolean) => api.call(putSetting, { params: { key }, body: { value: String(isOn) } }),
    shows: (isOn) => [partOf<Setting>(queryKey, { value: String(isOn) })],
  })
}

/** Assigns a subscription to an agent; null: the platform's key. */
export function useAssign({ name }: Pick<AgentDetails, 'name'>) {
  const { api, queries } = useApp()
  return async (subscription_name: string | null): Promise<void> => {
    const at = { params: { name } }
    await (subscription_name === null
      ? api.call(clearSubscription, at)
      : api.call(assignSubscription, { ...at, body: { subscription_name } }))
    await Promise.all([
      queries.invalidateQueries({ queryKey: agentAuthQuery(api, name).queryKey }),
      queries.invalidateQueries({ queryKey: subscriptionKeys.all }),
    ])
    const what = subscription_name === null ? 'the platform’s key' : `subscription ${subscription_name}`
    toast({ title: `${name} uses ${what} from the next model request.`, tone: 'success' })
  }
}
