import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyOf, deliveryWords, removalWords, syncWords, warningWords } from './words.ts'

const counts = { skills_injected: 0, skills_failed: 0 }
const result = { version: null, warnings: [], error: null }

test('a pending delivery names its reason, a failed one the skill and the error', () => {
  const waiting = {
    status: 'pending_start' as const,
    reason: 'agent_stopped' as const,
    ...counts,
    results: {},
  }
  assert.deepEqual(deliveryWords(waiting), {
    tone: 'neutral',
    description: 'The agent is stopped. The skills are delivered when it starts.',
  })
  const results = {
    a: { ...result, status: 'conflict' as const },
    b: { ...result, status: 'injected' as const },
  }
  const report = deliveryWords({ status: 'injected', reason: null, ...counts, results })
  assert.deepEqual(report, { tone: 'danger', description: 'a: conflict' })
})

test('only pending removals are reported', () => {
  const none = { skills: [], skills_removed: 1, skills_failed: 0, results: {} }
  assert.equal(removalWords(null), null)
  assert.equal(removalWords({ ...none, status: 'completed', reason: null }), null)
  assert.match(removalWords({ ...none, status: 'deferred', reason: 'agent_stopped' }) ?? '', /next start/)
})

test('a sync names the sources with problems', () => {
  const source = { id: '1', name: 'lib', commit_sha: null, skill_count: null, error: null }
  const moved = { ...source, status: 'moved_tag' as const }
  const fine = { ...source, name: 'other', status: 'ok' as const }
  const report = syncWords({
    sources: [moved, fine],
    commit_changed: false,
    skills_count: 2,
    fleet_reinject_started: false,
  })
  assert.equal(report.tone, 'warning')
  assert.match(report.description ?? '', /^lib: the tag was moved/)
  const changed = syncWords({
    sources: [fine],
    commit_changed: true,
    skills_count: 2,
    fleet_reinject_started: true,
  })
  assert.equal(changed.tone, 'success')
  assert.match(changed.description ?? '', /Agents are being updated/)
})

test('describes warnings; an unknown one stays unchanged', () => {
  assert.equal(warningWords('missing_binary:jq'), 'The program jq is missing in the agent')
  assert.equal(
    warningWords('protected_name_skipped:a/.env'),
    'a/.env was omitted because its name is protected',
  )
  assert.equal(warningWords('of_tomorrow:x'), 'of_tomorrow:x')
})

test('only the frontmatter is removed from the text', () => {
  assert.equal(bodyOf('---\nname: a\n---\n# A\n'), '# A\n')
  assert.equal(bodyOf('# A\n\n---\n\nmore\n\n---\n'), '# A\n\n---\n\nmore\n\n---\n')
  assert.equal(bodyOf('---\nnever closed'), '---\nnever closed')
})
