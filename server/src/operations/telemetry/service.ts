import type { ContainersTelemetry, HostTelemetry } from '@roost/contracts/operations/telemetry'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { Health } from '../../agents/health/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Host, HostReading } from '../../ports/host/port.ts'
import { containersTelemetry, hostTelemetry } from './rules.ts'

export type Telemetry = {
  /** Of the machine of this process. Rejects only when it was never read and cannot be read now. */
  host(): Promise<HostTelemetry>
  /** Running agents that the caller can reach, from the figures that the sampler of health took last. */
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
  let newest: { reading: HostReading; told: HostTelemetry } | null = null

  async function sample(): Promise<HostTelemetry> {
    const reading = await host.read()
    const told = hostTelemetry(reading, newest?.reading ?? null, clock.now().toISOString())
    newest = { reading, told }
    return told
  }

  return {
    // Only who asks before the first round of the loop waits for the machine to be read.
    host: async () => newest?.told ?? sample(),

    async containers(caller) {
      const reached = await agentAccess.accessibleAgents(caller)
      const running = reached.filter(({ agent }) => agent.status === 'running')
      return containersTelemetry(
        running.map(({ agent }) => health.stats(agent)),
        clock.now().toISOString(),
      )
    },

    loops: [
      {
        name: 'telemetry.host',
        everySeconds: sampleEverySeconds,
        // Each process answers for the machine it stands on.
        everywhere: true,
        run: async () => void (await sample()),
      },
    ],
  }
}
