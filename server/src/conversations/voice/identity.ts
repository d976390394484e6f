import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { KeyCaller, SessionCaller, SignedIn } from '../../identity/access/caller.ts'
import { Fault } from '../../kit/fault.ts'
import { holderOf } from '../../runs/dispatch/index.ts'
import type { Principal, Principals, Roster } from '../workspace-chat/index.ts'

export type VoiceIdentityDeps = {
  agentRecords: Pick<AgentRecords, 'byId'>
  agentAccess: Pick<AgentAccess, 'relationTo'>
  /** Who a session or a key stands for by now; null when it has ended or its account may not be used. */
  sessions: { callerOf(jti: string): Promise<SessionCaller | null> }
  keys: { callerOf(keyId: string): Promise<KeyCaller | null> }
  principals: Pick<Principals, 'isOpen'>
  roster: Pick<Roster, 'has'>
}

/** How somebody came in, as a ticket keeps it: the socket is another request, perhaps of another process. */
export type Kept =
  | { door: 'platform'; session: string }
  | { door: 'platform'; key: string }
  | { door: 'workspace'; principal: Principal }

/** Somebody who calls. */
export type Person = {
  caller: SignedIn
  holder: string
  kept: Kept
}

export const personOf = (caller: SignedIn): Person => ({
  caller,
  holder: holderOf(caller),
  kept:
    caller.kind === 'session'
      ? { door: 'platform', session: caller.session.jti }
      : { door: 'platform', key: caller.key.id },
})

export const workspacePersonOf = (principal: Principal): Person => ({
  caller: principal.caller,
  holder: principal.holder,
  kept: { door: 'workspace', principal },
})

/** Somebody who may still call an agent. */
export type Admitted = { caller: SignedIn; agent: Agent; ask(): Promise<void> }

/** Finds people again by what a ticket has kept of them. */
export function createVoiceIdentity({
  agentRecords,
  agentAccess,
  sessions,
  keys,
  principals,
  roster,
}: VoiceIdentityDeps) {
  async function callerOf(kept: Kept): Promise<SignedIn | null> {
    if (kept.door === 'workspace') {
      return (await principals.isOpen(kept.principal)) ? kept.principal.caller : null
    }
    return 'session' in kept ? sessions.callerOf(kept.session) : keys.callerOf(kept.key)
  }

  async function find(kept: Kept, agentId: string): Promise<{ caller: SignedIn; agent: Agent } | null> {
    const [caller, agent] = await Promise.all([callerOf(kept), agentRecords.byId(agentId)])
    if (!caller || !agent) return null
    const mayCall =
      kept.door === 'workspace'
        ? await roster.has(kept.principal, agentId)
        : (await agentAccess.relationTo(caller, agent)) !== null
    return mayCall ? { caller, agent } : null
  }

  return {
    /** Null: not any more. */
    async admit(kept: Kept, agentId: string): Promise<Admitted | null> {
      const found = await find(kept, agentId)
      if (!found) return null
      return {
        ...found,
        async ask() {
          if (!(await find(kept, agentId))) throw new Fault('agent_not_found')
        },
      }
    },
  }
}

export type VoiceIdentity = ReturnType<typeof createVoiceIdentity>
