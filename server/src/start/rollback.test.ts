import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { openVault } from '../foundation/vault/index.ts'
import { migrations } from '../migrations/index.ts'
import { type Code, type UpgradeData, upgradeData } from '../operations/upgrades/index.ts'
import { migrate } from '../ports/database/migrator.ts'
import { openDatabase } from '../ports/database/open.ts'
import { openDatabaseCopies } from '../ports/database-copies/open.ts'
import { silentLog } from '../ports/log.ts'

const program = join(import.meta.dirname, 'rollback.ts')

test('no platform can start while the data of a rollback are replaced', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-rollback-'))
  const path = join(dataDir, 'roost.db')
  try {
    await upgradedData(dataDir, `sqlite:${path}`)
    // A reader makes the replacement wait, which is the moment to look at the lock.
    const reader = new DatabaseSync(path)
    reader.exec('begin; select count(*) from settings')
    let isOver = false
    const first = run(dataDir).finally(() => {
      isOver = true
    })
    const lock = new DatabaseSync(join(dataDir, 'upgrade.lock'), { timeout: 0 })
    const isFree = () => {
      try {
        lock.exec('begin exclusive; rollback')
        return true
      } catch {
        return false
      }
    }
    // The draft exists only while the data are replaced.
    const isReplacing = () => existsSync(`${path}.replacement`)
    let wasFree = false
    for (; !isOver; await turn()) if (isReplacing() && isFree() && isReplacing()) wasFree = true
    assert.match((await first).text, /is in use/)
    assert.equal(wasFree, false)
    reader.close()
    assert.equal((await run(dataDir)).code, 0)
    assert.ok(isFree())
    lock.close()
  } finally {
    await rm(dataDir, { recursive: true })
  }
})

/** A data folder whose last upgrade can be rolled back. */
async function upgradedData(dataDir: string, url: string): Promise<void> {
  const code: Code = { version: '1.0.0', commit: null, root: null }
  const key = { encryptionKey: null, dataDir }
  openVault(key)
  const db = await openDatabase(url, silentLog)
  await migrate(db, migrations, { now: () => new Date() })
  await db.close()
  const options: UpgradeData = {
    ...{ key, code, copies: openDatabaseCopies(url, { path: '' }), hasBackup: true, packaging: 'checkout' },
    now: () => new Date(),
    state: async () => ({ applied: 10, expected: 10, first_pending: null }),
    migrate: async () => [],
    progress: () => {},
  }
  await upgradeData(options)
  const state = async () => ({ applied: 10, expected: 11, first_pending: '9999-later' })
  await upgradeData({ ...options, state, code: { ...code, version: '2.0.0' } })
}

function run(dataDir: string): Promise<{ code: number; text: string }> {
  const env = { PATH: process.env.PATH, ROOST_DATA_DIR: dataDir }
  return new Promise((resolve) => {
    execFile(process.execPath, [program, 'data'], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, text: out + err }),
    )
  })
}
