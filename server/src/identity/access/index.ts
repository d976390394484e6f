/**
 * Who is asking, and whether they may. Promises one order of checks for every endpoint, decided by pure
 * rules over the caller, the endpoint's access and the caller's relation to the agent. Refuses to know how
 * agents are looked up, and what a session or a key is made of: both are handed in.
 */
export * from './caller.ts'
export { type IdentityChange, type IdentityChanges, isTouched, openIdentityChanges } from './changes.ts'
export { createIdentify, type Identify, type IdentifyDeps, keyTextPrefix } from './identify.ts'
export { may, refuseAfter, refuseBefore, roleAtLeast, type Verdict } from './rules.ts'
