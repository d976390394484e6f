/**
 * Backs up the database if it lacks migrations, applies them, then exits. Exit codes: 0 done, 78 invalid configuration
 * or a database of a later version, 1 any other error.
 */
import { redactText } from '@roost/contracts/kit/redact'
import { ConfigError, parseConfig } from '../config.ts'
import { ForeignProcess } from '../foundation/installation/index.ts'
import { KeyFileError, settleRotation } from '../foundation/vault/index.ts'
import { systemClock } from '../kit/clock.ts'
import { UpgradeError } from '../operations/upgrades/index.ts'
import { openDatabase } from '../ports/database/open.ts'
import type { Db } from '../ports/database/port.ts'
import { SchemaError } from '../ports/database/port.ts'
import { createLog } from '../ports/log.ts'
import { exitConfig, fail, sendMessage } from './supervision.ts'
import { upgradeDatabase } from './upgrade-database.ts'

/** Time for a database server that starts together with the platform. */
const startTimeoutMs = 30_000
const pauseMs = 500

try {
  await run()
} catch (error) {
  const isFinal = [ConfigError, ForeignProcess, KeyFileError, SchemaError, UpgradeError].some(
    (type) => error instanceof type,
  )
  fail(reasonOf(error), isFinal ? exitConfig : 1)
}
// The channel to the supervisor would keep this process alive.
if (process.send) process.disconnect()

async function run(): Promise<void> {
  const config = parseConfig(process.env)
  const log = createLog({ level: config.logLevel })
  const db = await openDatabase(config.databaseUrl.reveal(), log)
  try {
    await untilAvailable(db)
    const progress = (text: string) => sendMessage({ type: 'progress', text })
    const applied = await upgradeDatabase(config, db, { clock: systemClock, progress })
    if (await settleRotation(db, config)) progress('an interrupted rotation of the key was completed')
    progress(applied.length === 0 ? 'the schema is complete' : `${applied.length} migrations applied`)
  } finally {
    await db.close()
  }
}

async function untilAvailable(db: Db): Promise<void> {
  const giveUpAt = performance.now() + startTimeoutMs
  for (let isReported = false; ; isReported = true) {
    try {
      return await db.ping()
    } catch (error) {
      if (performance.now() > giveUpAt) throw error
      if (!isReported) sendMessage({ type: 'progress', text: 'waiting for the database' })
      await systemClock.wait(pauseMs)
    }
  }
}

function reasonOf(error: unknown): string {
  return redactText(error instanceof Error ? error.message : String(error))
}
