import type { KeyScope, Role } from '@roost/contracts/kit/access'

/** The identity behind a request, determined once per request. */
export type Caller = Anonymous | SessionCaller | KeyCaller

export type Anonymous = { kind: 'anonymous' }

export type SessionCaller = {
  kind: 'session'
  user: CallerUser
  session: { jti: string; mode: 'admin' | 'email'; expires_at: string }
}

export type KeyCaller = {
  kind: 'key'
  /** The key's owner. A key has its owner's role and never exceeds the owner's rights. */
  user: CallerUser
  key: {
    id: string
    name: string
    scope: KeyScope
    agent_id: string | null
    /** Of a key that belongs to a run: the run's principal. Absent on every other key. */
    principal?: string
  }
}

export type CallerUser = { id: string; username: string; email: string | null; role: Role }

export type SignedIn = SessionCaller | KeyCaller

export const anonymous: Anonymous = { kind: 'anonymous' }

/** A caller's relation to one agent. `self`: the agent's own key. `permitted`: an agent key with a matrix edge. */
export type Relation = 'owner' | 'admin' | 'shared' | 'self' | 'permitted'
