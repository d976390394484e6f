/**
 * The agents' way out over the platform. Both ends of the link read it; it carries no validation library.
 */

/** How every placeholder begins; what follows is a keyed hash that only the platform can make. */
export const placeholderPrefix = 'roost-placeholder-'

/** How an agent's programs get out. */
export type AgentWayOut = {
  /** `http://<agent>:<ticket>@host:port`, for `HTTPS_PROXY` and its kind. */
  proxy_url: string
  /** Hosts that are reached without it: the platform itself. */
  no_proxy: string
  /** Certificate of the platform's authority, PEM; null: no credential is bound, and nothing is opened on the way. */
  authority: string | null
}
