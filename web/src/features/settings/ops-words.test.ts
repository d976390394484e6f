import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unitOf, wordsOf } from './ops-words.ts'

const setting = {
  value: 50,
  default: 50,
  description: 'As the platform says.',
  min: 0,
  max: 1_000_000,
  is_default: true,
}

test('a known setting has its label, range and unit', () => {
  const { label, hint } = wordsOf('ops_cost_limit_daily_usd', setting)
  assert.equal(label, 'Daily cost alert')
  assert.match(hint, /0 disables the alert\. 0 to 1,000,000\.$/)
  assert.equal(unitOf('ops_cost_limit_daily_usd'), 'USD')
})

test('a changed setting shows its default', () => {
  assert.match(wordsOf('ops_cost_limit_daily_usd', { ...setting, is_default: false }).hint, /Default: 50\.$/)
  const flag = { value: false, default: true, description: '', is_default: false }
  assert.match(wordsOf('ssh_access_enabled', flag).hint, /Default: on\.$/)
})

test('an unknown setting uses the description of the platform', () => {
  const { label, hint } = wordsOf('ops_new_limit_minutes', setting)
  assert.equal(label, 'New limit')
  assert.match(hint, /^As the platform says\./)
})
