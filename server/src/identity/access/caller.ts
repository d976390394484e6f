import type { KeyScope, Role } from '@roost/contracts/kit/access'

/** The identity behind a request, determined once per request. */
export type Caller = Anonymous | SessionCaller | KeyCaller

export type Anonymous = { kind: 'anonymous' }

export type SessionCaller = {
  kind: 'session'
  user: CallerUser
  session: {
    jti: string
    mode: 'admin' | 'email'
    expires_at: string
    /** Of a Workspace session: on whose behalf its runs work. Absent: for the user. */
    principal?: string
  }
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
  /** Only for the key of a run. */
  run?: CallingRun
}

/** `ref` resolves to the caller again while the run is running. */
export type CallingRun = { ref: string; execution_id: string; reach: Reach }

/**
 * What the key of a run reaches. `owner`: what the agent's own key does. `shared`: what a person reaches that the
 * agent is shared with. `guest`: only the endpoints that admit guests, for strangers and readers.
 */
export type Reach = 'owner' | 'shared' | 'guest'

export type CallerUser = { id: string; username: string; email: string | null; role: Role }

export type SignedIn = SessionCaller | KeyCaller

export const anonymous: Anonymous = { kind: 'anonymous' }

/**
 * A caller's relation to one agent. `self`: the agent's own key. `permitted`: an agent key with a matrix edge.
 * `guest`: the key of a run whose principal may call the agent and nothing else.
 */
export type Relation = 'owner' | 'admin' | 'shared' | 'self' | 'permitted' | 'guest'

/** True for an agent that may only call the other one and see the runs that it started there. */
export function isCallOnly(relation: Relation): boolean {
  return relation === 'permitted' || relation === 'guest'
}
