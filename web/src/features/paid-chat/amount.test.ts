import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountText, shortened } from './amount.ts'

test('amounts are exact, with at least two decimals', () => {
  const shown = ['1', '1000', '10000', '250000', '1000000', '1234567', '1000000000'].map((units) =>
    amountText(units, 'eip155:8453'),
  )
  assert.deepEqual(shown, ['$0.000001', '$0.001', '$0.01', '$0.25', '$1.00', '$1.234567', '$1000.00'])
})

test('addresses are shortened to their ends', () => {
  assert.equal(shortened('0x209693Bc6afc0C5328bA36FaF03C514EF312287C'), '0x2096…287C')
  assert.equal(shortened('short'), 'short')
})
