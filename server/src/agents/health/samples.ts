import type { ContainerSample, Containers } from '../../ports/containers/port.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import type { Broadcast } from './broadcast.ts'

/** The engine's latest CPU, memory and network figures of each agent, so that no read calls the engine. */
export type Samples = {
  of(agent: Pick<Agent, 'id' | 'container_id'>): ContainerSample | null
  /** Samples all running agents once, without those that report their own use. */
  sampleAll(signal: AbortSignal): Promise<void>
  forget(agentId: string): void
}

export type SamplesDeps = {
  agentRecords: Pick<AgentRecords, 'all'>
  containers: Pick<Containers, 'sample'>
  broadcast: Broadcast
  /** True while the agent's own report is recent. */
  reportsOwnUse(agent: Agent): boolean
}

type StoredSample = { container_id: string; sample: ContainerSample }

/** Containers sampled concurrently. */
const concurrency = 4

export function createSamples({ agentRecords, containers, broadcast, reportsOwnUse }: SamplesDeps): Samples {
  const samples = new Map<string, ContainerSample>()
  const containerOf = new Map<string, string>()
  const store = (agentId: string, { container_id, sample }: StoredSample) => {
    samples.set(agentId, sample)
    containerOf.set(agentId, container_id)
  }
  broadcast.on('samples', ({ samples: received }) => {
    for (const [agentId, sample] of Object.entries(received)) samples.set(agentId, sample)
  })

  return {
    of(agent) {
      const containerId = containerOf.get(agent.id)
      // Figures of a previous container do not apply to this one.
      if (containerId !== undefined && containerId !== agent.container_id) return null
      return samples.get(agent.id) ?? null
    },
    async sampleAll(signal) {
      const running = (await agentRecords.all()).filter(
        (agent) => agent.status === 'running' && !reportsOwnUse(agent),
      )
      const collected: Record<string, ContainerSample> = {}
      const queue = running.values()
      const worker = async () => {
        for (const agent of queue) {
          if (signal.aborted || agent.container_id === null) continue
          // One unreadable container must not stop the others; its last sample just gets older.
          const sample = await containers.sample(agent.container_id).catch(() => null)
          if (!sample) continue
          store(agent.id, { container_id: agent.container_id, sample })
          collected[agent.id] = sample
        }
      }
      await Promise.all(Array.from({ length: concurrency }, worker))
      if (Object.keys(collected).length > 0) broadcast.send({ kind: 'samples', samples: collected })
    },
    forget(agentId) {
      samples.delete(agentId)
      containerOf.delete(agentId)
    },
  }
}
