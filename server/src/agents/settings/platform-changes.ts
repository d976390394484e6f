import type { Loop } from '../../background/loops.ts'
import type { Agent, AgentRecords } from '../records/index.ts'

/**
 * What the platform sets for all agents takes part in the settings of each: when it has changed, the running
 * ones are told, or a raised ceiling would give nobody a slot before the agent dials in again.
 */
export function platformChangesLoop(deps: {
  agentRecords: Pick<AgentRecords, 'all'>
  parallelCeiling(): Promise<number>
  platformModel(): Promise<string | null>
  /** Tells one agent, as far as it can be reached. */
  push(agent: Agent): Promise<unknown>
}): Loop {
  let told: string | null = null
  return {
    name: 'agents.platform-settings',
    everySeconds: 10,
    // Any process may be the one that holds an agent's link, and each starts with what is set then.
    everywhere: true,
    async run(signal) {
      const present = JSON.stringify([await deps.parallelCeiling(), await deps.platformModel()])
      const isNews = told !== null && told !== present
      told = present
      if (!isNews) return
      for (const agent of await deps.agentRecords.all()) {
        if (signal.aborted) return
        await deps.push(agent)
      }
    },
  }
}
