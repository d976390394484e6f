import { randomInt } from 'node:crypto'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { removeFactor } from '../second-factor/index.ts'
import { firstAdminName, type Users } from '../users/index.ts'
import { createPasswords } from './passwords.ts'
import { sessionStore } from './store.ts'

export type Regained = { userId: string; username: string; password: string }

/** Without what people mistake for each other: it is read off a screen. */
const letters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
/** 24 of 56 letters: 139 bits. */
const passwordLetters = 24

/**
 * The way back for whoever runs the machine: the account of the first admin gets a new password, is admin and
 * not suspended, has no second factor, and its sessions end. Other processes see it within ten seconds. Null:
 * the platform has not been set up.
 */
export async function regainAdmin(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  users: Pick<Users, 'restoreFirstAdmin' | 'setEnrolled'>
}): Promise<Regained | null> {
  const password = Array.from({ length: passwordLetters }, () => letters[randomInt(letters.length)]).join('')
  const passwordHash = await createPasswords().hash(password)
  return deps.db.atomically(async (tx) => {
    const userId = await deps.users.restoreFirstAdmin(tx, passwordHash)
    if (userId === null) return null
    await removeFactor(tx, deps.users, userId)
    await sessionStore(tx).revokeAll(userId, timestamp(deps.clock.now()))
    return { userId, username: firstAdminName, password }
  })
}
