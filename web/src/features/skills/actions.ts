import {
  assignAgentSkill,
  injectAgentSkills,
  putAgentSkills,
  unassignAgentSkill,
} from '@roost/contracts/skills/assignments'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { type App, useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { skillKeys } from './queries.ts'
import { type DeliveryReport, deliveryWords, removalWords } from './words.ts'

export function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

export type Assignment = { agent: string; skill: string }

/** Assigns a skill to an agent and reports its delivery. */
export function useAssign() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: ({ agent, skill }: Assignment) =>
      api.call(assignAgentSkill, { params: { name: agent, skill } }),
    onSuccess: ({ delivery }, { agent, skill }) =>
      void toast({ title: `${skill} assigned to ${agent}.`, ...deliveryWords(delivery) }),
    onError: showFault,
    onSettled: () => queries.invalidateQueries({ queryKey: skillKeys.all }),
  })
}

/** Removes skills from agents when the time for Undo has passed; `pending` has `agent skill`. */
export function useUnassign() {
  const app = useApp()
  const { pending, later } = useUndo()
  const unassign = ({ agent, skill }: Assignment) =>
    later({
      id: assignmentId({ agent, skill }),
      title: `${skill} removed from ${agent}.`,
      run: () => unassignNow(app, { agent, skill }),
    })
  return { pending, unassign }
}

/** Names of agents and skills contain no spaces. */
export function assignmentId({ agent, skill }: Assignment): string {
  return `${agent} ${skill}`
}

async function unassignNow({ api, queries }: App, { agent, skill }: Assignment): Promise<void> {
  try {
    const { removal } = await api.call(unassignAgentSkill, { params: { name: agent, skill } })
    const later = removalWords(removal)
    if (later) toast({ title: `${skill} removed from ${agent}.`, description: later })
  } catch (error) {
    showFault(error)
  }
  await queries.invalidateQueries({ queryKey: skillKeys.all })
}

/** Replaces all skills of an agent. */
export function useSetSkills(agent: string) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: async (chosen: ReadonlySet<string>): Promise<DeliveryReport> => {
      const body = { skills: [...chosen] }
      const { delivery, removal } = await api.call(putAgentSkills, { params: { name: agent }, body })
      const report = deliveryWords(delivery)
      const description = [report.description, removalWords(removal)].filter(Boolean).join(' ')
      return { tone: report.tone, ...(description === '' ? {} : { description }) }
    },
    onSuccess: (report, chosen) =>
      void toast({ title: `Skills saved. ${agent} has ${plural(chosen.size, 'skill')}.`, ...report }),
    onSettled: () => queries.invalidateQueries({ queryKey: skillKeys.all }),
  })
}

/** Delivers the assigned skills now. The caller shows errors beside its button. */
export function useInject(agent: string) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: (force: boolean) => api.call(injectAgentSkills, { params: { name: agent }, body: { force } }),
    onSuccess: ({ skills_injected, skills_skipped, skills_failed }) =>
      void toast({
        title: `${plural(skills_injected, 'skill')} delivered, ${skills_skipped} unchanged, ${skills_failed} failed.`,
        tone: skills_failed > 0 ? 'danger' : 'success',
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: skillKeys.ofAgent(agent) }),
  })
}
