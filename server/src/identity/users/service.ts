import type { User } from '@roost/contracts/identity/users'
import type { Role } from '@roost/contracts/kit/access'
import { createCache } from '../../kit/cache.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import type { CallerUser, IdentityChanges } from '../access/index.ts'
import { type Account, userStore } from './store.ts'

/** The authentication of a sign-in: a password or a mailed code. */
export type Proof = { mode: 'admin'; passwordHash: string } | { mode: 'email' }

/** The user name of the account that setup creates. */
export const firstAdminName = 'admin'

export type Users = {
  /** Returns null for an unknown or deleted account. Cached; a change takes effect immediately. */
  find(id: string): Promise<Account | null>
  findAll(ids: string[]): Promise<Account[]>
  /** `login`: a user name or registered e-mail address, case-insensitive. Never cached. */
  findLogin(login: string): Promise<{ account: Account; passwordHash: string | null } | null>
  passwordHashOf(id: string): Promise<string | null>
  /** Until the transaction ends, other transactions that lock the account wait. Lock it before its agents. */
  lock(tx: Tx, id: string): Promise<void>
  /** While true, setup is closed. */
  hasUsableAdmin(): Promise<boolean>
  /** Returns the id. One concurrent call succeeds, others throw `setup_completed`. Throws `already_exists`. */
  createFirstAdmin(request: { passwordHash: string; email: string | null }): Promise<string>
  /** Restores role, password and access of the first admin. Returns its id, or null if it does not exist. */
  restoreFirstAdmin(tx: Tx, passwordHash: string): Promise<string | null>
  /** Throws `already_exists` if another account has the address or user name. */
  setEmail(id: string, email: string): Promise<void>
  /** False if the stored hash is no longer `from`. */
  replacePasswordHash(tx: Tx, id: string, from: string, to: string): Promise<boolean>
  /** Returns the account with this user name or registered address (in lower case). Never cached. */
  holderOf(on: Executor, login: string): Promise<Account | null>
  /** Creates the account of a verified address. Throws `already_exists`. */
  create(tx: Tx, request: { email: string; role: Role }): Promise<Account>
  /** `at`: the time from which a second factor is required; null: not required. */
  setEnrolled(tx: Tx, id: string, at: string | null): Promise<void>
  /**
   * False if the account may not sign in now. `passwordHash`: the verified hash, null for other proofs. A
   * password changed since the check is refused.
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
  const announce = (tx: Tx, user_id: string) => tx.onCommitted(() => changes.announce({ user_id }))

  return {
    find: (id) => cache.get(id),
    findAll: (ids) => userStore(db).byIds(ids),
    findLogin: (login) => userStore(db).byLogin(login.trim().toLowerCase()),
    passwordHashOf: (id) => userStore(db).passwordHashOf(id),
    lock: (tx, id) => userStore(tx).lock(id),
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
          if (!(await users.claimLogin(login, id))) throw addressInUse()
        }
        await users.releaseLogins(id, logins)
        announce(tx, id)
        return id
      }),

    async restoreFirstAdmin(tx, passwordHash) {
      const id = await userStore(tx).restoreAdmin(firstAdminName, passwordHash)
      if (id !== null) announce(tx, id)
      return id
    },

    setEmail: (id, email) =>
      db.atomically(async (tx) => {
        const users = userStore(tx)
        const account = await users.byId(id)
        if (!account) throw new Fault('invalid_token')
        if (!(await users.claimLogin(email, id))) throw addressInUse()
        await users.setEmail(id, email)
        await users.releaseLogins(id, [account.username, email])
        announce(tx, id)
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
      if (!(await store.claimLogin(email, account.id))) throw addressInUse()
      return account
    },

    async setEnrolled(tx, id, at) {
      await userStore(tx).setEnrolled(id, at)
      announce(tx, id)
    },

    async recordLogin(tx, id, passwordHash) {
      const recorded = await userStore(tx).setLastLogin(id, timestamp(clock.now()), passwordHash)
      if (recorded) announce(tx, id)
      return recorded
    },
  }
}

/** Returns the part of an account that requests carry. */
export function callerUser(account: Account): CallerUser {
  return { id: account.id, username: account.username, email: account.email, role: account.role }
}

/** The e-mail addresses of an account: the registered one, and a user name that is an address. */
export function addressesOf({ email, username }: Pick<Account, 'email' | 'username'>): string[] {
  return [...new Set([email ?? username, username])].filter((each) => each.includes('@'))
}

/** Returns the account as its owner sees it. */
export function userView(account: Account): User {
  const { suspended_at: _, mfa_enrolled_at, ...view } = account
  return { ...view, mfa_enrolled: mfa_enrolled_at !== null }
}

function addressInUse(): Fault {
  return new Fault('already_exists', 'This e-mail address belongs to another account.')
}
