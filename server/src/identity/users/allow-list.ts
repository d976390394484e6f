import type { AllowListEntry, AllowListSource } from '@roost/contracts/identity/allow-list'
import type { Role } from '@roost/contracts/kit/access'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Executor } from '../../ports/database/port.ts'
import { allowListStore } from './allow-list-store.ts'
import { admits } from './rules.ts'

export type AllowList = {
  list(): Promise<AllowListEntry[]>
  /** Throws `already_exists`. */
  add(request: { email: string; default_role: Role; added_by: string }): Promise<AllowListEntry>
  /** `email` is case-insensitive. Throws `not_found`. */
  remove(email: string): Promise<void>
  /**
   * Lists an address with the lowest role, in the caller's transaction. False if it is listed already; then
   * nothing changes. `addedBy` is a user name, null without a signed-in user.
   */
  allowAddress(
    on: Executor,
    email: string,
    addedBy: string | null,
    source: Exclude<AllowListSource, 'manual'>,
  ): Promise<boolean>
  /** Returns the entry of the address, or null. Never cached. */
  find(on: Executor, email: string): Promise<AllowListEntry | null>
  /** Returns the entry that lets the owner of the address sign in as `holder`, or null. Never cached. */
  admit(on: Executor, email: string, holder: { username: string } | null): Promise<AllowListEntry | null>
}

export function createAllowList({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }): AllowList {
  const newEntry = (request: Omit<AllowListEntry, 'id' | 'added_at'>): AllowListEntry => ({
    ...request,
    email: normalized(request.email),
    id: newId(),
    added_at: timestamp(clock.now()),
  })
  return {
    list: () => allowListStore(db).list(),

    async add(request) {
      const row = newEntry({ ...request, source: 'manual' })
      if (await allowListStore(db).insert(row)) return row
      throw new Fault('already_exists', 'This e-mail address may already sign in.')
    },

    async remove(email) {
      if (await allowListStore(db).remove(normalized(email))) return
      throw new Fault('not_found', 'This e-mail address is not on the list.')
    },

    allowAddress: (on, email, addedBy, source) =>
      allowListStore(on).insert(newEntry({ email, default_role: 'user', source, added_by: addedBy })),

    find: (on, email) => allowListStore(on).byEmail(normalized(email)),

    async admit(on, email, holder) {
      const entry = await allowListStore(on).byEmail(email)
      return admits(entry, email, holder) ? entry : null
    },
  }
}

function normalized(email: string): string {
  return email.trim().toLowerCase()
}
