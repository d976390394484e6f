import { createHash } from 'node:crypto'
import { workspaceSession } from '@roost/contracts/conversations/workspace'
import type { Caller, SessionCaller } from '../../identity/access/caller.ts'
import type { Sessions } from '../../identity/sessions/index.ts'
import type { Account, Users } from '../../identity/users/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newSecretText } from '../../kit/ids.ts'
import type { Db, Executor } from '../../ports/database/port.ts'
import { workspaceSessionStore } from './session-store.ts'

/** A person in the Workspace. */
export type Principal = {
  /** Lower-cased; null for an account without an address. */
  email: string | null
  /** The holder of the conversations: the address, however it was verified, or the account without one. */
  holder: string
  /** The account whose agents count as own; null with a Workspace session, which has none. */
  owns: string | null
  /**
   * The person in runs and their results. For a Workspace session it has only the address and that address's account,
   * if any. So the person sees the same conversations with both sign-ins.
   */
  caller: SessionCaller
  /** Null for a signed-in account. */
  tokenHash: string | null
}

export type PrincipalsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  users: Pick<Users, 'holderOf' | 'find'>
  sessions: Pick<Sessions, 'callerOf'>
}

export type Principals = {
  /**
   * `caller` is the guard's result, `authorization` the sent header. Throws `session_expired` for an expired Workspace
   * session, and `not_authenticated`.
   */
  of(caller: Caller, authorization: string | undefined): Promise<Principal>
  /** Creates a session and returns its token, which is not stored. */
  open(on: Executor, email: string): Promise<{ token: string; expires_at: string }>
  /** Whether the Workspace session still exists and the account is not suspended. */
  isOpen(principal: Principal): Promise<boolean>
  close(principal: Principal): Promise<void>
  closeAllOf(email: string, on?: Executor): Promise<void>
  sweep(): Promise<void>
}

/** Minimum interval between updates of a session's last use. */
const touchSeconds = 60

export function createPrincipals({ db, clock, users, sessions }: PrincipalsDeps): Principals {
  const store = workspaceSessionStore(db)
  const idleSince = () => timestamp(secondsLater(clock.now(), -workspaceSession.idleSeconds))

  async function principalOfToken(token: string): Promise<Principal> {
    const tokenHash = hashOf(token)
    const row = await store.byHash(tokenHash)
    const now = clock.now()
    if (!row || row.expires_at <= timestamp(now) || row.last_used_at <= idleSince()) {
      throw new Fault('session_expired')
    }
    const account = await users.holderOf(db, row.email)
    // A suspended account must not enter through a Workspace session either.
    if (account?.suspended_at) throw new Fault('session_expired')
    if (row.last_used_at < timestamp(secondsLater(now, -touchSeconds))) {
      await store.touch(tokenHash, timestamp(now))
    }
    return clientOf(row.email, accountIdOf(account, row.email), tokenHash, row.expires_at)
  }

  return {
    async of(caller, authorization) {
      if (caller.kind === 'session') return principalOfAccount(caller)
      const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
      if (caller.kind === 'key' || token === undefined) throw new Fault('not_authenticated')
      return principalOfToken(token)
    },
    async open(on, email) {
      const token = newSecretText()
      const now = clock.now()
      const expires_at = timestamp(secondsLater(now, workspaceSession.longestSeconds))
      const at = timestamp(now)
      const row = { token_hash: hashOf(token), email, created_at: at, last_used_at: at, expires_at }
      await workspaceSessionStore(on).insert(row)
      return { token, expires_at }
    },
    async isOpen({ tokenHash, caller }) {
      if (tokenHash === null) return (await sessions.callerOf(caller.session.jti)) !== null
      const account = await users.find(caller.user.id)
      return !account?.suspended_at && (await store.byHash(tokenHash)) !== null
    },
    async close({ tokenHash }) {
      if (tokenHash !== null) await store.remove(tokenHash)
    },
    closeAllOf: (email, on = db) => workspaceSessionStore(on).removeOf(email),
    sweep: () => store.removeExpired(timestamp(clock.now()), idleSince()),
  }
}

function principalOfAccount(caller: SessionCaller): Principal {
  const email = caller.user.email?.toLowerCase() ?? null
  return {
    email,
    holder: email === null ? `user:${caller.user.id}` : holderOfAddress(email),
    owns: caller.user.id,
    caller,
    tokenHash: null,
  }
}

export function clientOf(
  email: string,
  accountId: string | null,
  tokenHash: string | null,
  expires_at: string,
): Principal {
  const holder = holderOfAddress(email)
  return {
    email,
    holder,
    owns: null,
    tokenHash,
    caller: {
      kind: 'session',
      user: { id: accountId ?? holder, username: email, email, role: 'user' },
      session: { jti: '', mode: 'email', expires_at },
    },
  }
}

/** The account of an address: only by its registered address, never by its user name. */
export function accountIdOf(account: Account | null, email: string): string | null {
  return account?.email === email ? account.id : null
}

export function holderOfAddress(email: string): string {
  return `email:${email.toLowerCase()}`
}

/** Tokens are 256 random bits, so a plain digest is safe. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
