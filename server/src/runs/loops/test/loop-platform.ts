import { LoopBody } from '@roost/contracts/runs/loops'
import { silentLog } from '../../../ports/log.ts'
import { type AgentsPlatform, startAgentsPlatform } from '../../../test/agents-platform.ts'
import type { RunPlatformOptions } from '../../../test/run-platform.ts'
import { createLoops, type Loops } from '../index.ts'

/** One process of the platform with loops; two of them share only a database. */
export type LoopPlatform = AgentsPlatform & { loops: Loops }

export async function startLoopPlatform(options: RunPlatformOptions): Promise<LoopPlatform> {
  const platform = await startAgentsPlatform(options)
  const { agentName } = platform
  const loops = createLoops({
    ...platform,
    log: silentLog,
    agentName: async (id) => (await agentName(id)) ?? `name-of-${id}`,
  })
  platform.works.register(loops.workState)
  return { ...platform, loops }
}

/** A valid request for a loop. */
export function loopBody(over: Record<string, unknown> = {}): LoopBody {
  return LoopBody.parse({ message: 'go on', max_runs: 3, ...over })
}
