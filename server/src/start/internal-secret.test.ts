import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { secret } from '../kit/secret.ts'
import { openInternalSecret, publishInternalSecret } from './internal-secret.ts'

test('the API writes the derived secret, which others read without the key', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-internal-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const internalSecretFile = join(folder, 'secret')
  const api = {
    internalSecret: null,
    internalSecretFile,
    encryptionKey: secret('ab'.repeat(32)),
    dataDir: '/x',
  }
  // A file of an earlier key does not decide.
  await writeFile(internalSecretFile, 'an older secret')
  const published = (await publishInternalSecret(api)).reveal()
  assert.match(published, /^svc_internal_[0-9a-f]{64}$/)
  assert.equal(await readFile(internalSecretFile, 'utf8'), published)
  assert.equal((await stat(internalSecretFile)).mode & 0o777, 0o600)
  assert.deepEqual(await readdir(folder), ['secret'])
  const other = { internalSecret: null, internalSecretFile, encryptionKey: null, dataDir: '/nowhere' }
  assert.equal((await openInternalSecret(other)).reveal(), published)
})
