import { systemAgentName } from '@roost/contracts/agents/agent'
import type { SystemAgentAct, SystemAgentStatus } from '@roost/contracts/operations/system-agent'
import { type Lifecycle, volumesOf } from '../../agents/lifecycle/index.ts'
import { type Agent, type AgentRecords, agentStore, blankRow } from '../../agents/records/index.ts'
import type { Keys } from '../../identity/keys/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'

export type SystemAgentDeps = {
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'byName'>
  lifecycle: Pick<Lifecycle, 'restart' | 'renew' | 'recreateReasons' | 'leftovers'>
  keys: Pick<Keys, 'revokeAgentKeys'>
}

export type SystemAgent = {
  status(): Promise<SystemAgentStatus>
  /** Throws `agent_busy`, `container_engine_error`, `not_configured` before the platform is set up. */
  restart(): Promise<SystemAgentAct>
  /** Throws like `restart`. Even then the workspace is empty, and the repair loop starts the agent. */
  reinitialize(): Promise<SystemAgentAct>
}

export function createSystemAgent({ clock, agentRecords, lifecycle, keys }: SystemAgentDeps): SystemAgent {
  async function requireSystemAgent(): Promise<Agent> {
    const agent = await agentRecords.byName(systemAgentName)
    if (!agent) throw new Fault('agent_not_found')
    return agent
  }

  async function replyOf(
    act: Pick<SystemAgentAct, 'message' | 'steps_completed' | 'warnings'>,
  ): Promise<SystemAgentAct> {
    const { status } = await requireSystemAgent()
    return { success: true, name: systemAgentName, status, ...act }
  }

  /** Switches to new volumes, because the old ones may be removable only later. */
  async function reset(tx: Tx, agent: Agent): Promise<void> {
    const now = clock.now()
    const store = agentStore(tx)
    await store.addLeftover(
      {
        id: newId(),
        agent_id: agent.id,
        container_id: agent.container_id,
        engine_id: agent.engine_id,
        volumes: Object.values(volumesOf(agent)),
      },
      timestamp(now),
    )
    await store.update(agent.id, {
      volume_base: blankRow(agent.name, agent.created).volume_base,
      container_id: null,
      applied: null,
      // Created at its next start.
      agent_key_id: null,
      agent_key_sealed: null,
    })
    await keys.revokeAgentKeys(tx, agent.id)
  }

  return {
    async status() {
      const agent = await agentRecords.byName(systemAgentName)
      return {
        exists: agent !== null,
        name: systemAgentName,
        status: agent?.status ?? null,
        container_id: agent?.container_id ?? null,
        created_at: agent?.created ?? null,
        is_system: true,
        image_state: agent?.applied
          ? (await lifecycle.recreateReasons(agent)).includes('image_version')
            ? 'stale'
            : 'current'
          : 'unknown',
      }
    },

    async restart() {
      const { id, status } = await requireSystemAgent()
      const { credentials_injection } = await lifecycle.restart(id, { recreate: false })
      return replyOf({
        message: 'The system agent was restarted.',
        steps_completed: status === 'running' ? ['stopped', 'started'] : ['started'],
        warnings: credentials_injection === 'failed' ? ['Its credentials could not be injected.'] : [],
      })
    },

    async reinitialize() {
      const { id } = await requireSystemAgent()
      const delivery = await lifecycle.renew(id, reset)
      const removals = await Promise.all((await leftoversOf(id)).map(lifecycle.leftovers.clear))
      const wasRunning = delivery === 'recreated'
      return replyOf({
        message: 'The system agent was reset.',
        steps_completed: [
          ...(wasRunning ? (['stopped'] as const) : []),
          'workspace_emptied',
          'key_renewed',
          ...(wasRunning ? (['started'] as const) : []),
        ],
        warnings: removals.includes(false)
          ? ['Its old volumes could not be removed yet. The platform will try again.']
          : [],
      })
    },
  }

  async function leftoversOf(agentId: string) {
    return (await lifecycle.leftovers.all()).filter(({ agent_id }) => agent_id === agentId)
  }
}
