import assert from 'node:assert/strict'
import { hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import { internalSecret } from './internal-secret.ts'

const key = '0123456789abcdef'.repeat(4)
const noFile = () => Promise.reject(new Error('no such file'))

test('is the same for every process that knows the encryption key, and does not reveal it', async () => {
  const fromVariable = await internalSecret({ ROOST_ENCRYPTION_KEY: key }, noFile)
  const paths: string[] = []
  const fromFile = await internalSecret({ ROOST_DATA_DIR: '/srv/data' }, async (path) => {
    paths.push(path)
    return `${key}\n`
  })
  assert.deepEqual(paths, ['/srv/data/encryption.key'])
  assert.equal(fromFile, fromVariable)
  const expected = Buffer.from(hkdfSync('sha256', Buffer.from(key, 'hex'), '', 'roost.internal-listener', 32))
  assert.equal(fromVariable, `svc_internal_${expected.toString('hex')}`)
  assert.notEqual(await internalSecret({ ROOST_ENCRYPTION_KEY: 'f'.repeat(64) }, noFile), fromVariable)
})

test('a configured secret needs no key', async () => {
  assert.equal(await internalSecret({ ROOST_INTERNAL_SECRET: ' configured ' }, noFile), 'configured')
})

test('an unreadable or invalid key is an error', async () => {
  await assert.rejects(internalSecret({}, noFile), /no such file/)
  await assert.rejects(
    internalSecret({}, async () => 'broken'),
    /not 32 bytes in hex/,
  )
})
