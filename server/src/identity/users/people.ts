import type { ManagedUser } from '@roost/contracts/identity/people'
import type { Role } from '@roost/contracts/kit/access'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { IdentityChanges, SignedIn } from '../access/index.ts'
import { userView } from './service.ts'
import { type Account, userStore } from './store.ts'

/**
 * Administration of other people's accounts. All methods throw `not_found`, and `own_role` for the caller's own
 * account. They throw `conflict` for a change that would leave no admin.
 */
export type People = {
  list(): Promise<ManagedUser[]>
  setRole(caller: SignedIn, username: string, role: Role): Promise<ManagedUser>
  suspend(caller: SignedIn, username: string): Promise<ManagedUser>
  unsuspend(caller: SignedIn, username: string): Promise<ManagedUser>
}

/** Runs in the transaction of a suspension; ends what the person obtained by signing in. */
export type OnSuspended = (tx: Tx, account: Account) => Promise<void>

export function createPeople(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  changes: IdentityChanges
  onSuspended: OnSuspended
}): People {
  const { db, clock, changes, onSuspended } = deps

  type Users = ReturnType<typeof userStore>
  /** Changes another person's account and announces the change to caches. */
  const change = (
    caller: SignedIn,
    username: string,
    act: (users: Users, account: Account, tx: Tx) => Promise<void>,
  ): Promise<ManagedUser> =>
    db.atomically(async (tx: Tx) => {
      const users = userStore(tx)
      const account = await users.byUsername(username.trim().toLowerCase())
      if (!account) throw new Fault('not_found', 'There is no such user.')
      if (account.id === caller.user.id) throw new Fault('own_role')
      await act(users, account, tx)
      tx.onCommitted(() => changes.announce({ user_id: account.id }))
      return managedView((await users.byId(account.id)) ?? account)
    })

  return {
    list: async () => (await userStore(db).list()).map(managedView),

    setRole: (caller, username, role) =>
      change(caller, username, async (users, { id }) => {
        await users.lockAdmins()
        if (!(await users.setRole(id, role))) throw lastAdmin()
      }),

    suspend: (caller, username) =>
      change(caller, username, async (users, account, tx) => {
        const { id } = account
        await users.lockAdmins()
        // After the suspension, so that a concurrent sign-in is either revoked here or fails.
        if (await users.suspend(id, timestamp(clock.now()))) return onSuspended(tx, account)
        // Suspended already: not an error.
        if ((await users.byId(id))?.suspended_at === null) throw lastAdmin()
      }),

    unsuspend: (caller, username) =>
      change(caller, username, async (users, account, tx) => {
        // Again, for accounts that an older version suspended without ending their sessions.
        if (account.suspended_at !== null) await onSuspended(tx, account)
        await users.unsuspend(account.id)
      }),
  }
}

function managedView(account: Account): ManagedUser {
  return { ...userView(account), suspended_at: account.suspended_at }
}

function lastAdmin(): Fault {
  return new Fault('conflict', 'This is the last admin who can sign in. Make another user admin first.')
}
