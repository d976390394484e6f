/**
 * Reports whether the encryption key and the installation's id are those of the database, changes nothing, then exits.
 * Exit codes: 0 they are, or there is nothing to compare yet; 78 they are not, or the configuration is invalid; 1 any
 * other error.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { redactText } from '@roost/contracts/kit/redact'
import { ConfigError, parseConfig } from '../config.ts'
import { ForeignProcess, refuseForeign } from '../foundation/installation/index.ts'
import { KeyFileError } from '../foundation/vault/index.ts'
import { openDatabase } from '../ports/database/open.ts'
import { createLog } from '../ports/log.ts'
import { exitConfig, fail, sendMessage } from './supervision.ts'

try {
  await check()
} catch (error) {
  const isFinal = [ConfigError, ForeignProcess, KeyFileError].some((type) => error instanceof type)
  fail(redactText(error instanceof Error ? error.message : String(error)), isFinal ? exitConfig : 1)
}
// The channel to the parent process would keep this process alive.
if (process.send) process.disconnect()

async function check(): Promise<void> {
  const config = parseConfig(process.env)
  const url = config.databaseUrl.reveal()
  // Opening it would create the file.
  if (url.startsWith('sqlite:') && !existsSync(url.slice('sqlite:'.length)))
    return sendMessage({ type: 'progress', text: 'there is no database yet' })
  const db = await openDatabase(url, createLog({ level: 'error' }))
  try {
    const id = await readFile(join(config.dataDir, 'install-id'), 'utf8').catch(() => null)
    const isCompared = await refuseForeign(db, config, id?.trim() ?? null)
    const text = isCompared
      ? 'the encryption key and the id are those of the database'
      : 'the database has not recorded its installation yet'
    sendMessage({ type: 'progress', text })
  } finally {
    await db.close()
  }
}
