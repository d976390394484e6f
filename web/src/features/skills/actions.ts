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
import { deliveryWords, removalWords, type Told } from './words.ts'

export function tellFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

export type Assignment = { agent: string; skill: string }

/** Gives an agent a skill, and tells how its delivery went. */
export function useAssign() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: ({ agent, skill }: Assignment) =>
      api.call(assignAgentSkill, { params: { name: agent, skill } }),
    onSuccess: ({ delivery }, { agent, skill }) =>
      void toast({ title: `${skill} is assigned to ${agent}.`, ...deliveryWords(delivery) }),
    onError: tellFault,
    onSettled: () => queries.invalidateQueries({ queryKey: skillKeys.all }),
  })
}

/** Takes skills from agents once the time for Undo has passed; `pending` has `agent skill`. */
export function useUnassign() {
  const app = useApp()
  const { pending, later } = useUndo()
  const unassign = ({ agent, skill }: Assignment) =>
    later({
      id: assignmentId({ agent, skill }),
      title: `${skill} is taken from ${agent}.`,
      run: () => unassignNow(app, { agent, skill }),
    })
  return { pending, unassign }
}

/** Neither names of agents nor of skills hold blanks. */
export function assignmentId({ agent, skill }: Assignment): string {
  return `${agent} ${skill}`
}

async function unassignNow({ api, queries }: App, { agent, skill }: Assignment): Promise<void> {
  try {
    const { removal } = await api.call(unassignAgentSkill, { params: { name: agent, skill } })
    const later = removalWords(removal)
    if (later) toast({ title: `${skill} is taken from ${agent}.`, description: later })
  } catch (error) {
    tellFault(error)
  }
  await queries.invalidateQueries({ queryKey: skillKeys.all })
}

/** Sets all skills of an agent, in place of those it had. */
export function useSetSkills(agent: string) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: async (chosen: ReadonlySet<string>): Promise<Told> => {
      const body = { skills: [...chosen] }
      const { delivery, removal } = await api.call(putAgentSkills, { params: { name: agent }, body })
      const told = deliveryWords(delivery)
      const description = [told.description, removalWords(removal)].filter(Boolean).join(' ')
      return { tone: told.tone, ...(description === '' ? {} : { description }) }
    },
    onSuccess: (told, chosen) =>
      void toast({ title: `${agent} has ${plural(chosen.size, 'skill')}.`, ...told }),
    onSettled: () => queries.invalidateQueries({ queryKey: skillKeys.all }),
  })
}

/** Delivers what is assigned now. What it is refused with is shown where the button is. */
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
