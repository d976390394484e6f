import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deletionWords, kindOf, listed, testWords } from './words.ts'

test('long lists of names are shortened', () => {
  assert.equal(listed([]), '')
  assert.equal(listed(['a']), 'a')
  assert.equal(listed(['a', 'b', 'c']), 'a, b and c')
  assert.equal(listed(['a', 'b', 'c', 'd', 'e', 'f']), 'a, b, c, d, e and f')
  assert.equal(listed(['a', 'b', 'c', 'd', 'e', 'f', 'g']), 'a, b, c, d, e and 2 more')
})

test('a deletion names the agents that switch to the platform’s key', () => {
  assert.match(deletionWords([]), /^No agent uses it\./)
  assert.match(deletionWords(['scout']), /^scout switches to the platform’s key/)
  assert.match(deletionWords(['a', 'b']), /^a and b switch to/)
})

test('missing properties of a subscription are omitted', () => {
  const subscription = {
    ...{ id: 's', name: 'team', provider: 'anthropic' as const, agent_count: 0, agents: [] },
    ...{ created_at: '', updated_at: '', subscription_type: null, rate_limit_tier: '20x' },
  }
  assert.equal(kindOf(subscription), 'Anthropic · 20x')
})

test('a rate-limited token is valid', () => {
  assert.match(testWords({ valid: false, status: 'rate_limited', message: null }), /valid/)
  assert.equal(testWords({ valid: false, status: 'unreachable', message: 'Away.' }), 'Away.')
})
