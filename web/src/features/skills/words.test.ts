import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyOf, deliveryWords, removalWords, syncWords, warningWords } from './words.ts'

const counts = { skills_injected: 0, skills_failed: 0 }
const result = { version: null, warnings: [], error: null }

test('a delivery that waits says for what, one that failed says which skill and why', () => {
  const waiting = {
    status: 'pending_start' as const,
    reason: 'agent_stopped' as const,
    ...counts,
    results: {},
  }
  assert.deepEqual(deliveryWords(waiting), {
    tone: 'neutral',
    description: 'The agent is stopped: it has them once it is started.',
  })
  const results = {
    a: { ...result, status: 'conflict' as const },
    b: { ...result, status: 'injected' as const },
  }
  const told = deliveryWords({ status: 'injected', reason: null, ...counts, results })
  assert.deepEqual(told, { tone: 'danger', description: 'a: conflict' })
})

test('what is still to be removed is told, what is gone is not', () => {
  const none = { skills: [], skills_removed: 1, skills_failed: 0, results: {} }
  assert.equal(removalWords(null), null)
  assert.equal(removalWords({ ...none, status: 'completed', reason: null }), null)
  assert.match(removalWords({ ...none, status: 'deferred', reason: 'agent_stopped' }) ?? '', /next start/)
})

test('a sync names the sources that need a look', () => {
  const source = { id: '1', name: 'lib', commit_sha: null, skill_count: null, error: null }
  const moved = { ...source, status: 'moved_tag' as const }
  const fine = { ...source, name: 'other', status: 'ok' as const }
  const told = syncWords({
    sources: [moved, fine],
    commit_changed: false,
    skills_count: 2,
    fleet_reinject_started: false,
  })
  assert.equal(told.tone, 'warning')
  assert.match(told.description ?? '', /^lib: its tag was moved/)
  const changed = syncWords({
    sources: [fine],
    commit_changed: true,
    skills_count: 2,
    fleet_reinject_started: true,
  })
  assert.equal(changed.tone, 'success')
  assert.match(changed.description ?? '', /being brought up to date/)
})

test('warnings are words; an unknown one stays as it is', () => {
  assert.equal(warningWords('missing_binary:jq'), 'The program jq is not in the agent')
  assert.equal(warningWords('protected_name_skipped:a/.env'), 'a/.env was left out: its name is protected')
  assert.equal(warningWords('of_tomorrow:x'), 'of_tomorrow:x')
})

test('the frontmatter is left out of what is read, and nothing else', () => {
  assert.equal(bodyOf('---\nname: a\n---\n# A\n'), '# A\n')
  assert.equal(bodyOf('# A\n\n---\n\nmore\n\n---\n'), '# A\n\n---\n\nmore\n\n---\n')
  assert.equal(bodyOf('---\nnever closed'), '---\nnever closed')
})
