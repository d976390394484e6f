import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { test } from 'node:test'
import { createPasswords, isAcceptablePassword } from './passwords.ts'

const passwords = createPasswords()

test('a password matches its own hash and nothing else does', async () => {
  const stored = await passwords.hash('correct horse battery')
  assert.equal(await passwords.matches('correct horse battery', stored), true)
  for (const wrong of ['', 'correct horse batterY', 'correct horse battery ', stored])
    assert.equal(await passwords.matches(wrong, stored), false, wrong)
})

test('a password is stored as argon2id with 19 MiB, two passes and a new salt each time', async () => {
  const [first, second] = [
    await passwords.hash('correct horse battery'),
    await passwords.hash('correct horse battery'),
  ]
  assert.match(first, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  assert.notEqual(first, second)
})

test('a password stored with other parameters is checked with those', async () => {
  const nonce = Buffer.alloc(16, 7)
  const hash = argon2Sync('argon2id', {
    message: Buffer.from('an older password'),
    nonce,
    parallelism: 2,
    tagLength: 24,
    memory: 1024,
    passes: 3,
  })
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  const stored = `$argon2id$v=19$m=1024,t=3,p=2$${text(nonce)}$${text(hash)}`
  assert.equal(await passwords.matches('an older password', stored), true)
  assert.equal(await passwords.matches('another password', stored), false)
})

test('an unknown account and an unreadable hash match nothing', async () => {
  for (const stored of [null, '', 'plain', '$argon2id$v=19$m=1,t=1$x$y', '$2b$12$abcdefghijklmnopqrstuv'])
    assert.equal(await passwords.matches('correct horse battery', stored), false, String(stored))
})

test('an unknown account costs as much computation as a wrong password', async () => {
  const stored = await passwords.hash('correct horse battery')
  const best = { known: Infinity, unknown: Infinity }
  // Processor time of the cheapest of several alternating runs, so that other load on the machine does not matter.
  for (let i = 0; i < 8; i++) {
    for (const which of ['known', 'unknown'] as const) {
      const start = process.cpuUsage()
      await passwords.matches('wrong password', which === 'known' ? stored : null)
      const { user, system } = process.cpuUsage(start)
      best[which] = Math.min(best[which], user + system)
    }
  }
  assert.ok(best.unknown > best.known / 2, `${best.unknown} µs against ${best.known} µs`)
})

test('composed and decomposed accents are the same password', async () => {
  const stored = await passwords.hash('caf\u00e9 au lait, please')
  assert.equal(await passwords.matches('cafe\u0301 au lait, please', stored), true)
})

test('12 to 128 characters, counted as code points', () => {
  assert.equal(isAcceptablePassword('x'.repeat(11)), false)
  assert.equal(isAcceptablePassword('x'.repeat(12)), true)
  assert.equal(isAcceptablePassword('x'.repeat(128)), true)
  assert.equal(isAcceptablePassword('x'.repeat(129)), false)
  assert.equal(isAcceptablePassword('🐔'.repeat(11)), false)
  assert.equal(isAcceptablePassword('🐔'.repeat(128)), true)
})
