import type { Loop } from '../../background/loops.ts'
import type { Agent, AgentRecords } from '../records/index.ts'

/**
 * Pushes changed platform-wide settings to running agents. Without this, a raised ceiling would add no slots
 * until the agent reconnects.
 */
export function platformChangesLoop(deps: {
  agentRecords: Pick<AgentRecords, 'all'>
  parallelCeiling(): Promise<number>
  platformModel(): Promise<string | null>
  /** Sends the settings to one agent if it is connected. */
  push(agent: Agent): Promise<unknown>
}): Loop {
  let lastPushed: string | null = null
  return {
    name: 'agents.platform-settings',
    everySeconds: 10,
    // Every process runs this, since any may hold an agent's link, and starts with the current values.
    everywhere: true,
    async run(signal) {
      const current = JSON.stringify([await deps.parallelCeiling(), await deps.platformModel()])
      const hasChanged = lastPushed !== null && lastPushed !== current
      lastPushed = current
      if (!hasChanged) return
      for (const agent of await deps.agentRecords.all()) {
        if (signal.aborted) return
        await deps.push(agent)
      }
    },
  }
}
