import type { BreakerState, CircuitBreaker, CircuitBreakerReset } from '@roost/contracts/runs/breaker'
import type { Agent } from '../../agents/records/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { blank, countOf, type Memory, secondsToRetry, stateOf } from './rules.ts'
import { breakerStore } from './store.ts'

export type BreakersDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  /** The platform setting `dispatch_breaker_enabled`. */
  isPlatformEnabled(): boolean
}

type BreakerAgent = Pick<Agent, 'id' | 'name' | 'circuit_breaker_enabled'>

export type Breakers = {
  view(agent: BreakerAgent): Promise<CircuitBreaker>
  /** True while it refuses new runs, or the agent counts as unreachable. */
  isOpen(agent: BreakerAgent): Promise<boolean>
  /** Dispatch breakers that are not closed, by agent id. */
  dispatchStates(): Promise<Map<string, BreakerState>>
  /** Agents whose calls over the link fail. */
  unreachable(): Promise<Set<string>>
  /** Closes both. */
  reset(agent: Pick<Agent, 'id' | 'name'>): Promise<CircuitBreakerReset>
  /** Called when the agent is deleted. */
  forget(tx: Tx, agentId: string): Promise<void>
}

/** The status and reset of both breakers of an agent. */
export function createBreakers({ db, clock, isPlatformEnabled }: BreakersDeps): Breakers {
  async function memories(agentId: string): Promise<{ dispatch: Memory; transport: Memory }> {
    const store = breakerStore(db)
    const [dispatch, transport] = await Promise.all([
      store.read(agentId, 'dispatch'),
      store.read(agentId, 'transport'),
    ])
    return { dispatch, transport }
  }

  async function openOnes(kind: 'dispatch' | 'transport'): Promise<[string, BreakerState][]> {
    const now = clock.now()
    const known = await breakerStore(db).all(kind)
    return [...known]
      .map(([agentId, memory]): [string, BreakerState] => [agentId, stateOf(memory, now)])
      .filter(([, state]) => state !== 'closed')
  }

  async function view(agent: BreakerAgent): Promise<CircuitBreaker> {
    const now = clock.now()
    const { dispatch, transport } = await memories(agent.id)
    const [enabled, global_enabled] = [agent.circuit_breaker_enabled, isPlatformEnabled()]
    const isRefusing = enabled && global_enabled && stateOf(dispatch, now) === 'open'
    return {
      agent_name: agent.name,
      enabled,
      config: { enabled, global_enabled },
      open: isRefusing || stateOf(transport, now) === 'open',
      dispatch: shown(dispatch, now),
      transport: shown(transport, now),
      ...(enabled && !global_enabled ? { warning: platformOff } : {}),
    }
  }

  return {
    view,
    isOpen: async (agent) => (await view(agent)).open,
    dispatchStates: async () => new Map(await openOnes('dispatch')),
    unreachable: async () =>
      new Set((await openOnes('transport')).filter(([, state]) => state === 'open').map(([id]) => id)),

    async reset(agent) {
      const now = clock.now()
      return db.atomically(async (tx) => {
        const store = breakerStore(tx)
        const dispatch = await store.hold(agent.id, 'dispatch')
        const transport = await store.hold(agent.id, 'transport')
        await store.write(agent.id, 'dispatch', blank)
        await store.write(agent.id, 'transport', blank)
        return {
          agent_name: agent.name,
          prior_dispatch_state: stateOf(dispatch, now),
          prior_transport_state: stateOf(transport, now),
          new_state: 'closed' as const,
          reset_at: timestamp(now),
        }
      })
    },

    forget: (tx, agentId) => breakerStore(tx).forget(agentId),
  }
}

const platformOff =
  'The breaker has no effect while the setting dispatch_breaker_enabled of the platform is off.'

function shown(memory: Memory, now: Date): CircuitBreaker['dispatch'] {
  return {
    state: stateOf(memory, now),
    failure_count: countOf(memory, now),
    retry_after_seconds: secondsToRetry(memory, now),
  }
}
