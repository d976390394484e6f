import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { secret } from '../../kit/secret.ts'
import { asSealed, createThrowawayVault, createVault, KeyFileError, openVault, VaultError } from './index.ts'

test('opens its own sealed text; equal texts are sealed differently', () => {
  const vault = createThrowawayVault()
  for (const text of ['', 'a', 'Grüße 🦉', 'x'.repeat(100_000)]) {
    const sealed = vault.seal(text, 'note')
    assert.equal(vault.open(sealed, 'note'), text)
    assert.notEqual(vault.seal(text, 'note'), sealed)
  }
})

test('refuses another context, another key, changed text and unsealed text', () => {
  const [vault, other] = [createThrowawayVault(), createThrowawayVault()]
  const sealed = vault.seal('hello', 'provider-key:openai')
  const flipped = sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA')
  assert.throws(() => vault.open(sealed, 'provider-key:google'), VaultError)
  assert.throws(() => other.open(sealed, 'provider-key:openai'), VaultError)
  assert.throws(() => vault.open(asSealed(flipped), 'provider-key:openai'), VaultError)
  for (const never of ['', 'v1.', 'v1.AAAA', 'hello'])
    assert.throws(() => vault.open(asSealed(never), 'x'), VaultError)
})

test('the first start creates a key that only its owner can read; later starts use it', () => {
  using folder = temporaryFolder()
  const source = { encryptionKey: null, dataDir: join(folder.path, 'data') }
  const sealed = openVault(source).seal('hello', 'note')
  assert.equal(openVault(source).open(sealed, 'note'), 'hello')
  assert.equal(statSync(join(folder.path, 'data/encryption.key')).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(join(folder.path, 'data')), ['encryption.key'])
})

test('the configured key overrides the file', () => {
  using folder = temporaryFolder()
  const key = randomBytes(32)
  const sealed = createVault(key).seal('hello', 'note')
  const vault = openVault({ encryptionKey: secret(key.toString('hex')), dataDir: folder.path })
  assert.equal(vault.open(sealed, 'note'), 'hello')
  assert.deepEqual(readdirSync(folder.path), [])
})

test('a key that others can read is refused', () => {
  using folder = temporaryFolder()
  const source = { encryptionKey: null, dataDir: folder.path }
  openVault(source)
  chmodSync(join(folder.path, 'encryption.key'), 0o644)
  assert.throws(() => openVault(source), KeyFileError)
})

test('a file without a valid key is refused and left unchanged', () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'encryption.key')
  for (const text of ['', 'short', `${'ab'.repeat(31)}zz`]) {
    writeFileSync(path, text, { mode: 0o600 })
    assert.throws(() => openVault({ encryptionKey: null, dataDir: folder.path }), KeyFileError)
    assert.equal(readFileSync(path, 'utf8'), text)
  }
})

test('eight concurrent first starts create one key', async () => {
  using folder = temporaryFolder()
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module).then(({ openVault }) => {
      parentPort.postMessage(openVault({ encryptionKey: null, dataDir: workerData.dataDir }).seal('hello', 'note'))
    })`
  const workerData = { module: import.meta.resolve('./index.ts'), dataDir: folder.path }
  const sealed = await Promise.all(
    Array.from({ length: 8 }, () => {
      const worker = new Worker(code, { eval: true, workerData })
      return new Promise<string>((resolve, reject) => worker.once('message', resolve).once('error', reject))
    }),
  )
  const vault = openVault({ encryptionKey: null, dataDir: folder.path })
  for (const text of sealed) assert.equal(vault.open(asSealed(text), 'note'), 'hello')
})

function temporaryFolder(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'roost-vault-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

test('a keyed hash is stable, and differs by text, context and installation', () => {
  const key = randomBytes(32)
  const [vault, again, other] = [createVault(key), createVault(key), createThrowawayVault()]
  const mac = vault.mac('agent', 'broker')
  assert.equal(again.mac('agent', 'broker'), mac)
  assert.notEqual(vault.mac('agent2', 'broker'), mac)
  assert.notEqual(vault.mac('agent', 'other'), mac)
  assert.notEqual(other.mac('agent', 'broker'), mac)
})
