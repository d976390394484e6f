import { LoopBody } from '@roost/contracts/runs/loops'
import { type Agent, agentStore, blankRow, createDirectory } from '../../../agents/directory/index.ts'
import { createReach } from '../../../agents/reach/index.ts'
import { createIdempotency, createWorkStates } from '../../../foundation/idempotency/index.ts'
import { memoryEphemeral } from '../../../ports/ephemeral/memory.ts'
import { silentLog } from '../../../ports/log.ts'
import {
  agentFact,
  type RunPlatform,
  type RunPlatformOptions,
  startRunPlatform,
} from '../../../test/run-platform.ts'
import { createLoops, type Loops } from '../index.ts'

/** One process of the platform with loops; two of them on one database share nothing else. */
export type LoopPlatform = RunPlatform & {
  loops: Loops
  agentRow: Agent
  /** Ids that each agent may call. */
  edges: Map<string, Set<string>>
}

/** The agent is in the directory under the id `a1`, owned by `u-owner`, shared with `shared@example.org`. */
export async function startLoopPlatform(options: RunPlatformOptions): Promise<LoopPlatform> {
  const platform = await startRunPlatform(options)
  const { db, clock, events, dispatch, hooks } = platform
  const created = clock.now().toISOString()
  if (!(await agentStore(db).byId('a1'))) {
    await db.atomically(async (tx) => {
      await agentStore(tx).insert({
        ...blankRow('scout', created),
        id: 'a1',
        owner_id: 'u-owner',
        state: 'ready',
        status: 'running',
        circuit_breaker_enabled: 1,
      })
    })
  }
  const directory = createDirectory({ db, clock, ephemeral: memoryEphemeral({ clock, log: silentLog }) })
  const edges = new Map<string, Set<string>>()
  const permittedTargets = async (id: string) => edges.get(id) ?? new Set<string>()
  const works = createWorkStates()
  const idempotency = createIdempotency({ db, clock, log: silentLog, workState: works.ask })
  const loops = createLoops({
    ...{ db, clock, events, dispatch, hooks, idempotency, directory },
    log: silentLog,
    reach: createReach({ directory, permittedTargets, isConnectorOn: async () => true }),
    agentName: async (id) => (await directory.byId(id))?.name ?? `name-of-${id}`,
  })
  works.register(loops.workState)
  platform.agents.set('a1', agentFact())
  const agentRow = await directory.byId('a1')
  if (!agentRow) throw new Error('The agent is not in the directory.')
  return { ...platform, loops, agentRow, edges }
}

/** A request for a loop, as it arrives. */
export function asked(over: Record<string, unknown> = {}): LoopBody {
  return LoopBody.parse({ message: 'go on', max_runs: 3, ...over })
}
