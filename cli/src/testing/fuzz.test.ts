import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzEnvironment } from './fuzz.ts'

test('a long fuzz test has many rounds and a new seed', () => {
  const { ROOST_FUZZ_ROUNDS, ROOST_FUZZ_SEED } = fuzzEnvironment({}, () => 42)
  assert.ok(Number(ROOST_FUZZ_ROUNDS) >= 50)
  assert.equal(ROOST_FUZZ_SEED, '42')
})

test('the seed and the rounds of the caller repeat a run', () => {
  const given = { ROOST_FUZZ_ROUNDS: '9', ROOST_FUZZ_SEED: '7' }
  const found = fuzzEnvironment(given, () => assert.fail('a new seed'))
  assert.deepEqual([found.ROOST_FUZZ_ROUNDS, found.ROOST_FUZZ_SEED], ['9', '7'])
})
