import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import { changesSchedule, checkFolder, checkPrivateKey, defaults, isDue } from './rules.ts'

const row = {
  ...defaults,
  enabled: 1,
  timezone: 'Europe/Berlin',
  verify_cron_expression: '0 5 * * SUN',
  backup_decided_at: '2026-01-01T12:00:00.000Z',
  verification_decided_at: '2026-01-01T12:00:00.000Z',
}
const invalid = (error: unknown) => isFault(error, 'validation_error')

test('a due time runs until an hour after it, and once', () => {
  const due = (at: string, of = row) => isDue(of, 'backup', new Date(at))
  // 03:00 in Berlin.
  assert.equal(due('2026-01-02T01:59:59.999Z'), false)
  assert.equal(due('2026-01-02T02:00:00.000Z'), true)
  assert.equal(due('2026-01-02T03:00:00.000Z'), true)
  assert.equal(due('2026-01-02T03:00:00.001Z'), false)
  assert.equal(
    due('2026-01-02T02:30:00.000Z', { ...row, backup_decided_at: '2026-01-02T02:00:05.000Z' }),
    false,
  )
  assert.equal(due('2026-01-02T02:00:00.000Z', { ...row, enabled: 0 }), false)
})

test('the verification has its own expression, and none by default', () => {
  const sunday = new Date('2026-01-04T04:00:00.000Z')
  assert.equal(isDue(row, 'verification', sunday), true)
  assert.equal(isDue({ ...row, verify_cron_expression: null }, 'verification', sunday), false)
})

test('only a changed time starts a new schedule', () => {
  assert.equal(changesSchedule('backup', row, { ...row }), false)
  assert.equal(changesSchedule('backup', row, { ...row, verify_cron_expression: null }), false)
  assert.equal(changesSchedule('verification', row, { ...row, verify_cron_expression: null }), true)
  assert.equal(changesSchedule('verification', row, { ...row, timezone: 'UTC' }), true)
})

test('a folder that would be lost with the data is refused', () => {
  for (const folder of [
    '/',
    '/srv/roost/data',
    '/srv/roost/data/../data/x',
    '/srv/roost',
    '/srv/roost/data/backups/',
  ])
    assert.throws(() => checkFolder(folder, '/srv/roost/data'), invalid, folder)
  for (const folder of ['/srv/roost/data-backups', '/mnt/safe', 's3:https://host/srv', '/srv/roost/..data'])
    checkFolder(folder, '/srv/roost/data')
})

test('a private key with a passphrase is refused', () => {
  const key = (cipher: string) => {
    const length = String.fromCharCode(0, 0, 0, cipher.length)
    const body = Buffer.from(`openssh-key-v1\0${length}${cipher}rest`).toString('base64')
    return `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----`
  }
  checkPrivateKey(key('none'))
  checkPrivateKey('-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----')
  assert.throws(() => checkPrivateKey(key('aes256-ctr')), invalid)
  assert.throws(() => checkPrivateKey(key('none').replace(/\n[^-]+\n/, '\nAAAA\n')), invalid)
})
