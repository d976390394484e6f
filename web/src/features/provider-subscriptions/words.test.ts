import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deletionWords, kindOf, listed, testWords } from './words.ts'

test('many names are told by a few of them', () => {
  assert.equal(listed([]), '')
  assert.equal(listed(['a']), 'a')
  assert.equal(listed(['a', 'b', 'c']), 'a, b and c')
  assert.equal(listed(['a', 'b', 'c', 'd', 'e', 'f']), 'a, b, c, d, e and f')
  assert.equal(listed(['a', 'b', 'c', 'd', 'e', 'f', 'g']), 'a, b, c, d, e and 2 more')
})

test('a deletion says who asks with the platform’s key then', () => {
  assert.match(deletionWords([]), /^No agent uses it\./)
  assert.match(deletionWords(['scout']), /^scout asks with the platform’s own key/)
  assert.match(deletionWords(['a', 'b']), /^a and b ask with/)
})

test('what a subscription is leaves out what nobody has said', () => {
  const subscription = {
    ...{ id: 's', name: 'team', provider: 'anthropic' as const, agent_count: 0, agents: [] },
    ...{ created_at: '', updated_at: '', subscription_type: null, rate_limit_tier: '20x' },
  }
  assert.equal(kindOf(subscription), 'Anthropic · 20x')
})

test('a token at its limit is a good one', () => {
  assert.match(testWords({ valid: false, status: 'rate_limited', message: null }), /good/)
  assert.equal(testWords({ valid: false, status: 'unreachable', message: 'Away.' }), 'Away.')
})
