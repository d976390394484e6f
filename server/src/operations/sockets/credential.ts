import type { KeyScope } from '@roost/contracts/kit/access'
import type { KeyCaller, SessionCaller, SignedIn } from '../../identity/access/index.ts'

/** The credential of a socket: a session, a key, or the run of a key. When it ends, so does the socket. */
export type Credential = { session: string } | { key: string }

export function credentialOf(caller: SignedIn): Credential {
  return caller.kind === 'session'
    ? { session: caller.session.jti }
    : { key: caller.run?.ref ?? caller.key.id }
}

/** An allow list, so that new scopes are refused. */
const watchingScopes: readonly KeyScope[] = ['user', 'agent', 'system']

/** Runs for people other than the owner would see what these people may not. */
export function mayWatch(caller: SignedIn): boolean {
  if (caller.kind === 'session') return true
  return watchingScopes.includes(caller.key.scope) && (!caller.run || caller.run.reach === 'owner')
}

/** Key of a credential, which its sockets share. */
export function nameOf(credential: Credential): string {
  return 'session' in credential ? `session:${credential.session}` : `key:${credential.key}`
}

export type CallerOf = (credential: Credential) => Promise<SignedIn | null>

/** Resolves a credential's present caller; null when it has ended or its account is disabled. */
export function createCallerOf(deps: {
  sessions: { callerOf(jti: string): Promise<SessionCaller | null> }
  keys: { callerOf(keyId: string): Promise<KeyCaller | null> }
}): CallerOf {
  return (credential) =>
    'session' in credential ? deps.sessions.callerOf(credential.session) : deps.keys.callerOf(credential.key)
}
