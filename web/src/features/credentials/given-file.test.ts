import assert from 'node:assert/strict'
import { test } from 'node:test'
import { givenFile, pathFor, textOf, toBase64 } from './given-file.ts'

test('bytes that are no text, or would be changed by a form, are kept as they are', async () => {
  assert.equal(textOf(Buffer.from('key\n')), 'key\n')
  assert.equal(textOf(Buffer.from('key\r\n')), null)
  assert.equal(textOf(Buffer.from([0xff, 0xfe])), null)
  const bytes = Buffer.alloc(20_000, 0xfe)
  assert.equal(toBase64(bytes), bytes.toString('base64'))
  const file = await givenFile(new File([bytes], 'store.p12'))
  assert.deepEqual(file, { path: 'store.p12', text: '', base64: bytes.toString('base64') })
})

test('a file gets a path that is allowed, and one that is too large none', async () => {
  assert.equal(pathFor('service.pem'), 'service.pem')
  assert.equal(pathFor('token.txt'), 'credentials/token.txt')
  assert.equal(await givenFile(new File([Buffer.alloc(1024 * 1024 + 1)], 'a.pem')), null)
})
