import type { IdentityChange, KeyCaller, SessionCaller, SignedIn } from '../../identity/access/index.ts'

/** What a socket was opened with. The socket lives no longer than it does. */
export type Credential = { session: string } | { key: string }

export function credentialOf(caller: SignedIn): Credential {
  return caller.kind === 'session' ? { session: caller.session.jti } : { key: caller.key.id }
}

/** One text for each credential, so that sockets of the same one are found together. */
export function nameOf(credential: Credential): string {
  return 'session' in credential ? `session:${credential.session}` : `key:${credential.key}`
}

/** Whether a change of identity may touch what this caller is or may see. */
export function isTouched(caller: SignedIn, change: IdentityChange | 'all'): boolean {
  if (change === 'all') return true
  if ('user_id' in change) return caller.user.id === change.user_id
  if ('session_id' in change) return caller.kind === 'session' && caller.session.jti === change.session_id
  if (caller.kind !== 'key') return false
  return 'key_id' in change ? caller.key.id === change.key_id : caller.key.agent_id === change.agent_id
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
