import type { AgentStatus } from '@roost/contracts/agents/agent'
import type { FleetOutcome, RestartFleetBody, StopFleetBody } from '@roost/contracts/operations/fleet-acts'
import { Fault } from '../../kit/fault.ts'

/** Returns the agents of a restart or stop, ordered by name. */
export function selectAgents<T extends { name: string; status: AgentStatus }>(
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

/** Returns why an agent is skipped, or null. */
export function skipReason({
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

/** Returns the text of a failure for people. Hides the text of errors without a code. */
export function errorText(error: unknown): string {
  return error instanceof Fault ? error.message : 'It failed for a reason that is in the log.'
}
