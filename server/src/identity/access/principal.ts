import type { SignedIn } from './caller.ts'

/*
 * Ids of principals, as stored with runs:
 *   user:<id>  email:<address>  key:<id>         a person or a connector
 *   public:… payer:… slack:… session:<id>        a stranger, by the holder of the conversation
 *   agent:<id>[/<principal>]                     an agent that calls another one, and on whose behalf
 */

/** The principal of an account, or of a Workspace person without one, whose id is `email:<address>`. */
export function accountPrincipal(userId: string): string {
  return userId.startsWith('email:') ? userId : `user:${userId}`
}

/** The principal of an agent's calls; `origin` is the principal of the calling run, if it is known. */
export function agentPrincipal(agentId: string, origin: string | null): string {
  return origin === null ? `agent:${agentId}` : `agent:${agentId}/${origin}`
}

/** The principal of what this caller starts. */
export function principalOf({ user, ...caller }: SignedIn): string {
  if (caller.kind === 'session') return caller.session.principal ?? accountPrincipal(user.id)
  const { id, scope, agent_id, principal = null } = caller.key
  if (scope === 'agent') return agentPrincipal(agent_id ?? id, principal)
  return scope === 'connector' ? `key:${id}` : accountPrincipal(user.id)
}

/** The principal of a run on this agent: a call of an agent to itself stays with the principal of the calling run. */
export function principalOn(agentId: string, principal: string): string {
  const self = `agent:${agentId}/`
  return principal.startsWith(self) ? principalOn(agentId, principal.slice(self.length)) : principal
}

/**
 * The principal for whom this run works at `agentId`: its own there, or that of the run of this agent that led to it.
 * Null for a run without one at that agent.
 */
export function principalAt(agentId: string, run: { agent_id: string; principal: string }): string | null {
  const path = `agent:${agentId}/`
  const at = run.principal.indexOf(path)
  if (at >= 0) return run.principal.slice(at + path.length)
  return run.agent_id === agentId ? run.principal : null
}

export type ReadPrincipal =
  | { kind: 'user' | 'email' | 'key' | 'stranger'; id: string }
  | { kind: 'agent'; id: string; origin: string | null }

/** Null for an id that no release has written. */
export function readPrincipal(principal: string): ReadPrincipal | null {
  const colon = principal.indexOf(':')
  const kind = principal.slice(0, colon)
  const id = principal.slice(colon + 1)
  if (colon < 1 || id === '') return null
  if (kind === 'user' || kind === 'email' || kind === 'key') return { kind, id }
  if (strangers.has(kind)) return { kind: 'stranger', id: principal }
  if (kind !== 'agent') return null
  const slash = id.indexOf('/')
  if (slash < 0) return { kind, id, origin: null }
  return { kind, id: id.slice(0, slash), origin: id.slice(slash + 1) }
}

const strangers = new Set(['public', 'payer', 'slack', 'session'])

/** Principals that lose the access that a share or a public link gave them. */
export type AccessEnd = {
  agent: { id: string; name: string }
  isOf(principal: string): boolean
  /** A full sentence, shown with what ends. */
  reason: string
  now: Date
}
