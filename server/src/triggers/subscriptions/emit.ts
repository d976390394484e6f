import type { EmitEvent } from '@roost/contracts/triggers/events'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { agentPrincipal, type SignedIn } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import { callerDepth, sourceOf } from '../../runs/dispatch/index.ts'
import type { Deliver } from './deliver.ts'
import { type EventRow, eventStore } from './event-store.ts'
import type { Match, Matching } from './matching.ts'
import { emittedType } from './rules.ts'

export type EmitDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  limits: Pick<RateLimits, 'use'>
  agentName(agentId: string): Promise<string | null>
}

/** The agent in whose name an event is emitted. */
export type EmittingAgent = { id: string; name: string }

/**
 * Emits events of callers. Both return the event's id after every delivery was made or dropped, and throw
 * `invalid_event_type`, `reserved_event_type`, `rate_limited`.
 */
export function createEmit(deps: EmitDeps & { matching: Matching; deliver: Deliver }) {
  const { db, clock, limits, matching, deliver } = deps

  async function emit(row: EventRow, matches: readonly Match[]): Promise<string> {
    await db.atomically(async (tx) => {
      await eventStore(tx).insert(row)
      await deliver.match(tx, row, matches)
    })
    await deliver.now(row.id)
    return row.id
  }

  async function asAgent(
    caller: SignedIn,
    agent: { id: string; name: string },
    request: EmitEvent,
  ): Promise<string> {
    const type = emittedType(request.event_type)
    await limits.use(rateRules.event, `agent:${agent.id}`)
    const isItself = caller.kind === 'key' && caller.key.scope === 'agent'
    const source = sourceOf(caller, isItself ? agent.name : null)
    // For the agent's key, the principal already names the agent.
    const principal = isItself ? source.principal : agentPrincipal(agent.id, source.principal)
    const row = {
      ...rowOf(request, type, timestamp(clock.now())),
      source_agent: agent.name,
      source_agent_id: agent.id,
      source_user_id: null,
      source: JSON.stringify({ ...source, principal }),
      chain_depth: await callerDepth(db, source),
    }
    return emit(row, await matching.ofAgent(type, agent.id))
  }

  return {
    /** As an agent: by the agent itself or a person with access. Throws `agent_identity_required`. */
    async asAgent(caller: SignedIn, agent: EmittingAgent, request: EmitEvent): Promise<string> {
      const isOtherAgent =
        caller.kind === 'key' && caller.key.scope === 'agent' && caller.key.agent_id !== agent.id
      if (isOtherAgent) throw new Fault('agent_identity_required')
      return asAgent(caller, agent, request)
    },

    /** In the caller's own name; for an agent key, in the name of its agent. */
    async asCaller(caller: SignedIn, request: EmitEvent): Promise<string> {
      const agentId = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
      if (agentId !== null) {
        const name = await deps.agentName(agentId)
        if (name === null) throw new Fault('agent_not_found')
        return asAgent(caller, { id: agentId, name }, request)
      }
      const type = emittedType(request.event_type)
      await limits.use(rateRules.event, `user:${caller.user.id}`)
      const row = {
        ...rowOf(request, type, timestamp(clock.now())),
        source_agent: caller.user.username,
        source_agent_id: null,
        source_user_id: caller.user.id,
        source: JSON.stringify(sourceOf(caller, null)),
        chain_depth: 0,
      }
      return emit(row, await matching.ofPerson(type, caller))
    },
  }
}

function rowOf({ payload }: EmitEvent, event_type: string, created_at: string) {
  return {
    id: newId(),
    event_type,
    payload: payload === null ? null : JSON.stringify(payload),
    subscriptions_triggered: null,
    created_at,
  }
}
