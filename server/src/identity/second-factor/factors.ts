import type { SealedColumn, Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Account, Users } from '../users/index.ts'
import { newRecoveryCodes } from './recovery-codes.ts'
import { readCode } from './rules.ts'
import { factorStore } from './store.ts'
import { type Enrolment, enrolmentOf, newTotpSecret, stepOf } from './totp.ts'

export type Factors = ReturnType<typeof createFactors>

const contextOf = (userId: string) => `second-factor:${userId}`

/** The secrets and codes of second factors. Callers check who may change them. */
export function createFactors(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Vault
  users: Pick<Users, 'setEnrolled'>
}) {
  const { db, clock, vault, users } = deps
  const hashOf = (userId: string, code: string) => vault.mac(`${userId}\0${code}`, 'recovery-code')
  /** The first is that of a new code; codes from before a rotation of the key have one of the others. */
  const hashesOf = (userId: string, code: string) => [
    hashOf(userId, code),
    ...vault.earlierMacs(`${userId}\0${code}`, 'recovery-code'),
  ]
  const now = () => timestamp(clock.now())

  /** Returns the codes, which are shown only once. */
  const renewRecoveryCodes = async (tx: Tx, userId: string): Promise<string[]> => {
    const codes = newRecoveryCodes()
    await factorStore(tx).replaceRecoveryCodes(
      userId,
      codes.map((code) => hashOf(userId, code)),
    )
    return codes
  }

  return {
    renewRecoveryCodes,
    recoveryCodesLeft: (userId: string) => factorStore(db).recoveryCodesLeft(userId),

    /** Throws `conflict` if the account has a factor: a password alone must not replace it. */
    async start({ id, username }: Account): Promise<Enrolment> {
      const secret = newTotpSecret()
      const isStarted = await factorStore(db).start(id, vault.seal(secret, contextOf(id)), now())
      if (!isStarted) throw new Fault('conflict', 'This account already has a second factor.')
      return enrolmentOf(secret, username)
    },

    /** Returns the recovery codes. Throws `invalid_code`, and `conflict` without a factor to confirm. */
    async confirm(tx: Tx, { id }: Account, code: string): Promise<string[]> {
      const row = await factorStore(tx).byUser(id)
      if (!row) throw new Fault('conflict', 'Start the setup of the second factor first.')
      if (row.confirmed_at !== null) throw new Fault('conflict', 'This account already has a second factor.')
      const presented = readCode(code)
      const secret = vault.open(row.sealed_secret, contextOf(id))
      const step = presented?.kind === 'totp' ? stepOf(secret, presented.text, clock.now()) : null
      if (step === null) throw new Fault('invalid_code')
      if (!(await factorStore(tx).confirm(row, step, now())))
        throw new Fault('conflict', 'The second factor was set up again in the meantime.')
      await users.setEnrolled(tx, id, now())
      return renewRecoveryCodes(tx, id)
    },

    /** Consumes the code. False if it is wrong or used. */
    async accept(tx: Tx, userId: string, code: string): Promise<boolean> {
      const presented = readCode(code)
      if (presented?.kind === 'recovery') {
        return factorStore(tx).useRecoveryCode(userId, hashesOf(userId, presented.text))
      }
      const row = await factorStore(tx).byUser(userId)
      if (!presented || !row || row.confirmed_at === null) return false
      const step = stepOf(vault.open(row.sealed_secret, contextOf(userId)), presented.text, clock.now())
      return step !== null && factorStore(tx).useStep(userId, step)
    },

    remove: (tx: Tx, userId: string) => removeFactor(tx, users, userId),
  }
}

export async function removeFactor(tx: Tx, users: Pick<Users, 'setEnrolled'>, userId: string): Promise<void> {
  await factorStore(tx).remove(userId)
  await users.setEnrolled(tx, userId, null)
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'second_factors',
    column: 'sealed_secret',
    key: ['user_id'],
    context: ({ user_id = '' }) => contextOf(user_id),
  },
]
