import type { KeyCaller, SessionCaller, SignedIn } from '../../identity/access/index.ts'

/** What a socket was opened with. The socket lives no longer than it does. */
export type Credential = { session: string } | { key: string }

export function credentialOf(caller: SignedIn): Credential {
  return caller.kind === 'session' ? { session: caller.session.jti } : { key: caller.key.id }
}

/** One text for each credential, so that sockets of the same one are found together. */
export function nameOf(credential: Credential): string {
  return 'session' in credential ? `session:${credential.session}` : `key:${credential.key}`
}

export type CallerOf = (credential: Credential) => Promise<SignedIn | null>

/** Who a credential stands for by now; null when it has ended or its account may not be used. */
export function createCallerOf(deps: {
  sessions: { callerOf(jti: string): Promise<SessionCaller | null> }
  keys: { callerOf(keyId: string): Promise<KeyCaller | null> }
}): CallerOf {
  return (credential) =>
    'session' in credential ? deps.sessions.callerOf(credential.session) : deps.keys.callerOf(credential.key)
}
