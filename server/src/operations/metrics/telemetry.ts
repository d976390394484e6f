import type { ContainersTelemetry, HostTelemetry } from '@roost/contracts/operations/telemetry'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { Health } from '../../agents/health/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Host, HostReading } from '../../ports/host/port.ts'
import { containersTelemetry, hostTelemetry } from './telemetry-rules.ts'

export type Telemetry = {
  /** The machine of this process. Rejects only when there is no reading and none can be taken. */
  host(): Promise<HostTelemetry>
  /** Running agents that the caller can access, from the newest figures of the sampler. */
  containers(caller: SignedIn): Promise<ContainersTelemetry>
  loops: Loop[]
}

export type TelemetryDeps = {
  clock: Pick<Clock, 'now'>
  host: Host
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  health: Pick<Health, 'stats'>
}

const sampleEverySeconds = 10

export function createTelemetry({ clock, host, agentAccess, health }: TelemetryDeps): Telemetry {
  let newest: { reading: HostReading; view: HostTelemetry } | null = null

  async function sample(): Promise<HostTelemetry> {
    const reading = await host.read()
    const view = hostTelemetry(reading, newest?.reading ?? null, clock.now().toISOString())
    newest = { reading, view }
    return view
  }

  return {
    // Only requests before the first round of the loop wait for a reading.
    host: async () => newest?.view ?? sample(),

    async containers(caller) {
      const accessible = await agentAccess.accessibleAgents(caller)
      const running = accessible.filter(({ agent }) => agent.status === 'running')
      return containersTelemetry(
        running.map(({ agent }) => health.stats(agent)),
        clock.now().toISOString(),
      )
    },

    loops: [
      {
        name: 'telemetry.host',
        everySeconds: sampleEverySeconds,
        // Each process reports its own machine.
        everywhere: true,
        run: async () => void (await sample()),
      },
    ],
  }
}
