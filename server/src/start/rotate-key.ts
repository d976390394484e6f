/**
 * Replaces the encryption key of a stopped installation, then exits: `rotate-key.ts [leaked] [keep-unreadable]`.
 * `ROOST_NEW_ENCRYPTION_KEY` is the new key, required when `ROOST_ENCRYPTION_KEY` is set. Exit codes: 0 done, 78 invalid
 * configuration or another version's database, 1 any other error.
 */
import { redactText } from '@roost/contracts/kit/redact'
import { ConfigError, parseConfig } from '../config.ts'
import { createAudit } from '../foundation/audit/index.ts'
import { KeyFileError } from '../foundation/vault/index.ts'
import { systemClock as clock } from '../kit/clock.ts'
import { secret } from '../kit/secret.ts'
import { migrations } from '../migrations/index.ts'
import { connectionName, RotationError, rotateKey, sealedColumns } from '../operations/key-rotation/index.ts'
import { migrationState } from '../ports/database/migrator.ts'
import { openDatabase } from '../ports/database/open.ts'
import { type Db, SchemaError } from '../ports/database/port.ts'
import { createLog, type Log } from '../ports/log.ts'
import { exitConfig, fail, sendMessage } from './supervision.ts'

const flags = process.argv.slice(2)
const progress = (text: string) => sendMessage({ type: 'progress', text })

try {
  await run()
} catch (error) {
  const isFinal = [ConfigError, SchemaError, KeyFileError].some((type) => error instanceof type)
  fail(redactText(error instanceof Error ? error.message : String(error)), isFinal ? exitConfig : 1)
}
// The channel to the parent process would keep this process alive.
if (process.send) process.disconnect()

async function run(): Promise<void> {
  const config = parseConfig(process.env)
  const log = createLog({ level: 'error' })
  const db = await openDatabase(named(config.databaseUrl.reveal()), log)
  try {
    const state = await migrationState(db, migrations)
    if (state.first_pending !== null)
      throw new RotationError(
        'The database has the schema of another version: start this version once first.',
      )
    const given = process.env.ROOST_NEW_ENCRYPTION_KEY?.trim()
    const { result, values, unreadable } = await rotateKey({
      ...{ db, clock, source: config, columns: sealedColumns },
      newKey: given ? secret(given) : null,
      mayTurnsContinue: !flags.includes('leaked'),
      mayKeepUnreadable: flags.includes('keep-unreadable'),
      progress,
    })
    await record(db, log, result)
    if (result === 'completed')
      return progress('An interrupted rotation was completed: the key file has the new key now.')
    for (const each of unreadable) progress(`Left unchanged, because it does not open: ${each}`)
    progress(`${values} values were sealed with the new key and read back.`)
    if (config.encryptionKey)
      progress('Now set ROOST_ENCRYPTION_KEY to the value of ROOST_NEW_ENCRYPTION_KEY on every machine.')
  } finally {
    await db.close()
  }
}

/** Tells the connections of this program from those of a platform. */
function named(url: string): string {
  if (url.startsWith('sqlite:')) return url
  const address = new URL(url)
  address.searchParams.set('application_name', connectionName)
  return address.href
}

async function record(db: Db, log: Log, result: string): Promise<void> {
  const audit = createAudit({ db, clock, log })
  audit.record({
    event_type: 'configuration',
    event_action: 'rotate_encryption_key',
    actor_type: 'system',
    target_type: 'encryption_key',
    target_id: result,
    source: 'system',
  })
  await audit.close()
}
