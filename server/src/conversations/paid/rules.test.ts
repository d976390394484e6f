import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isChecksumValid, withChecksum } from './checksum.ts'
import { atomicAmount, canonical, microsOf } from './rules.ts'

test('amounts are exact for every price of at most 6 decimals, in tokens of 6 or more decimals', () => {
  const prices: [number, string][] = [
    [0.000001, '1'],
    [0.1, '100000'],
    [0.1 + 0.2, 'none'],
    [0.29, '290000'],
    [1.005, '1005000'],
    [999.999999, '999999999'],
    [1000, '1000000000'],
    [0.0000001, 'none'],
  ]
  for (const [usd, units] of prices) {
    const micros = microsOf(usd)
    assert.equal(micros === null ? 'none' : atomicAmount(micros, 6), units, String(usd))
  }
  for (let micros = 1; micros < 1_000_000_000; micros += 99_991) assert.equal(microsOf(micros / 1e6), micros)
  assert.equal(atomicAmount(999_999_999, 18), '999999999000000000000')
})

test('the checksum in the letters of an address is validated when there is one', () => {
  // The examples of EIP-55.
  for (const address of [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ]) {
    assert.equal(withChecksum(address.toLowerCase()), address)
    assert.ok(isChecksumValid(address) && isChecksumValid(address.toLowerCase()))
    assert.ok(isChecksumValid(`0x${address.slice(2).toUpperCase()}`))
    assert.ok(!isChecksumValid(address.replace(/[a-f]/, (letter) => letter.toUpperCase())))
  }
})

test('equal content has equal canonical text, in any field order', () => {
  assert.equal(canonical({ b: [{ d: 1, c: null }], a: 'x' }), canonical({ a: 'x', b: [{ c: null, d: 1 }] }))
  assert.notEqual(canonical({ a: [1, 2] }), canonical({ a: [2, 1] }))
})
