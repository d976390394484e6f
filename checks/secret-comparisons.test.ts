import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secretComparisons } from './secret-comparisons.ts'

const found = (text: string) => secretComparisons('server/src/x.ts', text).length

test('a direct comparison of secrets is found', () => {
  for (const text of [
    'if (token === expected) return',
    'return row.key_hash === hashOfKey(text)',
    'const isSame = given !== this.secret',
    'if (timingSafeEqual(a, b)) return',
    'presented.password === stored',
    'expected === signature && isFresh',
  ])
    assert.equal(found(text), 1, text)
})

test('null checks, kinds and public digests are allowed', () => {
  for (const text of [
    'if (token === null) return',
    "if (token === '') return",
    'if (typeof token === "string") return',
    'if (hash === undefined) return',
    'row.claim_token === hold.claimToken',
    'previous.entry_hash === row.previous_hash',
    "if (account.mode === 'password') return",
    '// token === other',
  ])
    assert.equal(found(text), 0, text)
  assert.deepEqual(secretComparisons('server/src/kit/same-secret.ts', 'timingSafeEqual(a, b)'), [])
})
