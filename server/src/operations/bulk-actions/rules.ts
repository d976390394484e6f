import type { AgentStatus } from '@roost/contracts/agents/agent'
import type { FleetOutcome, RestartFleetBody, StopFleetBody } from '@roost/contracts/operations/fleet-acts'

/** Those that a restart or stop of the fleet is about, in the order of their names. */
export function chosen<T extends { name: string; status: AgentStatus }>(
  agents: readonly T[],
  { filter_status, name_prefix }: RestartFleetBody | StopFleetBody,
): T[] {
  return agents
    .filter(
      ({ status, name }) =>
        (filter_status === 'all' || status === filter_status) && name.startsWith(name_prefix),
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Null: it is restarted or stopped with the others. */
export function spared({
  is_system,
  ephemeral,
}: {
  is_system: boolean
  ephemeral: object | null
}): string | null {
  if (is_system) return 'It is the system agent.'
  return ephemeral === null ? null : 'It is ephemeral.'
}

export type Result = FleetOutcome['results'][number]

export function outcomeOf(results: Result[], timestamp: string): FleetOutcome {
  const of = (result: Result['result']) => results.filter((each) => each.result === result).length
  return {
    timestamp,
    summary: {
      total: results.length,
      successes: of('success'),
      failures: of('failed'),
      skipped: of('skipped'),
      recreated: results.filter(({ recreated }) => recreated).length,
    },
    results,
  }
}
