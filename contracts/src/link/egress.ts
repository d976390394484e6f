/**
 * Agents' egress through the platform. Used by both ends of the link, so it imports no validation library.
 */

/** Prefix of every placeholder, followed by a keyed hash that only the platform can compute. */
export const placeholderPrefix = 'roost-placeholder-'

/** An agent's access to the egress proxy, which listens at the address of the link. */
export type AgentWayOut = {
  user: string
  /** Valid only for that proxy. */
  ticket: string
  /** The platform's CA certificate as PEM. Null when no credential is bound and TLS is not intercepted. */
  authority: string | null
}
