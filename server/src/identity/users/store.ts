import type { Role } from '@roost/contracts/kit/access'
import type { ExpressionBuilder } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'

type UserRow = {
  id: string
  /** In lower case, like the address. */
  username: string
  email: string | null
  name: string | null
  picture: string | null
  role: Role
  /** Null: the account has no password. */
  password_hash: string | null
  created_at: string
  last_login_at: string | null
  suspended_at: string | null
  /** The time from which a second factor is required. Its secret is stored elsewhere. */
  mfa_enrolled_at: string | null
}

type UserTables = {
  users: UserRow
  /** User names and e-mail addresses, each held by one account. */
  user_logins: { login: string; user_id: string }
}

/** An account without its password. */
export type Account = Omit<UserRow, 'password_hash'>

const columns = [
  'users.id',
  'users.username',
  'users.email',
  'users.name',
  'users.picture',
  'users.role',
  'users.created_at',
  'users.last_login_at',
  'users.suspended_at',
  'users.mfa_enrolled_at',
] as const

export function userStore(executor: Executor) {
  const db = executor.withTables<UserTables>()
  return {
    async byId(id: string): Promise<Account | null> {
      return (await db.selectFrom('users').select(columns).where('id', '=', id).executeTakeFirst()) ?? null
    },

    async byIds(ids: string[]): Promise<Account[]> {
      return ids.length === 0 ? [] : db.selectFrom('users').select(columns).where('id', 'in', ids).execute()
    },

    /** `login`: a user name or registered address, in lower case. */
    async byLogin(login: string): Promise<{ account: Account; passwordHash: string | null } | null> {
      const row = await db
        .selectFrom('user_logins')
        .innerJoin('users', 'users.id', 'user_logins.user_id')
        .select([...columns, 'users.password_hash'])
        .where('user_logins.login', '=', login)
        .executeTakeFirst()
      if (!row) return null
      const { password_hash, ...account } = row
      return { account, passwordHash: password_hash }
    },

    async passwordHashOf(id: string): Promise<string | null> {
      const row = await db.selectFrom('users').select('password_hash').where('id', '=', id).executeTakeFirst()
      return row?.password_hash ?? null
    },

    async hasUsableAdmin(): Promise<boolean> {
      const row = await db.selectFrom('users').select('id').where(isUsableAdmin).limit(1).executeTakeFirst()
      return row !== undefined
    },

    /**
     * Creates the account, or takes over an unusable one of the same name (a half-restored database). Returns
     * null if a concurrent call was first: the unique name decides.
     */
    async insertFirstAdmin(row: UserRow): Promise<string | null> {
      const { id: _, created_at: __, mfa_enrolled_at: ___, ...values } = row
      const created = await db
        .insertInto('users')
        .values(row)
        .onConflict((conflict) =>
          conflict
            .column('username')
            .doUpdateSet(values)
            .where((eb) => eb.not(isUsableAdmin(eb))),
        )
        .returning('id')
        .executeTakeFirst()
      return created?.id ?? null
    },

    async insert(row: UserRow): Promise<void> {
      await db.insertInto('users').values(row).execute()
    },

    /** False if another account holds the name or address. */
    async claimLogin(login: string, userId: string): Promise<boolean> {
      await db
        .insertInto('user_logins')
        .values({ login, user_id: userId })
        .onConflict((conflict) => conflict.column('login').doNothing())
        .execute()
      const holder = await db
        .selectFrom('user_logins')
        .select('user_id')
        .where('login', '=', login)
        .executeTakeFirst()
      return holder?.user_id === userId
    },

    /** Releases all logins of the account except these. */
    async releaseLogins(userId: string, except: string[]): Promise<void> {
      await db
        .deleteFrom('user_logins')
        .where('user_id', '=', userId)
        .where('login', 'not in', except)
        .execute()
    },

    /** Newest first. */
    async list(): Promise<Account[]> {
      return db
        .selectFrom('users')
        .select(columns)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute()
    },

    async byUsername(username: string): Promise<Account | null> {
      const query = db.selectFrom('users').select(columns).where('username', '=', username)
      return (await query.executeTakeFirst()) ?? null
    },

    /**
     * Locks every admin's row until the transaction ends. Of two concurrent demotions the second then sees the result
     * of the first.
     */
    async lockAdmins(): Promise<void> {
      await db
        .updateTable('users')
        .set((eb) => ({ role: eb.ref('role') }))
        .where('role', '=', 'admin')
        .execute()
    },

    /** Locks the account's row until the transaction ends, so that counts of what it has stay valid. */
    async lock(id: string): Promise<void> {
      await db
        .updateTable('users')
        .set((eb) => ({ role: eb.ref('role') }))
        .where('id', '=', id)
        .execute()
    },

    /** False if no other usable admin would remain. */
    async setRole(id: string, role: Role): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('users')
        .set({ role })
        .where('id', '=', id)
        .$if(role !== 'admin', (query) => query.where((eb) => isDispensable(eb, id)))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** False if it is suspended already, or no other usable admin would remain. */
    async suspend(id: string, at: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('users')
        .set({ suspended_at: at })
        .where('id', '=', id)
        .where('suspended_at', 'is', null)
        .where((eb) => isDispensable(eb, id))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async unsuspend(id: string): Promise<void> {
      await db.updateTable('users').set({ suspended_at: null }).where('id', '=', id).execute()
    },

    async setEnrolled(id: string, at: string | null): Promise<void> {
      await db.updateTable('users').set({ mfa_enrolled_at: at }).where('id', '=', id).execute()
    },

    async setEmail(id: string, email: string): Promise<void> {
      await db.updateTable('users').set({ email }).where('id', '=', id).execute()
    },

    /** False if the stored hash is no longer `from`. */
    async replacePasswordHash(id: string, from: string, to: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('users')
        .set({ password_hash: to })
        .where('id', '=', id)
        .where('password_hash', '=', from)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** Returns the id, or null without an account of this name. */
    async restoreAdmin(username: string, passwordHash: string): Promise<string | null> {
      const row = await db
        .updateTable('users')
        .set({ role: 'admin', suspended_at: null, password_hash: passwordHash })
        .where('username', '=', username)
        .returning('id')
        .executeTakeFirst()
      return row?.id ?? null
    },

    /** False if the account is suspended or deleted, or its password hash has changed. */
    async setLastLogin(id: string, at: string, passwordHash: string | null): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('users')
        .set({ last_login_at: at })
        .where('id', '=', id)
        .where('suspended_at', 'is', null)
        .$if(passwordHash !== null, (query) => query.where('password_hash', '=', passwordHash))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
  }
}

/** An admin who can sign in. While one exists, setup is closed. */
function isUsableAdmin(eb: ExpressionBuilder<UserTables, 'users'>) {
  return eb.and([
    eb('users.role', '=', 'admin'),
    eb('users.suspended_at', 'is', null),
    eb.or([eb('users.password_hash', 'is not', null), eb('users.email', 'is not', null)]),
  ])
}

/** True unless the account is the last usable admin. */
function isDispensable(eb: ExpressionBuilder<UserTables, 'users'>, id: string) {
  return eb.or([
    eb('users.role', '!=', 'admin'),
    eb('users.suspended_at', 'is not', null),
    eb.exists(
      eb
        .selectFrom('users as others')
        .select('others.id')
        .where('others.id', '!=', id)
        .where('others.role', '=', 'admin')
        .where('others.suspended_at', 'is', null)
        .where((other) =>
          other.or([other('others.password_hash', 'is not', null), other('others.email', 'is not', null)]),
        ),
    ),
  ])
}
