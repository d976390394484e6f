import type { HeartbeatState } from '@roost/contracts/agents/agent'
import type { Heartbeat } from '@roost/contracts/agents/health'
import type { OwnUse } from '@roost/contracts/link/messages'
import type { Clock } from '../../kit/clock.ts'
import type { AnyBeat, Broadcast } from './broadcast.ts'

/** `at`: when the platform received it. */
export type LastBeat = { at: number; beat: Heartbeat }
export type LastUse = { at: number; use: OwnUse }
export type BeatState = { heartbeat_state: HeartbeatState; last_heartbeat_age_seconds: number | null }

/** Agents send a heartbeat every 5 seconds; four missed ones count as stale. */
export const aliveMs = 20_000

/** The last heartbeat of each agent, in memory, from this process or another. */
export type Beats = {
  record(agentId: string, beat: AnyBeat): void
  last(agentId: string): LastBeat | null
  /** The last report of the agent's own use, which later heartbeats may lack. */
  lastUse(agentId: string): LastUse | null
  stateOf(agentId: string): BeatState
  forget(agentId: string): void
}

export function createBeats(clock: Pick<Clock, 'now'>, broadcast: Broadcast): Beats {
  const beats = new Map<string, LastBeat>()
  const uses = new Map<string, LastUse>()
  const store = (agentId: string, beat: AnyBeat) => {
    const at = clock.now().getTime()
    beats.set(agentId, { at, beat })
    if (beat.use) uses.set(agentId, { at, use: beat.use })
  }
  broadcast.on('beat', ({ agent_id, beat }) => store(agent_id, beat))
  return {
    record(agentId, beat) {
      store(agentId, beat)
      broadcast.send({ kind: 'beat', agent_id: agentId, beat })
    },
    last: (agentId) => beats.get(agentId) ?? null,
    lastUse: (agentId) => uses.get(agentId) ?? null,
    stateOf(agentId) {
      const last = beats.get(agentId)
      if (!last) return { heartbeat_state: 'unsupported', last_heartbeat_age_seconds: null }
      const ageMs = Math.max(0, clock.now().getTime() - last.at)
      return {
        heartbeat_state: ageMs <= aliveMs ? 'alive' : 'stale',
        last_heartbeat_age_seconds: Math.round(ageMs / 100) / 10,
      }
    },
    forget: (agentId) => {
      beats.delete(agentId)
      uses.delete(agentId)
    },
  }
}
