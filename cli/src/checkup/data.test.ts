import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkData } from './data.ts'

test('a key is missed where the platform has started before, and not where the first start was cut off', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-doctor-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const key = async () =>
    (await checkData({ ROOST_DATA_DIR: dataDir })).find(({ about }) => about === 'encryption key')
  await writeFile(join(dataDir, 'roost.db'), '')
  assert.deepEqual(await key(), {
    state: 'ok',
    about: 'encryption key',
    words: 'will be made at the first start',
  })
  await writeFile(join(dataDir, 'install-id'), 'x')
  const gone = await key()
  assert.equal(gone?.state, 'fail')
  assert.match(gone?.words ?? '', /is gone/)
  await writeFile(join(dataDir, 'encryption.key'), 'ab', { mode: 0o600 })
  assert.equal((await key())?.state, 'ok')
})
