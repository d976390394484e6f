import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathFor, readCredentialFile, textOf, toBase64 } from './credential-file.ts'

test('binary content, and text that a form would change, is kept as base64', async () => {
  assert.equal(textOf(Buffer.from('key\n')), 'key\n')
  assert.equal(textOf(Buffer.from('key\r\n')), null)
  assert.equal(textOf(Buffer.from([0xff, 0xfe])), null)
  const bytes = Buffer.alloc(20_000, 0xfe)
  assert.equal(toBase64(bytes), bytes.toString('base64'))
  const file = await readCredentialFile(new File([bytes], 'store.p12'))
  assert.deepEqual(file, { path: 'store.p12', text: '', base64: bytes.toString('base64') })
})

test('a file gets an allowed path, and a file over the size limit is refused', async () => {
  assert.equal(pathFor('service.pem'), 'service.pem')
  assert.equal(pathFor('token.txt'), 'credentials/token.txt')
  assert.equal(await readCredentialFile(new File([Buffer.alloc(1024 * 1024 + 1)], 'a.pem')), null)
})
