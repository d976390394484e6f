import type { AllowListEntry, AllowListSource } from '@roost/contracts/identity/allow-list'
import type { Role } from '@roost/contracts/kit/access'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Executor } from '../../ports/database/port.ts'
import { admits } from './rules.ts'
import { allowListStore } from './store.ts'

export type AllowList = {
  list(): Promise<AllowListEntry[]>
  /** Throws `already_exists`. */
  add(wanted: { email: string; default_role: Role; added_by: string }): Promise<AllowListEntry>
  /** `email` in any case. Throws `not_found`. */
  remove(email: string): Promise<void>
  /**
   * Lets an address sign in with the least role, in the caller's own transaction. False when it may already;
   * then nothing changes. `addedBy` is a user name, null when nobody was signed in.
   */
  allowAddress(
    on: Executor,
    email: string,
    addedBy: string | null,
    source: Exclude<AllowListSource, 'manual'>,
  ): Promise<boolean>
  /** The entry of the address; null when it is not on the list. Never from memory. */
  find(on: Executor, email: string): Promise<AllowListEntry | null>
  /**
   * The entry under which the owner of the address may sign in as `holder`, the account that it signs in as by
   * now; null when he may not. Never from memory.
   */
  admit(on: Executor, email: string, holder: { username: string } | null): Promise<AllowListEntry | null>
}

export function createAllowList({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }): AllowList {
  const entry = (wanted: Omit<AllowListEntry, 'id' | 'added_at'>): AllowListEntry => ({
    ...wanted,
    email: lowered(wanted.email),
    id: newId(),
    added_at: timestamp(clock.now()),
  })
  return {
    list: () => allowListStore(db).list(),

    async add(wanted) {
      const row = entry({ ...wanted, source: 'manual' })
      if (await allowListStore(db).insert(row)) return row
      throw new Fault('already_exists', 'This e-mail address may sign in already.')
    },

    async remove(email) {
      if (await allowListStore(db).remove(lowered(email))) return
      throw new Fault('not_found', 'This e-mail address is not on the list.')
    },

    allowAddress: (on, email, addedBy, source) =>
      allowListStore(on).insert(entry({ email, default_role: 'user', source, added_by: addedBy })),

    find: (on, email) => allowListStore(on).byEmail(lowered(email)),

    async admit(on, email, holder) {
      const found = await allowListStore(on).byEmail(email)
      return admits(found, email, holder) ? found : null
    },
  }
}

function lowered(email: string): string {
  return email.trim().toLowerCase()
}
