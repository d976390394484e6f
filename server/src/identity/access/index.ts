/**
 * Identifies and authorizes callers. Every endpoint has the same order of checks. Pure rules decide from caller,
 * endpoint and relation to the agent. The lookup of agents, sessions and keys is passed in.
 */
export * from './caller.ts'
export {
  type IdentityChange,
  type IdentityChanges,
  isLinkTouched,
  isTouched,
  openIdentityChanges,
} from './changes.ts'
export { createIdentify, type Identify, type IdentifyDeps, keyTextPrefix } from './identify.ts'
export {
  type AccessEnd,
  accountPrincipal,
  agentPrincipal,
  principalAt,
  principalOf,
  principalOn,
  type ReadPrincipal,
  readPrincipal,
} from './principal.ts'
export { may, refuseAfter, refuseBefore, roleAtLeast, type Verdict } from './rules.ts'
