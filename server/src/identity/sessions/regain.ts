import { randomInt } from 'node:crypto'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { removeFactor } from '../second-factor/index.ts'
import { firstAdminName, type Users } from '../users/index.ts'
import { createPasswords } from './passwords.ts'
import { sessionStore } from './store.ts'

export type Regained = { userId: string; username: string; password: string }

/** Without characters that look alike, because people read the password from a screen. */
const alphabet = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
/** 24 of 56 characters: 139 bits. */
const passwordLength = 24

/**
 * Recovery for the operator of the machine. Gives the first admin a new password and the role admin. Lifts a
 * suspension, removes the second factor and ends all sessions. Other processes follow within ten seconds. Returns
 * null if the platform is not set up.
 */
export async function regainAdmin(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  users: Pick<Users, 'restoreFirstAdmin' | 'setEnrolled'>
  /** Runs in the transaction that ends all sessions of the account. */
  onEnded(tx: Tx, userId: string): Promise<void>
}): Promise<Regained | null> {
  const password = Array.from({ length: passwordLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const passwordHash = await createPasswords().hash(password)
  return deps.db.atomically(async (tx) => {
    const userId = await deps.users.restoreFirstAdmin(tx, passwordHash)
    if (userId === null) return null
    await removeFactor(tx, deps.users, userId)
    await sessionStore(tx).revokeAll(userId, timestamp(deps.clock.now()))
    await deps.onEnded(tx, userId)
    return { userId, username: firstAdminName, password }
  })
}
