import { createHash } from 'node:crypto'
import { workspaceSession } from '@roost/contracts/conversations/workspace'
import type { Caller, SessionCaller } from '../../identity/access/caller.ts'
import { accountPrincipal, type IdentityChanges } from '../../identity/access/index.ts'
import type { Sessions } from '../../identity/sessions/index.ts'
import type { Account, AllowList, Users } from '../../identity/users/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newSecretText } from '../../kit/ids.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import type { AccessRevocationPort } from '../chat/index.ts'
import { workspaceSessionStore } from './session-store.ts'

/** A person in the Workspace. */
export type Principal = {
  /** Lower-cased; null for an account without an address. */
  email: string | null
  /** The holder of the conversations: the address, the account without one, or see `MailboxOwner`. */
  holder: string
  /** The account whose agents count as own; null with a Workspace session, which has none. */
  owns: string | null
  /**
   * The person in runs and their results. For a Workspace session it has only the address and the person's account,
   * if any. So the person sees the same conversations with both sign-ins.
   */
  caller: SessionCaller
  /** Null for a signed-in account. */
  tokenHash: string | null
  /** The revocation epoch before the person was admitted. */
  epoch: number
}

/** The person who gets the mail of an address. */
export type MailboxOwner = {
  /**
   * The person's account; null without one. An account that registered the address without proof is another person,
   * and holds the conversations of `email:<address>`; the owner of the mailbox then holds those of `mailbox:<address>`.
   */
  account: Account | null
  holder: string
  /** Whether an account that has the address is suspended, with or without proof. */
  isSuspended: boolean
}

export type PrincipalsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  users: Pick<Users, 'holderOf' | 'find'>
  allowList: Pick<AllowList, 'admit'>
  sessions: Pick<Sessions, 'callerOf'>
  changes: Pick<IdentityChanges, 'announce'>
  accessRevocation: Pick<AccessRevocationPort, 'revocationEpoch'>
}

export type Principals = {
  /**
   * `caller` is the guard's result, `authorization` the sent header. Throws `session_expired` for an expired Workspace
   * session, and `not_authenticated`.
   */
  of(caller: Caller, authorization: string | undefined): Promise<Principal>
  ownerOf(email: string): Promise<MailboxOwner>
  /** Creates a session and returns its token, which is not stored. */
  open(on: Executor, email: string): Promise<{ token: string; expires_at: string }>
  /** Whether the Workspace session still exists and the account is not suspended. */
  isOpen(principal: Principal): Promise<boolean>
  /** Ends the Workspace session and, in every process, its open replies. */
  close(principal: Principal): Promise<void>
  /** Ends the sessions of the address and, in every process, their open replies. */
  closeAllOf(tx: Tx, email: string): Promise<void>
  /** Checks the open replies to the address again, in every process, once the transaction is committed. */
  recheck(tx: Tx, email: string): Promise<void>
  sweep(): Promise<void>
}

/** Minimum interval between updates of a session's last use. */
const touchSeconds = 60

export function createPrincipals(deps: PrincipalsDeps): Principals {
  const { db, clock, users, allowList, sessions, changes, accessRevocation } = deps
  const store = workspaceSessionStore(db)
  const idleSince = () => timestamp(secondsLater(clock.now(), -workspaceSession.idleSeconds))

  async function ownerOf(email: string): Promise<MailboxOwner> {
    const registered = await users.holderOf(db, email)
    const isSuspended = Boolean(registered?.suspended_at)
    // An account is found only by its registered address, never by its user name.
    const account = registered?.email === email ? registered : null
    if (account && !(await isProved(account, email)))
      return { account: null, holder: `mailbox:${email}`, isSuspended }
    return { account, holder: holderOfAddress(email), isSuspended }
  }

  /** The rule of the sign-in by e-mail. A user name that is an address stays proved without the allow list. */
  const isProved = async (account: Account, email: string) =>
    account.username === email || (await allowList.admit(db, email, account)) !== null

  async function recheck(tx: Tx, email: string): Promise<void> {
    const account = await users.holderOf(tx, email)
    // A reply that began before the account existed has the address as its caller.
    const ids = [holderOfAddress(email), ...(account?.email === email ? [account.id] : [])]
    tx.onCommitted(() => {
      for (const user_id of ids) changes.announce({ user_id })
    })
  }

  async function principalOfToken(token: string, epoch: number): Promise<Principal> {
    const tokenHash = hashOf(token)
    const row = await store.byHash(tokenHash)
    const now = clock.now()
    if (!row || row.expires_at <= timestamp(now) || row.last_used_at <= idleSince()) {
      throw new Fault('session_expired')
    }
    const { account, holder, isSuspended } = await ownerOf(row.email)
    // A suspended account must not enter through a Workspace session either.
    if (isSuspended) throw new Fault('session_expired')
    if (row.last_used_at < timestamp(secondsLater(now, -touchSeconds))) {
      await store.touch(tokenHash, timestamp(now))
    }
    const caller = addressCaller(row.email, account, row.expires_at)
    return { email: row.email, holder, owns: null, caller, tokenHash, epoch }
  }

  return {
    async of(caller, authorization) {
      const epoch = accessRevocation.revocationEpoch()
      if (caller.kind === 'session') return principalOfAccount(caller, epoch)
      const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
      if (caller.kind === 'key' || token === undefined) throw new Fault('not_authenticated')
      return principalOfToken(token, epoch)
    },
    ownerOf,
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
    async close({ tokenHash, email }) {
      if (tokenHash === null) return
      await db.atomically(async (tx) => {
        await workspaceSessionStore(tx).remove(tokenHash)
        if (email !== null) await recheck(tx, email)
      })
    },
    async closeAllOf(tx, email) {
      await workspaceSessionStore(tx).removeOf(email)
      await recheck(tx, email)
    },
    recheck,
    sweep: () => store.removeExpired(timestamp(clock.now()), idleSince()),
  }
}

function principalOfAccount(caller: SessionCaller, epoch: number): Principal {
  const email = caller.user.email?.toLowerCase() ?? null
  return {
    email,
    holder: email === null ? `user:${caller.user.id}` : holderOfAddress(email),
    owns: caller.user.id,
    caller,
    tokenHash: null,
    epoch,
  }
}

/**
 * The caller of a mailed code. Its runs have the rights of the share. Those of an owner or admin need the account's own
 * sign-in, with its second factor.
 */
export function addressCaller(email: string, account: Account | null, expires_at: string): SessionCaller {
  const address = holderOfAddress(email)
  const isOrdinary = account?.username === email && account.role !== 'admin'
  const principal = isOrdinary ? accountPrincipal(account.id) : address
  return {
    kind: 'session',
    user: { id: account?.id ?? address, username: email, email, role: 'user' },
    session: { jti: '', mode: 'email', expires_at, principal },
  }
}

/** Null for an address without an account. */
export function accountIdOf({ caller: { user } }: Pick<Principal, 'caller'>): string | null {
  return user.email !== null && user.id === holderOfAddress(user.email) ? null : user.id
}

/** The address of a holder; null for an account without one. */
export function addressOf(holder: string): string | null {
  return /^(?:email|mailbox):(.+)$/.exec(holder)?.[1] ?? null
}

export function holderOfAddress(email: string): string {
  return `email:${email.toLowerCase()}`
}

/** Tokens are 256 random bits, so a plain digest is safe. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
