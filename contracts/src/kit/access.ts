/**
 * Who may call an endpoint. The server checks this coarse rule of the endpoint value in one place, before any lookup.
 * The features check finer rules.
 */

export const roles = ['user', 'operator', 'creator', 'admin'] as const
export type Role = (typeof roles)[number]

export const keyScopes = ['user', 'agent', 'system', 'connector', 'portal_delegate', 'ops'] as const
export type KeyScope = (typeof keyScopes)[number]

/** Scopes that are valid only on routes that name them. */
export const fencedScopes = ['connector', 'portal_delegate', 'ops'] as const
export type FencedScope = (typeof fencedScopes)[number]

export type Access = {
  /**
   * - `none`: credentials are ignored.
   * - `any`: a valid session, or a key whose scope allows the route.
   * - `access`: has access to the agent named in the path: its owner, an admin, a person it is shared with, or
   *   an agent key under the permissions matrix.
   * - `owner`: the agent's owner or an admin; an agent key only for its own agent.
   * - `admin`: role admin through a session, a `user` key or the `system` key.
   * - `agent`: the agent's own key.
   * - `workspace`: a Workspace session, which the feature checks itself, or a signed-in person.
   * - `internal`: the internal listener only, with the internal secret of the installation.
   */
  who: 'none' | 'any' | 'access' | 'owner' | 'admin' | 'agent' | 'workspace' | 'internal'
  /** `person`: session, `user` or `system` key. `human`: a session only. `key`: a key only, which the call is about. */
  gate?: 'person' | 'human' | 'key'
  /** Minimum role of the caller, in addition to `who`. */
  role?: Exclude<Role, 'user' | 'admin'>
  /** Further credentials of an `internal` endpoint: the keys of agents, or the read token of the metrics. */
  alsoAdmits?: 'agent' | 'metrics_token'
  /** Fenced scopes that may call this endpoint. */
  scopes?: readonly FencedScope[]
  /**
   * Scopes that are refused although `who` admits them (routes about keys and accounts). `run`: the keys of runs.
   */
  refuses?: readonly (KeyScope | 'run')[]
  /** Admits the key of a run that works for a stranger or a reader. */
  guests?: true
  /** Changes the workspace: refused to a person with whom the agent is shared for reading. */
  writesWorkspace?: true
  /** Also admits a session that has logged out, so that logging out twice succeeds. */
  acceptsLoggedOut?: true
}
