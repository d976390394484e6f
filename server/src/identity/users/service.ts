import type { User } from '@roost/contracts/identity/users'
import type { Role } from '@roost/contracts/kit/access'
import { createCache } from '../../kit/cache.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import type { CallerUser, IdentityChanges } from '../access/index.ts'
import { type Account, userStore } from './store.ts'

/** The user name of the account that setup makes. */
export const firstAdminName = 'admin'

export type Users = {
  /** Null when there is no such account (any more). Served from memory; a change shows at once. */
  find(id: string): Promise<Account | null>
  findAll(ids: string[]): Promise<Account[]>
  /** `login`: a user name or a registered e-mail address, in any case. Never from memory. */
  findLogin(login: string): Promise<{ account: Account; passwordHash: string | null } | null>
  passwordHashOf(id: string): Promise<string | null>
  /** While true nobody can be made admin without a credential. */
  hasUsableAdmin(): Promise<boolean>
  /** Of several at once one wins; throws `setup_completed` for the others, `already_exists` for the address. */
  /** Its id. */
  createFirstAdmin(wanted: { passwordHash: string; email: string | null }): Promise<string>
  /** The first admin may do everything again, with this password. Its id; null when there is none. */
  restoreFirstAdmin(tx: Tx, passwordHash: string): Promise<string | null>
  /** Throws `already_exists` when the address is somebody's user name or address. */
  setEmail(id: string, email: string): Promise<void>
  /** False when the password is not `from` any more. */
  replacePasswordHash(tx: Tx, id: string, from: string, to: string): Promise<boolean>
  /** Whose user name or registered address this is; in lower case, never from memory. */
  holderOf(on: Executor, login: string): Promise<Account | null>
  /** The account of somebody who has proven the address. Throws `already_exists`. */
  create(tx: Tx, wanted: { email: string; role: Role }): Promise<Account>
  /** `at`: since when the second factor is asked for; null: not at all. */
  setEnrolled(tx: Tx, id: string, at: string | null): Promise<void>
  /**
   * False when the account may not sign in (any more). `passwordHash`: what was proven, null when the proof
   * was another one; a password changed meanwhile proves nothing.
   */
  recordLogin(tx: Tx, id: string, passwordHash: string | null): Promise<boolean>
}

export function createUsers(deps: { db: Db; clock: Clock; changes: IdentityChanges }): Users {
  const { db, clock, changes } = deps
  const cache = createCache<Account>({
    clock,
    maxAgeSeconds: 5,
    maxEntries: 10_000,
    load: (id) => userStore(db).byId(id),
  })
  changes.on((change) => {
    if (change === 'all') cache.clear()
    else if ('user_id' in change) cache.forget((account) => account.id === change.user_id)
  })
  const changed = (tx: Tx, user_id: string) => tx.onCommitted(() => changes.announce({ user_id }))

  return {
    find: (id) => cache.get(id),
    findAll: (ids) => userStore(db).byIds(ids),
    findLogin: (login) => userStore(db).byLogin(login.trim().toLowerCase()),
    passwordHashOf: (id) => userStore(db).passwordHashOf(id),
    hasUsableAdmin: () => userStore(db).hasUsableAdmin(),

    createFirstAdmin: ({ passwordHash, email }) =>
      db.atomically(async (tx) => {
        const users = userStore(tx)
        if (await users.hasUsableAdmin()) throw new Fault('setup_completed')
        const id = await users.insertFirstAdmin({
          id: newId(),
          username: firstAdminName,
          email,
          name: null,
          picture: null,
          role: 'admin',
          password_hash: passwordHash,
          created_at: timestamp(clock.now()),
          last_login_at: null,
          suspended_at: null,
          mfa_enrolled_at: null,
        })
        if (id === null) throw new Fault('setup_completed')
        const logins = [firstAdminName, ...(email === null ? [] : [email])]
        for (const login of logins) {
          if (!(await users.claimLogin(login, id))) throw takenAddress()
        }
        await users.releaseLogins(id, logins)
        changed(tx, id)
        return id
      }),

    async restoreFirstAdmin(tx, passwordHash) {
      const id = await userStore(tx).restoreAdmin(firstAdminName, passwordHash)
      if (id !== null) changed(tx, id)
      return id
    },

    setEmail: (id, email) =>
      db.atomically(async (tx) => {
        const users = userStore(tx)
        const account = await users.byId(id)
        if (!account) throw new Fault('invalid_token')
        if (!(await users.claimLogin(email, id))) throw takenAddress()
        await users.setEmail(id, email)
        await users.releaseLogins(id, [account.username, email])
        changed(tx, id)
      }),

    replacePasswordHash: (tx, id, from, to) => userStore(tx).replacePasswordHash(id, from, to),

    holderOf: async (on, login) => (await userStore(on).byLogin(login))?.account ?? null,

    async create(tx, { email, role }) {
      const store = userStore(tx)
      const account: Account = {
        id: newId(),
        username: email,
        email,
        name: null,
        picture: null,
        role,
        created_at: timestamp(clock.now()),
        last_login_at: null,
        suspended_at: null,
        mfa_enrolled_at: null,
      }
      await store.insert({ ...account, password_hash: null })
      if (!(await store.claimLogin(email, account.id))) throw takenAddress()
      return account
    },

    async setEnrolled(tx, id, at) {
      await userStore(tx).setEnrolled(id, at)
      changed(tx, id)
    },

    async recordLogin(tx, id, passwordHash) {
      const recorded = await userStore(tx).setLastLogin(id, timestamp(clock.now()), passwordHash)
      if (recorded) changed(tx, id)
      return recorded
    },
  }
}

/** What requests carry of an account. */
export function callerUser(account: Account): CallerUser {
  return { id: account.id, username: account.username, email: account.email, role: account.role }
}

/** The account as its own person sees it. */
export function userView(account: Account): User {
  const { suspended_at: _, mfa_enrolled_at, ...shown } = account
  return { ...shown, mfa_enrolled: mfa_enrolled_at !== null }
}

function takenAddress(): Fault {
  return new Fault('already_exists', 'This e-mail address belongs to another account.')
}
