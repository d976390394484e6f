import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { KeyFileError } from '../foundation/vault/index.ts'
import { secret } from '../kit/secret.ts'
import { ensureKey, installId } from './first-start.ts'

test('of processes that start at once all have the same id, and it stays', async (t) => {
  const dataDir = await folder(t)
  const ids = await Promise.all(Array.from({ length: 10 }, () => installId(dataDir)))
  assert.equal(new Set(ids).size, 1)
  assert.match(ids[0] ?? '', /^[\w-]{10,}$/)
  assert.equal(await installId(dataDir), ids[0])
  assert.deepEqual(await readdir(dataDir), ['install-id'])
})

test('an id that a full disk left empty is made anew', async (t) => {
  const dataDir = await folder(t)
  await writeFile(join(dataDir, 'install-id'), '')
  const id = await installId(dataDir)
  assert.match(id, /^[\w-]{10,}$/)
  assert.equal(await readFile(join(dataDir, 'install-id'), 'utf8'), id)
})

test('a key is made at the first start, and none in the place of one that is lost', async (t) => {
  const dataDir = await folder(t)
  const source = { encryptionKey: null, dataDir }
  ensureKey(source)
  // Cut off here, the next start is the first one still.
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
