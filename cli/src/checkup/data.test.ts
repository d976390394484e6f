import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkData } from './data.ts'

test('a missing key fails once the platform has started, but not after an interrupted first start', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-doctor-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const key = async () =>
    (await checkData({ ROOST_DATA_DIR: dataDir })).find(({ about }) => about === 'encryption key')
  await writeFile(join(dataDir, 'roost.db'), '')
  assert.deepEqual(await key(), {
    state: 'ok',
    about: 'encryption key',
    message: 'will be created at the first start',
  })
  await writeFile(join(dataDir, 'install-id'), 'x')
  const missing = await key()
  assert.equal(missing?.state, 'fail')
  assert.match(missing?.message ?? '', /is missing/)
  await writeFile(join(dataDir, 'encryption.key'), 'ab', { mode: 0o600 })
  assert.equal((await key())?.state, 'ok')
})
