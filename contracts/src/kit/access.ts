/**
 * Who may call an endpoint. The coarse rule stands on the endpoint value and is decided in one place of
 * the server before anything is looked up; finer rules stand in the feature.
 */

export const roles = ['user', 'operator', 'creator', 'admin'] as const
export type Role = (typeof roles)[number]

export const keyScopes = ['user', 'agent', 'system', 'connector', 'portal_delegate', 'ops'] as const
export type KeyScope = (typeof keyScopes)[number]

/** Scopes that reach only the routes which name them. */
export const fencedScopes = ['connector', 'portal_delegate', 'ops'] as const
export type FencedScope = (typeof fencedScopes)[number]

export type Access = {
  /**
   * - `none`: no credential is looked at.
   * - `any`: a valid session, or a key whose scope reaches the route.
   * - `access`: can reach the agent named in the path: its owner, an admin, someone it is shared with, or
   *   an agent key under the permissions matrix.
   * - `owner`: the agent's owner or an admin; an agent key only for its own agent.
   * - `admin`: role admin through a session, a `user` key or the `system` key.
   * - `agent`: the agent's own key.
   * - `workspace`: a Workspace session, which the feature checks itself, or a signed-in person.
   * - `internal`: the internal listener only; on loopback without a credential.
   */
  who: 'none' | 'any' | 'access' | 'owner' | 'admin' | 'agent' | 'workspace' | 'internal'
  /** `person`: session, `user` or `system` key. `human`: a session only. `key`: a key only, which is asked about. */
  gate?: 'person' | 'human' | 'key'
  /** The least role of the caller, apart from `who`. */
  role?: Exclude<Role, 'user' | 'admin'>
  /** Fenced scopes that may come in here. */
  scopes?: readonly FencedScope[]
  /** Agent keys are refused although `who` would admit them (routes about keys and accounts). */
  refuses?: readonly KeyScope[]
  /** A session that was logged out may come in still: leaving twice is no error. */
  admitsLeft?: true
}
