import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { KeyCaller, SessionCaller, SignedIn } from '../../identity/access/caller.ts'
import { Fault } from '../../kit/fault.ts'
import { holderOf } from '../../runs/dispatch/index.ts'
import type { AccessRevocationPort } from '../chat/index.ts'
import type { Principal, Principals, Roster } from '../workspace-chat/index.ts'

export type VoiceIdentityDeps = {
  agentRecords: Pick<AgentRecords, 'byId'>
  agentAccess: Pick<AgentAccess, 'relationTo'>
  /** The current caller of a session or key; null when it has ended or its account is disabled. */
  sessions: { callerOf(jti: string): Promise<SessionCaller | null> }
  keys: { callerOf(keyId: string): Promise<KeyCaller | null> }
  principals: Pick<Principals, 'isOpen'>
  roster: Pick<Roster, 'has'>
  accessRevocation: Pick<AccessRevocationPort, 'revocationEpoch'>
}

/** How the caller authenticated. Stored in the ticket, because another process may serve the socket. */
export type TicketIdentity =
  | { via: 'platform'; session: string }
  | { via: 'platform'; key: string }
  | { via: 'workspace'; principal: Principal }

/** A person who starts a call. */
export type CallPerson = {
  caller: SignedIn
  holder: string
  identity: TicketIdentity
}

export const personOf = (caller: SignedIn): CallPerson => ({
  caller,
  holder: holderOf(caller),
  identity:
    caller.kind === 'session'
      ? { via: 'platform', session: caller.session.jti }
      : { via: 'platform', key: caller.run?.ref ?? caller.key.id },
})

export const workspacePersonOf = (principal: Principal): CallPerson => ({
  caller: principal.caller,
  holder: principal.holder,
  identity: { via: 'workspace', principal },
})

/** A person who still has access to the agent. `epoch`: the revocation epoch before that was checked. */
export type Admitted = { caller: SignedIn; agent: Agent; epoch: number; ask(): Promise<void> }

/** Re-authenticates callers by the identity in their ticket. */
export function createVoiceIdentity({
  agentRecords,
  agentAccess,
  sessions,
  keys,
  principals,
  roster,
  accessRevocation,
}: VoiceIdentityDeps) {
  async function callerOf(identity: TicketIdentity): Promise<SignedIn | null> {
    if (identity.via === 'workspace') {
      return (await principals.isOpen(identity.principal)) ? identity.principal.caller : null
    }
    return 'session' in identity ? sessions.callerOf(identity.session) : keys.callerOf(identity.key)
  }

  async function find(
    identity: TicketIdentity,
    agentId: string,
  ): Promise<{ caller: SignedIn; agent: Agent } | null> {
    const [caller, agent] = await Promise.all([callerOf(identity), agentRecords.byId(agentId)])
    if (!caller || !agent) return null
    const mayCall =
      identity.via === 'workspace'
        ? await roster.has(identity.principal, agentId)
        : (await agentAccess.relationTo(caller, agent)) !== null
    return mayCall ? { caller, agent } : null
  }

  return {
    /** Null when the caller has lost access. */
    async admit(identity: TicketIdentity, agentId: string): Promise<Admitted | null> {
      const epoch = accessRevocation.revocationEpoch()
      const found = await find(identity, agentId)
      if (!found) return null
      return {
        ...found,
        epoch,
        async ask() {
          if (!(await find(identity, agentId))) throw new Fault('agent_not_found')
        },
      }
    },
  }
}

export type VoiceIdentity = ReturnType<typeof createVoiceIdentity>
