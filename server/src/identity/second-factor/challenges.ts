import { hash } from 'node:crypto'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newSecretText } from '../../kit/ids.ts'
import { isSameSecret } from '../../kit/same-secret.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Account, Proof, Users } from '../users/index.ts'
import { type ChallengeRow, challengeStore } from './store.ts'

const lifetimeSeconds = 300
const maxTries = 5

/** An account after the first step of a sign-in, with the proof of that step. */
export type Challenged = { tokenHash: string; account: Account; proof: Proof }

export type Challenges = ReturnType<typeof createChallenges>

export function createChallenges(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  users: Pick<Users, 'find' | 'passwordHashOf'>
}) {
  const { db, clock, users } = deps

  const proofOf = async (row: ChallengeRow): Promise<Proof | null> => {
    if (row.mode === 'email') return { mode: 'email' }
    const passwordHash = await users.passwordHashOf(row.user_id)
    if (passwordHash === null || row.password_digest === null) return null
    return isSameSecret(digestOf(passwordHash), row.password_digest) ? { mode: 'admin', passwordHash } : null
  }

  return {
    async mint(account: Account, proof: Proof): Promise<string> {
      const token = newSecretText()
      await challengeStore(db).insert({
        token_hash: digestOf(token),
        user_id: account.id,
        mode: proof.mode,
        password_digest: proof.mode === 'admin' ? digestOf(proof.passwordHash) : null,
        tries: 0,
        expires_at: timestamp(secondsLater(clock.now(), lifetimeSeconds)),
      })
      return token
    },

    /** Throws `challenge_expired`, `account_suspended`. */
    async open(token: string): Promise<Challenged> {
      const tokenHash = digestOf(token)
      const row = await challengeStore(db).live(tokenHash, timestamp(clock.now()))
      if (!row) throw new Fault('challenge_expired')
      const account = await users.find(row.user_id)
      const proof = await proofOf(row)
      if (!account || !proof) throw new Fault('challenge_expired')
      if (account.suspended_at !== null) throw new Fault('account_suspended')
      return { tokenHash, account, proof }
    },

    /** Call before the code is checked, so that concurrent guesses cannot exceed the limit. */
    async countTry({ tokenHash }: Challenged): Promise<void> {
      if (await challengeStore(db).countTry(tokenHash, maxTries)) return
      throw new Fault('too_many_attempts', 'Too many wrong codes. Start the sign-in again.')
    },

    /** A challenge opens one session. Throws `challenge_expired` if another call was first. */
    async end(tx: Tx, { tokenHash }: Challenged): Promise<void> {
      if (!(await challengeStore(tx).end(tokenHash))) throw new Fault('challenge_expired')
    },

    endAll: (tx: Tx, userId: string) => challengeStore(tx).endAll(userId),

    deleteExpired: () => challengeStore(db).deleteExpired(timestamp(clock.now())),
  }
}

/** Tokens and password hashes have high entropy, so one round is as safe as a slow hash. */
function digestOf(text: string): string {
  return hash('sha256', text, 'hex')
}
