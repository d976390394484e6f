/**
 * Returns to the data from before the last upgrade, then exits: `rollback.ts plan [BACKUP]` prints what would happen as
 * JSON, `rollback.ts data [BACKUP]` does it. Exit codes: 0 done, 78 invalid configuration, 1 any other error.
 */
import { redactText } from '@roost/contracts/kit/redact'
import { type Config, ConfigError, parseConfig } from '../config.ts'
import { type Clock, systemClock } from '../kit/clock.ts'
import { planRollback, type RollbackPlan, rollBackData, UpgradeError } from '../operations/upgrades/index.ts'
import { openDatabase } from '../ports/database/open.ts'
import type { Db } from '../ports/database/port.ts'
import { createLog } from '../ports/log.ts'
import { exitConfig, fail, sendMessage } from './supervision.ts'
import { copiesOf, lockUpgrade, readCode } from './upgrade-database.ts'

/** Longer than any lease of a platform that was killed. */
const waitMs = 90_000
const pauseMs = 1_000
const [what, name = ''] = process.argv.slice(2)

try {
  await run(parseConfig(process.env))
} catch (error) {
  const reason = redactText(error instanceof Error ? error.message : String(error))
  fail(reason, error instanceof ConfigError ? exitConfig : 1)
}
// The channel to the parent process would keep this process alive.
if (process.send) process.disconnect()

async function run(config: Config): Promise<void> {
  const progress = (text: string) => sendMessage({ type: 'progress', text })
  const source = { key: config, copies: copiesOf(config) }
  const plan = await planRollback(source, await readCode(), name || null)
  if (what === 'plan') {
    process.stdout.write(`${JSON.stringify(plan)}\n`)
    return
  }
  await using _lock = plan.backup === null ? null : await keepOthersOut(config, plan, progress)
  const aside = await rollBackData({ ...source, plan, now: systemClock.now(), progress })
  if (aside) progress(`the replaced data: ${aside}`)
}

/** Starts wait until this ends, and find the journal then. Throws `UpgradeError` for a platform that runs. */
async function keepOthersOut(
  config: Config,
  { is_resumed }: RollbackPlan,
  progress: (text: string) => void,
): Promise<AsyncDisposable> {
  await using open = new AsyncDisposableStack()
  const db = await openDatabase(config.databaseUrl.reveal(), createLog({ level: config.logLevel }))
  open.defer(() => db.close())
  // An upgrade that still runs ends first.
  const lock = open.use(await lockUpgrade(config, db, { clock: systemClock, progress }))
  if (!is_resumed) await untilUnused(db, systemClock, progress)
  if (db.dialect === 'postgres') return open.move()
  // The file is replaced, so it must not be open here. Its lock is another file.
  await db.close()
  open.move()
  return lock
}

/** Leases of a killed platform expire; a running one renews them. Throws `UpgradeError`. */
async function untilUnused(db: Db, clock: Clock, progress: (text: string) => void): Promise<void> {
  const giveUpAt = performance.now() + waitMs
  const first = await newestLease(db, clock.now())
  for (let last = first; last !== null; last = await newestLease(db, clock.now())) {
    if (first === null || last > first || performance.now() > giveUpAt)
      throw new UpgradeError('A platform uses this database. Stop it first.')
    if (last === first) progress('waiting until the leases of the stopped platform expire')
    await clock.wait(pauseMs)
  }
}

/** When the last lease expires; null without one. */
async function newestLease(db: Db, now: Date): Promise<string | null> {
  const row = await db
    .withTables<{ leases: { expires_at: string } }>()
    .selectFrom('leases')
    .select('expires_at')
    .where('expires_at', '>', now.toISOString())
    .orderBy('expires_at', 'desc')
    .executeTakeFirst()
  return row?.expires_at ?? null
}
