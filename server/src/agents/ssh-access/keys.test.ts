import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { newSshKeyPair, parsePublicKey } from './keys.ts'

function hasKeygen(): boolean {
  try {
    execFileSync('ssh-keygen', ['-?'], { stdio: 'ignore' })
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT')
  }
}

test('OpenSSH reads the private key and derives the same public key', { skip: !hasKeygen() }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'roost-ssh-'))
  t.after(() => rmSync(folder, { recursive: true }))
  // Comments of several lengths, because the key is padded to a block.
  for (const comment of ['', 'a', 'roost-helper', 'x'.repeat(7), 'x'.repeat(8)]) {
    const pair = newSshKeyPair(comment)
    const file = join(folder, 'key')
    writeFileSync(file, pair.privateKey, { mode: 0o600 })
    const found = execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' }).trim()
    assert.deepEqual(found.split(' ').slice(0, 2), pair.publicKey.split(' ').slice(0, 2))
    rmSync(file)
  }
})

test('each pair is different', () => {
  assert.notEqual(newSshKeyPair('a').publicKey, newSshKeyPair('a').publicKey)
})

const [type, base64] = newSshKeyPair('x').publicKey.split(' ')

test('a public key is accepted with a cleaned comment', () => {
  assert.equal(parsePublicKey(`  ${type}  ${base64}\tme@host\u0007 more `), `${type} ${base64} me@host more`)
  assert.equal(parsePublicKey(`${type} ${base64}`), `${type} ${base64}`)
})

for (const [title, text] of [
  ['options before the key', `command="sh" ${type} ${base64}`],
  ['two keys', `${type} ${base64}\n${type} ${base64}`],
  ['a type that differs from the bytes', `ssh-rsa ${base64}`],
  ['an unknown type', `ssh-dss ${base64}`],
  ['invalid base64', `${type} not*base64`],
  ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----'],
  ['an empty text', ''],
] as const) {
  test(`refuses ${title}`, () => assert.equal(parsePublicKey(text), null))
}
