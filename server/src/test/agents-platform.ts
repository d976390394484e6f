import { type AgentAccess, createAgentAccess } from '../agents/access/index.ts'
import {
  type AgentRecords,
  type AgentsTable,
  agentStore,
  blankRow,
  createAgentRecords,
} from '../agents/records/index.ts'
import { createIdempotency, createWorkStates, type Idempotency } from '../foundation/idempotency/index.ts'
import { createRateLimits, type RateLimits } from '../foundation/rate-limits/index.ts'
import type { KeyCaller, Relation, SignedIn } from '../identity/access/index.ts'
import { memoryEphemeral } from '../ports/ephemeral/memory.ts'
import { silentLog } from '../ports/log.ts'
import {
  agentFact,
  person,
  type RunPlatform,
  type RunPlatformOptions,
  startRunPlatform,
} from './run-platform.ts'

/** One process of the platform with agent records. Two of them on one database share nothing else. */
export type AgentsPlatform = RunPlatform & {
  agentRecords: AgentRecords
  agentAccess: AgentAccess
  /** Ids that each agent may call. */
  edges: Map<string, Set<string>>
  idempotency: Idempotency
  works: ReturnType<typeof createWorkStates>
  limits: RateLimits
  agentName(id: string): Promise<string | null>
  /** Writes to an agent's row, as its settings would. */
  change(id: string, patch: Partial<Pick<AgentsTable, 'autonomy_enabled'>>): Promise<void>
}

/** Starts with the given agents by id. `a1` always exists, as `scout` of `u-owner`. */
export async function startAgentsPlatform(
  options: RunPlatformOptions,
  agents: Record<string, Partial<AgentsTable>> = {},
): Promise<AgentsPlatform> {
  const platform = await startRunPlatform(options)
  const { db, clock } = platform
  const ephemeral = memoryEphemeral({ clock, log: silentLog })
  const all = { a1: { name: 'scout' }, ...agents }
  for (const [id, over] of Object.entries(all)) {
    const name = over.name ?? id
    platform.agents.set(id, agentFact({ id, name }))
    const state = { id, state: 'ready' as const, status: 'running' as const, circuit_breaker_enabled: 1 }
    const row = { ...blankRow(name, clock.now().toISOString()), owner_id: 'u-owner', ...state, ...over }
    await db.atomically(async (tx) => void (await agentStore(tx).insert(row)))
  }
  const agentRecords = createAgentRecords({ db, clock, ephemeral })
  const edges = new Map<string, Set<string>>()
  const permittedTargets = async (id: string) => edges.get(id) ?? new Set<string>()
  const works = createWorkStates()
  return {
    ...platform,
    agentRecords,
    agentAccess: createAgentAccess({ agentRecords, permittedTargets, isConnectorOn: async () => false }),
    edges,
    works,
    idempotency: createIdempotency({ db, clock, log: silentLog, workState: works.ask }),
    limits: createRateLimits({ ephemeral, clock }),
    agentName: async (id) => (await agentRecords.byId(id))?.name ?? null,
    async change(id, patch) {
      await db.atomically(async (tx) => {
        await agentStore(tx).update(id, patch)
        agentRecords.changed(tx, id)
      })
    },
  }
}

export type Party = { caller: SignedIn; agent: { id: string; name: string }; relation: Relation }

/** Returns the key of an agent of `u-owner`. */
export function agentKey(agent_id: string, userId = 'u-owner'): KeyCaller {
  const key = { id: `k-${agent_id}`, name: agent_id, scope: 'agent' as const, agent_id }
  return { kind: 'key', user: person({ id: userId, username: userId }).user, key }
}

/** Returns the key of a run of such an agent. */
export function runKey({ id, agent_id }: { id: string; agent_id: string }): KeyCaller {
  return { ...agentKey(agent_id), run: { ref: id, execution_id: id, reach: 'owner' } }
}
