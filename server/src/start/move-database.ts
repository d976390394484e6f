/**
 * Moves all rows of the installation's database into an empty one, then exits. `ROOST_DATABASE_MOVE_TO` is the URL of
 * the target. Exit codes: 0 done, 78 invalid configuration or another version's database, 1 any other error.
 */
import { redactText } from '@roost/contracts/kit/redact'
import { ConfigError, parseConfig } from '../config.ts'
import { systemClock } from '../kit/clock.ts'
import { migrations } from '../migrations/index.ts'
import { moveDatabase } from '../ports/database/move.ts'
import { openDatabase } from '../ports/database/open.ts'
import { SchemaError } from '../ports/database/port.ts'
import { createLog } from '../ports/log.ts'
import { exitConfig, fail, sendMessage } from './supervision.ts'

const progress = (text: string) => sendMessage({ type: 'progress', text })

try {
  await run()
} catch (error) {
  const isFinal = error instanceof ConfigError || error instanceof SchemaError
  fail(redactText(error instanceof Error ? error.message : String(error)), isFinal ? exitConfig : 1)
}
// The channel to the parent process would keep this process alive.
if (process.send) process.disconnect()

async function run(): Promise<void> {
  const config = parseConfig(process.env)
  const target = process.env.ROOST_DATABASE_MOVE_TO ?? ''
  if (!/^(sqlite:|postgres(ql)?:\/\/)/.test(target))
    throw new ConfigError([
      { name: 'ROOST_DATABASE_MOVE_TO', message: 'must start with sqlite: or postgres:' },
    ])
  const log = createLog({ level: 'error' })
  const from = await openDatabase(config.databaseUrl.reveal(), log)
  try {
    const to = await openDatabase(target, log)
    try {
      const { tables, rows } = await moveDatabase({ from, to, migrations, now: systemClock.now, progress })
      progress(`${tables} tables with ${rows} rows were moved and compared.`)
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}
