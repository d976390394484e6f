/**
 * The agents' way out over the platform. Both ends of the link read it; it carries no validation library.
 */

/** How every placeholder begins; what follows is a keyed hash that only the platform can make. */
export const placeholderPrefix = 'roost-placeholder-'

/** How an agent's programs get out: over a proxy that listens where the link leads. */
export type AgentWayOut = {
  user: string
  /** Worth something only there. */
  ticket: string
  /** Certificate of the platform's authority, PEM; null: no credential is bound, and nothing is opened on the way. */
  authority: string | null
}
