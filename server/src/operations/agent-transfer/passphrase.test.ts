import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { Decrypter, Encrypter } from 'age-encryption'
import { isFault } from '../../kit/fault.ts'
import { decrypted, encrypted, passphraseOf } from './passphrase.ts'

const passphrase = 'correct horse battery'
const plain = Buffer.alloc(300_000, 'archive ')

async function* once(bytes: Uint8Array) {
  yield bytes
}
/** With a key that is quick to derive. */
const sealedBytes = async () => {
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  encrypter.setScryptWorkFactor(8)
  return Buffer.from(await encrypter.encrypt(plain))
}
const opened = async (bytes: Uint8Array, given: string | null = passphrase) => {
  const pieces: Uint8Array[] = []
  for await (const piece of await decrypted(once(bytes), given)) pieces.push(piece)
  return Buffer.concat(pieces)
}
const is = (code: 'invalid_archive' | 'archive_passphrase_wrong') => (error: unknown) => isFault(error, code)

test('the result is an age file, which the library opens, and opens those of the library', async () => {
  const bytes = await buffer(await encrypted(once(plain), passphrase))
  assert.equal(bytes.includes('archive'), false)
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  assert.deepEqual(Buffer.from(await decrypter.decrypt(bytes)), plain)
  assert.deepEqual(await opened(bytes), plain)
  assert.deepEqual(await opened(await sealedBytes()), plain)
})

test('without encryption the bytes pass through, whatever they are', async () => {
  assert.deepEqual(await opened(plain, null), plain)
  assert.deepEqual(await opened(Buffer.from('x'), null), Buffer.from('x'))
  assert.deepEqual(await opened(Buffer.alloc(0), null), Buffer.alloc(0))
})

test('422 for a wrong or missing passphrase', async () => {
  const bytes = await sealedBytes()
  await assert.rejects(opened(bytes, 'another passphrase'), is('archive_passphrase_wrong'))
  await assert.rejects(opened(bytes, null), is('archive_passphrase_wrong'))
})

test('422 for a file that was cut anywhere, or changed', async () => {
  const bytes = await sealedBytes()
  for (const length of [bytes.length - 1, bytes.length - 40_000, 65_536 + 200, 250, 100])
    await assert.rejects(opened(bytes.subarray(0, length)), is('invalid_archive'), `${length} bytes`)
  for (const at of [bytes.length - 5, 1000, 170]) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    await assert.rejects(opened(changed), is('invalid_archive'), `byte ${at}`)
  }
})

test('422 for a header that would cost time or memory', async () => {
  const start = 'age-encryption.org/v1\n'
  const stanza = (factor: string) => `-> scrypt ${'A'.repeat(22)} ${factor}\n${'A'.repeat(43)}\n`
  for (const [header, pattern] of [
    [`${start}${stanza('30')}--- ${'A'.repeat(43)}\n`, /work factor/],
    [`${start}${stanza('-1')}--- ${'A'.repeat(43)}\n`, /passphrase/],
    [`${start}${stanza('12')}${stanza('12')}--- ${'A'.repeat(43)}\n`, /passphrase/],
    [`${start}${'-> x '.padEnd(10_000, 'x')}`, /too long/],
  ] as const)
    await assert.rejects(
      opened(Buffer.from(header)),
      (error) => isFault(error, 'invalid_archive') && pattern.test((error as Error).message),
      header.slice(0, 60),
    )
})

test('the header carries the passphrase as base64, with 12 to 1,000 characters', () => {
  const header = (text: string) => Buffer.from(text).toString('base64')
  assert.equal(passphraseOf(undefined), null)
  assert.equal(passphraseOf(header('pässphrase ☃ long')), 'pässphrase ☃ long')
  for (const value of ['', header('short'), 'not base64!', header('x'.repeat(1001))])
    assert.throws(
      () => passphraseOf(value),
      (error) => isFault(error, 'validation_error'),
      value.slice(0, 20),
    )
})
