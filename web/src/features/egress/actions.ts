import {
  type AgentEgress,
  type AllowEgress,
  allowEgress,
  deleteEgressCredential,
  disallowEgress,
  type EgressCredential,
  type EgressMode,
  type EgressRule,
  type PutEgressCredential,
  putAgentEgress,
  putEgressCredential,
} from '@roost/contracts/agents/egress'
import { useMutation } from '@tanstack/react-query'
import type { z } from 'zod'
import { describeFault } from '../../lib/fault.ts'
import { partOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { egressKeys, egressQuery } from './queries.ts'
import { addressOf } from './words.ts'

function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

function useStale(name: string) {
  const { queries } = useApp()
  return () => queries.invalidateQueries({ queryKey: egressKeys.ofAgent(name) })
}

/** Sets the mode optimistically. */
export function useMode(name: string) {
  const { api } = useApp()
  return useOptimisticSave({
    queryKey: egressKeys.ofAgent(name),
    save: (mode: EgressMode) => api.call(putAgentEgress, { params: { name }, body: { mode } }),
    shows: (mode) => [partOf<AgentEgress>(egressQuery(api, name).queryKey, { mode })],
  })
}

/** Allows hosts one by one. Throws the error of the first refused host. */
export function useAllow(name: string) {
  const { api } = useApp()
  return useMutation({
    mutationFn: async (rules: readonly z.input<typeof AllowEgress>[]) => {
      for (const body of rules) await api.call(allowEgress, { params: { name }, body })
    },
    onSuccess: (_reply, rules) => {
      const [first] = rules
      if (!first) return
      const title =
        rules.length === 1
          ? `${addressOf({ port: null, ...first })} allowed.`
          : `${rules.length} hosts allowed.`
      toast({ title, tone: 'success' })
    },
    onSettled: useStale(name),
  })
}

/** For a button, which cannot show an error itself: shows a toast. */
export function useAllowNow(name: string) {
  const allow = useAllow(name)
  return {
    ...allow,
    allow: (rules: readonly z.input<typeof AllowEgress>[]) => allow.mutate(rules, { onError: showFault }),
  }
}

/** Removes rules when the time for Undo has passed; `pending` has their IDs. */
export function useDisallow(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  const { pending, later } = useUndo()
  const remove = (rule: EgressRule) =>
    later({
      id: rule.id,
      title: `${addressOf(rule)} removed from the allow list.`,
      description: 'Open connections are not closed.',
      run: async () => {
        await api.call(disallowEgress, { params: { name, rule_id: rule.id } }).catch(showFault)
        await stale()
      },
    })
  return { pending, remove }
}

/** Binds a credential or changes its binding. Throws the error for the form. */
export function useBind(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  return async (variable: string, body: z.input<typeof PutEgressCredential>): Promise<void> => {
    await api.call(putEgressCredential, { params: { name, variable }, body })
    toast({
      title: `Credential ${variable} bound.`,
      description: 'The platform stores the value. The next run gets a placeholder.',
      tone: 'success',
    })
    await stale()
  }
}

export function useUnbind(name: string, onDone: () => void) {
  const { api } = useApp()
  return useMutation({
    mutationFn: ({ name: variable }: EgressCredential) =>
      api.call(deleteEgressCredential, { params: { name, variable } }),
    onSuccess: (_reply, { name: variable }) => {
      toast({ title: `Credential ${variable} deleted.`, tone: 'success' })
      onDone()
    },
    onError: showFault,
    onSettled: useStale(name),
  })
}
