import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { KeyFileError } from '../foundation/vault/index.ts'
import { secret } from '../kit/secret.ts'
import { ensureKey, InstallIdError, installId } from './first-start.ts'

test('concurrently starting processes share one id, which does not change', async (t) => {
  const dataDir = await folder(t)
  const ids = await Promise.all(Array.from({ length: 10 }, () => installId(dataDir)))
  assert.equal(new Set(ids).size, 1)
  assert.match(ids[0] ?? '', /^[\w-]{10,}$/)
  assert.equal(await installId(dataDir), ids[0])
  assert.deepEqual(await readdir(dataDir), ['install-id'])
})

test('an empty id file, left by a full disk, is replaced', async (t) => {
  const dataDir = await folder(t)
  await writeFile(join(dataDir, 'install-id'), '')
  const id = await installId(dataDir)
  assert.match(id, /^[\w-]{10,}$/)
  assert.equal(await readFile(join(dataDir, 'install-id'), 'utf8'), id)
})

test('the id of the engine filter is taken at the first start, and another one is refused', async (t) => {
  const dataDir = await folder(t)
  const given = join(await folder(t), 'install-id')
  await assert.rejects(installId(dataDir, given), InstallIdError)
  assert.deepEqual(await readdir(dataDir), [])
  await writeFile(given, 'id-of-the-filter')
  assert.equal(await installId(dataDir, given), 'id-of-the-filter')
  assert.equal(await installId(dataDir, given), 'id-of-the-filter')
  await writeFile(given, 'id-of-another')
  const message =
    /id-of-the-filter, and the engine filter to id-of-another.*ROOST_INSTALL_ID=id-of-the-filter/
  await assert.rejects(installId(dataDir, given), message)
  assert.equal(await readFile(join(dataDir, 'install-id'), 'utf8'), 'id-of-the-filter')
})

test('a key is created at the first start; a lost key is not replaced', async (t) => {
  const dataDir = await folder(t)
  const source = { encryptionKey: null, dataDir }
  ensureKey(source)
  // If the process is killed here, the next start still counts as the first one.
  ensureKey(source)
  await installId(dataDir)
  ensureKey(source)
  const path = join(dataDir, 'encryption.key')
  await rm(path)
  assert.throws(
    () => ensureKey(source),
    (error) => error instanceof KeyFileError && /encryption\.key is gone.*backup/.test(error.message),
  )
  assert.ok(!(await readdir(dataDir)).includes('encryption.key'))
  ensureKey({ encryptionKey: secret('ab'.repeat(32)), dataDir })
})

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'roost-first-start-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}
