import assert from 'node:assert/strict'
import { createHmac, createSecretKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { test } from 'node:test'
import { type Claims, readJwt, signJwt } from './jwt.ts'

const key = createSecretKey(randomBytes(32))
const claims: Claims = {
  sub: 'admin',
  iat: 1_900_000_000,
  exp: 1_900_604_800,
  jti: 'AAAAAAAAAAAAAAAAAAAAAA',
  mode: 'admin',
  epoch: 'BBBBBBBBBBBBBBBBBBBBBB',
}
const token = signJwt(claims, key)
const [header = '', payload = '', signature = ''] = token.split('.')

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const hmac = (text: string, algorithm = 'sha256', secret: Parameters<typeof createHmac>[1] = key) =>
  createHmac(algorithm, secret).update(text).digest('base64url')
const forged = (head: unknown, body: unknown = claims) => {
  const text = `${encode(head)}.${encode(body)}`
  return `${text}.${hmac(text)}`
}

test('a signed token is read back', () => {
  assert.deepEqual(readJwt(token, key), claims)
  assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), { alg: 'HS256', typ: 'JWT' })
})

test('the signature is standard HS256', () => {
  assert.equal(signature, hmac(`${header}.${payload}`))
})

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const rsaText = `${encode({ alg: 'RS256', typ: 'JWT' })}.${payload}`
const flipped = (text: string, at: number) => {
  const letter = text[at] === 'A' ? 'B' : 'A'
  return text.slice(0, at) + letter + text.slice(at + 1)
}
/** 32 bytes leave two bits of the last character unused: another character, the same bytes. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const otherEncoding =
  signature.slice(0, -1) +
  alphabet[
    (alphabet.indexOf(signature.at(-1) ?? 'A') & ~3) + ((alphabet.indexOf(signature.at(-1) ?? 'A') + 1) & 3)
  ]

const refused: [why: string, token: string][] = [
  ['alg none without a signature', `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`],
  ['alg none with our signature', forged({ alg: 'none', typ: 'JWT' })],
  ['alg NONE', forged({ alg: 'NONE', typ: 'JWT' })],
  ['an RS256 header over our HMAC', forged({ alg: 'RS256', typ: 'JWT' })],
  [
    'a real RS256 signature',
    `${rsaText}.${sign('sha256', Buffer.from(rsaText), privateKey).toString('base64url')}`,
  ],
  [
    'HS512, even with our key',
    (() => {
      const text = `${encode({ alg: 'HS512', typ: 'JWT' })}.${payload}`
      return `${text}.${hmac(text, 'sha512')}`
    })(),
  ],
  ['HS384 over our own header', `${header}.${payload}.${hmac(`${header}.${payload}`, 'sha384')}`],
  ['another order of the header fields', forged({ typ: 'JWT', alg: 'HS256' })],
  ['a header with an embedded key', forged({ alg: 'HS256', typ: 'JWT', jwk: { kty: 'oct', k: 'AA' } })],
  ['a header with a key id', forged({ alg: 'HS256', typ: 'JWT', kid: '../../dev/null' })],
  [
    'a signature by another key',
    `${header}.${payload}.${hmac(`${header}.${payload}`, 'sha256', randomBytes(32))}`,
  ],
  ['a signature by the empty key', `${header}.${payload}.${hmac(`${header}.${payload}`, 'sha256', '')}`],
  ['a changed payload', `${header}.${encode({ ...claims, sub: 'root' })}.${signature}`],
  ['a changed character of the signature', `${header}.${payload}.${flipped(signature, 5)}`],
  ['another encoding of the same signature', `${header}.${payload}.${otherEncoding}`],
  ['padding', `${header}.${payload}.${signature}=`],
  ['no signature', `${header}.${payload}`],
  ['an empty signature', `${header}.${payload}.`],
  ['an empty payload', `${header}..${signature}`],
  ['a fourth part', `${token}.${signature}`],
  ['a line break', `${token}\n`],
  ['a space before', ` ${token}`],
  ['nothing', ''],
  ['dots', '..'],
  ['characters of other scripts', `${header}.${payload}.${'ü'.repeat(43)}`],
  ['a character of two code units', `${header}.${payload}.${signature.slice(0, -2)}🐔`],
  [
    'full-width digits',
    token.replace(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
  ],
]
for (let length = 1; length < token.length; length += 17)
  refused.push([`the first ${length} characters`, token.slice(0, length)])

for (const [why, presented] of refused) {
  test(`null for ${why}`, () => {
    assert.notEqual(presented, token)
    assert.equal(readJwt(presented, key), null)
  })
}

test('null for incomplete claims, even with a valid signature', () => {
  const head = { alg: 'HS256', typ: 'JWT' }
  assert.deepEqual(readJwt(forged(head), key), claims)
  for (const name of Object.keys(claims)) {
    assert.equal(readJwt(forged(head, { ...claims, [name]: undefined }), key), null, name)
    assert.equal(readJwt(forged(head, { ...claims, [name]: true }), key), null, name)
  }
  for (const body of [null, [], 'admin', 7, { ...claims, mode: 'root' }, { ...claims, exp: '1900604800' }])
    assert.equal(readJwt(forged(head, body), key), null)
  const text = `${header}.${Buffer.from('{not json').toString('base64url')}`
  assert.equal(readJwt(`${text}.${hmac(text)}`, key), null)
})
