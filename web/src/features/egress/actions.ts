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
import { partOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { egressKeys, egressQuery } from './queries.ts'
import { addressOf } from './words.ts'

function tellFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

function useStale(name: string) {
  const { queries } = useApp()
  return () => queries.invalidateQueries({ queryKey: egressKeys.ofAgent(name) })
}

/** Sets the mode; shown at once and taken back when the platform refuses. */
export function useMode(name: string) {
  const { api } = useApp()
  return useAtOnce({
    queryKey: egressKeys.ofAgent(name),
    save: (mode: EgressMode) => api.call(putAgentEgress, { params: { name }, body: { mode } }),
    shows: (mode) => [partOf<AgentEgress>(egressQuery(api, name).queryKey, { mode })],
  })
}

/** Allows hosts, one after another. Throws what the first that is refused was refused with. */
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
          ? `${addressOf({ port: null, ...first })} is allowed.`
          : `${rules.length} hosts are allowed.`
      toast({ title, tone: 'success' })
    },
    onSettled: useStale(name),
  })
}

/** The same from a button, which has no place of its own for a refusal. */
export function useAllowNow(name: string) {
  const allow = useAllow(name)
  return {
    ...allow,
    allow: (rules: readonly z.input<typeof AllowEgress>[]) => allow.mutate(rules, { onError: tellFault }),
  }
}

/** Removes rules once the time for Undo has passed; `pending` has their ids. */
export function useDisallow(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  const { pending, later } = useUndo()
  const remove = (rule: EgressRule) =>
    later({
      id: rule.id,
      title: `${addressOf(rule)} is not allowed any more.`,
      description: 'Connections that are open stay open.',
      run: async () => {
        await api.call(disallowEgress, { params: { name, rule_id: rule.id } }).catch(tellFault)
        await stale()
      },
    })
  return { pending, remove }
}

/** Binds a credential, or changes how it is bound. Throws what a form shows. */
export function useBind(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  return async (variable: string, body: z.input<typeof PutEgressCredential>): Promise<void> => {
    await api.call(putEgressCredential, { params: { name, variable }, body })
    toast({
      title: `${variable} is kept by the platform.`,
      description: 'The agent holds a placeholder; the next run has it.',
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
      toast({ title: `${variable} is forgotten.`, tone: 'success' })
      onDone()
    },
    onError: tellFault,
    onSettled: useStale(name),
  })
}
