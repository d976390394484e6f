import type { Clock } from '../../kit/clock.ts'
import type { ContainerSample, Containers } from '../../ports/containers/port.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import type { Broadcast } from './broadcast.ts'

/** The newest CPU, memory and network figures of each agent, so that no read asks the engine. */
export type Samples = {
  of(agent: Pick<Agent, 'id' | 'container_id'>): ContainerSample | null
  /** One pass over all running agents. */
  takeAll(signal: AbortSignal): Promise<void>
  forget(agentId: string): void
}

export type SamplesDeps = {
  agentRecords: Pick<AgentRecords, 'all'>
  containers: Pick<Containers, 'sample'>
  clock: Pick<Clock, 'now'>
  broadcast: Broadcast
}

type Kept = { container_id: string; sample: ContainerSample }

/** How many containers are looked at side by side. */
const width = 4

export function createSamples({ agentRecords, containers, broadcast }: SamplesDeps): Samples {
  const samples = new Map<string, ContainerSample>()
  const containerOf = new Map<string, string>()
  const keep = (agentId: string, { container_id, sample }: Kept) => {
    samples.set(agentId, sample)
    containerOf.set(agentId, container_id)
  }
  broadcast.on('samples', ({ samples: news }) => {
    for (const [agentId, sample] of Object.entries(news)) samples.set(agentId, sample)
  })

  return {
    of(agent) {
      const known = containerOf.get(agent.id)
      // Figures of the container before say nothing about this one.
      if (known !== undefined && known !== agent.container_id) return null
      return samples.get(agent.id) ?? null
    },
    async takeAll(signal) {
      const running = (await agentRecords.all()).filter((agent) => agent.status === 'running')
      const taken: Record<string, ContainerSample> = {}
      const queue = running.values()
      const worker = async () => {
        for (const agent of queue) {
          if (signal.aborted || agent.container_id === null) continue
          // One container that cannot be read must not blind us to the others; it ages until it can.
          const sample = await containers.sample(agent.container_id).catch(() => null)
          if (!sample) continue
          keep(agent.id, { container_id: agent.container_id, sample })
          taken[agent.id] = sample
        }
      }
      await Promise.all(Array.from({ length: width }, worker))
      if (Object.keys(taken).length > 0) broadcast.send({ kind: 'samples', samples: taken })
    },
    forget(agentId) {
      samples.delete(agentId)
      containerOf.delete(agentId)
    },
  }
}
