import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSync } from 'otplib'
import decodeQR from 'qr/decode.js'
import { newRecoveryCodes } from './recovery-codes.ts'
import { enrolmentOf, newTotpSecret, stepOf } from './totp.ts'

/** "12345678901234567890", the secret of the vectors in RFC 6238. */
const rfcSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const at = (seconds: number) => new Date(seconds * 1000)

test('the codes of RFC 6238, shortened to six digits', () => {
  for (const [seconds, code] of [
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ] as const)
    assert.equal(stepOf(rfcSecret, code, at(seconds)), Math.floor(seconds / 30), code)
})

test('one step of drift is tolerated, two are not', () => {
  const now = 1_900_000_000
  const step = Math.floor(now / 30)
  for (const [drift, expected] of [
    [-2, null],
    [-1, step - 1],
    [0, step],
    [1, step + 1],
    [2, null],
  ] as const) {
    // At the first and the last second of the step.
    for (const second of [step * 30, step * 30 + 29]) {
      const token = generateSync({ secret: rfcSecret, epoch: (step + drift) * 30 })
      assert.equal(stepOf(rfcSecret, token, at(second)), expected, `${drift} at ${second - step * 30}`)
    }
  }
})

test('text other than six digits is not a code and not an error', () => {
  for (const code of ['', '12345', '1234567', 'abcdef', '12 456', '１２３４５６'])
    assert.equal(stepOf(rfcSecret, code, at(59)), null)
})

test('a secret has 160 bits, and its QR code contains the enrolment URI', () => {
  const secret = newTotpSecret()
  assert.match(secret, /^[A-Z2-7]{32}$/)
  assert.notEqual(secret, newTotpSecret())
  const { otpauth_uri, qr_svg } = enrolmentOf(secret, 'ann+1@example.com')
  const uri = new URL(otpauth_uri)
  assert.equal(uri.protocol, 'otpauth:')
  assert.equal(uri.searchParams.get('secret'), secret)
  assert.equal(uri.searchParams.get('issuer'), 'Roost')
  assert.equal(decodeURIComponent(uri.pathname).endsWith('Roost:ann+1@example.com'), true)
  assert.equal(decodeQR(pixels(qr_svg)), otpauth_uri)
})

test('ten recovery codes of ten characters that do not look alike', () => {
  const codes = newRecoveryCodes()
  assert.equal(new Set(codes).size, 10)
  for (const code of codes) assert.match(code, /^[A-HJ-NP-Z2-9]{10}$/)
})

/** Renders the QR code as pixels. Each move of its path starts a dark square, relative to the previous move. */
function pixels(svg: string) {
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1])
  const scale = 4
  const width = size * scale
  const data = new Uint8Array(width * width * 4).fill(255)
  const path = /\bd="([^"]+)"/.exec(svg)?.[1] ?? assert.fail('the QR code has no path')
  let [x, y] = [0, 0]
  for (const [, command, right, down] of path.matchAll(/([Mm])(-?\d+)[ ,]?(-?\d+)/g)) {
    const from = command === 'M' ? { x: 0, y: 0 } : { x, y }
    x = from.x + Number(right)
    y = from.y + Number(down)
    for (let row = y * scale; row < (y + 1) * scale; row++)
      data.fill(0, (row * width + x * scale) * 4, (row * width + (x + 1) * scale) * 4)
  }
  return { width, height: width, data }
}
