import { systemAgentName } from '@roost/contracts/agents/agent'
import type { ProviderKey } from '@roost/contracts/foundation/settings'
import type { Role } from '@roost/contracts/kit/access'
import { demoAgentNames } from '@roost/contracts/operations/demo'
import type { AgentRunStats } from '@roost/contracts/runs/fleet-executions'

export type StepId = 'key' | 'agent' | 'chat' | 'schedule' | 'invite'
export type Step = {
  id: StepId
  isDone: boolean
  /** The step needs an agent, and there is none yet. */
  isBlocked: boolean
}

type AgentState = Pick<AgentRunStats, 'name' | 'last_execution_at' | 'schedules_total' | 'success_count'>

/** What the person may read of the installation. Only admins read keys and the allow list: for others they are empty. */
export type Installation = {
  role: Role
  agents: readonly AgentState[]
  keys: readonly Pick<ProviderKey, 'provider' | 'configured'>[]
  allowedAddresses: number
  /** Answers are scripted: keys and successful runs prove nothing. */
  isDemo?: boolean | undefined
}

/** The providers of models; the other keys are for repositories and speech. */
const modelProviders: readonly ProviderKey['provider'][] = ['anthropic', 'google', 'openai']

/** The agents of people; the platform creates the system agent. */
export function ownAgents<Agent extends { name: string }>(agents: readonly Agent[]): Agent[] {
  return agents.filter(({ name }) => name !== systemAgentName)
}

/** What the demo did is no step of a person. */
export function isOfDemo({ name }: { name: string }): boolean {
  return demoAgentNames.some((each) => each === name)
}

/** The first steps that the person may take, in order. Empty: nobody has shared an agent with them yet. */
export function stepsOf({ role, agents: all, keys, allowedAddresses, isDemo }: Installation): Step[] {
  const agents = ownAgents(all)
  const hasAgents = agents.length > 0
  const made = agents.filter((agent) => !isOfDemo(agent))
  const isAdmin = role === 'admin'
  const mayCreate = isAdmin || role === 'creator'
  if (!hasAgents && !mayCreate) return []
  const hasKey = keys.some(({ provider, configured }) => configured && modelProviders.includes(provider))
  const steps: (Step | false)[] = [
    isAdmin && {
      id: 'key',
      // A subscription or the agent's own credentials serve as well; a success proves them.
      isDone: !isDemo && (hasKey || made.some(({ success_count }) => success_count > 0)),
      isBlocked: false,
    },
    mayCreate && { id: 'agent', isDone: made.length > 0, isBlocked: false },
    {
      id: 'chat',
      isDone: made.some(({ last_execution_at }) => last_execution_at !== null),
      isBlocked: !hasAgents,
    },
    {
      id: 'schedule',
      isDone: made.some(({ schedules_total }) => schedules_total > 0),
      isBlocked: !hasAgents,
    },
    isAdmin && { id: 'invite', isDone: allowedAddresses > 0, isBlocked: false },
  ]
  return steps.filter((step) => step !== false)
}
