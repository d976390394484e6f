import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { ForeignProcess, joinInstallation, recordKey, refuseForeign } from './index.ts'

forEachDialect((_dialect, open) => {
  test('processes with the key and the id of the first one join, also concurrently', async () => {
    await using world = await openWorld(open)
    await Promise.all(Array.from({ length: 5 }, () => world.join()))
    await world.join()
    assert.equal(await refuseForeign(world.db, world.source, 'own'), true)
  })

  test('another key or another id is refused, and the message says what to copy', async () => {
    await using world = await openWorld(open)
    await world.join()
    await assert.rejects(world.join({ installId: 'other' }), (error) => {
      assert.ok(error instanceof ForeignProcess)
      assert.match(error.message, /install-id is other, but the database belongs to the installation own\./)
      assert.match(error.message, /Copy encryption\.key and install-id from the data folder of a machine/)
      return true
    })
    world.writeKey('ab')
    await assert.rejects(
      world.join(),
      /encryption\.key is not the key of this database\. Copy encryption\.key/,
    )
    await assert.rejects(refuseForeign(world.db, world.source), ForeignProcess)
    world.writeKey('cd')
    await world.join()
  })

  test('a first process whose key opens none of the stored secrets is refused and not recorded', async () => {
    await using world = await openWorld(open)
    assert.equal(await refuseForeign(world.db, world.source), false)
    await assert.rejects(world.join({ opensSecrets: async () => false }), /not the key of this database/)
    await world.join({ opensSecrets: async () => true })
  })

  test('after a rotation only the new key joins', async () => {
    await using world = await openWorld(open)
    await world.join()
    await world.db.atomically((tx) => recordKey(tx, 'the id of another key'))
    await assert.rejects(world.join(), ForeignProcess)
  })
})

async function openWorld(open: OpenTestDb) {
  const db = await open()
  const dataDir = mkdtempSync(join(tmpdir(), 'roost-installation-'))
  const source = { encryptionKey: null, dataDir }
  const writeKey = (byte: string) =>
    writeFileSync(join(dataDir, 'encryption.key'), byte.repeat(32), { mode: 0o600 })
  writeKey('cd')
  return {
    db,
    source,
    writeKey,
    join: (over: Partial<Parameters<typeof joinInstallation>[0]> = {}) =>
      joinInstallation({
        ...{ db, clock: createTestClock(), source, installId: 'own', opensSecrets: async () => true },
        ...over,
      }),
    async [Symbol.asyncDispose]() {
      await db.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
