/**
 * Identifies and authorizes callers. Every endpoint has the same order of checks, made by pure rules over
 * the caller, the endpoint's access and the caller's relation to the agent. Independent of agent lookup and
 * of the format of sessions and keys: both are passed in.
 */
export * from './caller.ts'
export { type IdentityChange, type IdentityChanges, isTouched, openIdentityChanges } from './changes.ts'
export { createIdentify, type Identify, type IdentifyDeps, keyTextPrefix } from './identify.ts'
export { may, refuseAfter, refuseBefore, roleAtLeast, type Verdict } from './rules.ts'
