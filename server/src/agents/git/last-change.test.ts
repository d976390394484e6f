import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GitChangeAnswer } from '@roost/contracts/link/git'
import { forEachDialect } from '../../test/dialects.ts'
import { bound, done, sha } from './test/bound.ts'

const before = 'b'.repeat(40)
const movedEnd = { ...done, outcome: 'done' as const, commit_sha: sha, files_changed: 1, from_sha: before }
const file = {
  path: 'notes.txt',
  previous_path: null,
  status: 'modified' as const,
  additions: 1,
  deletions: 1,
}
const change: GitChangeAnswer = {
  found: true,
  files: [file],
  total_files: 1,
  hidden_files: 2,
  diff: 'diff --git a/notes.txt b/notes.txt\n--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-a\n+b\n',
  truncated: false,
}

forEachDialect((_name, open) => {
  test('the last sync or pull with changes is stored with its commits, and its diff is read from the agent', async () => {
    await using one = await bound(open)
    await one.look()
    const first = await one.call('GET', 'last-change')
    assert.equal(first.status, 200, JSON.stringify(first.json))
    assert.deepEqual([first.json.direction, first.json.to_sha, first.json.files], [null, null, []])
    assert.match(first.json.reason, /has changed anything yet/)
    assert.ok(!one.world.link.calls.some(({ t }) => t === 'git.change'))

    one.script.end = movedEnd
    one.script.change = change
    const { sync_time } = (await one.call('POST', 'sync', {})).json
    const { found: _, ...content } = change
    const expected = { direction: 'push', from_sha: before, to_sha: sha, at: sync_time }
    assert.deepEqual((await one.call('GET', 'last-change')).json, { ...expected, ...content, reason: null })
    const request = one.world.link.calls.find(({ t }) => t === 'git.change')
    assert.deepEqual(request?.request, { from_sha: before, to_sha: sha })

    // Looks, failures and syncs without changes keep it.
    one.script.end = { outcome: 'conflict', conflict: 'diverged', message: 'The remote has moved.' }
    assert.equal((await one.call('POST', 'sync', {})).status, 409)
    one.script.end = done
    await one.call('POST', 'sync', {})
    await one.look()
    assert.equal((await one.call('GET', 'last-change')).json.direction, 'push')
    one.script.end = { ...movedEnd, from_sha: 'c'.repeat(40) }
    await one.call('POST', 'pull')
    const pulled = (await one.call('GET', 'last-change')).json
    assert.deepEqual([pulled.direction, pulled.from_sha], ['pull', 'c'.repeat(40)])
  })

  test('known secrets are masked, even where the text was truncated inside one', async () => {
    await using one = await bound(open)
    await one.look()
    const key = await one.world.agentKey(one.agent.id)
    one.script.end = movedEnd
    await one.call('POST', 'sync', {})
    one.script.change = {
      ...change,
      files: [{ ...file, path: `${key}.txt`, previous_path: `was-${key}`, status: 'renamed' }],
      diff: `${change.diff}+whole ${key} end\n+cut ${key.slice(0, 12)}`,
      truncated: true,
    }
    const { json } = await one.call('GET', 'last-change')
    assert.deepEqual(
      [json.files[0].path, json.files[0].previous_path, json.truncated],
      ['[secret].txt', 'was-[secret]', true],
    )
    assert.ok(json.diff.endsWith('+whole [secret] end\n+cut '), json.diff)
  })

  test('missing commits and an outdated program are reasons, not errors', async () => {
    await using one = await bound(open)
    await one.look()
    one.script.end = movedEnd
    await one.call('POST', 'sync', {})
    const unknown = await one.call('GET', 'last-change')
    assert.equal(unknown.status, 200, JSON.stringify(unknown.json))
    assert.match(unknown.json.reason, /Restart the agent/)
    one.script.change = { ...change, found: false }
    const missing = (await one.call('GET', 'last-change')).json
    assert.deepEqual([missing.to_sha, missing.files, missing.diff], [sha, [], ''])
    assert.match(missing.reason, /no longer in the workspace/)

    await one.world.request(one.owner.key, 'POST', '/api/agents/one/stop')
    assert.equal((await one.call('GET', 'last-change')).json.error, 'agent_stopped')
    await one.world.request(one.owner.key, 'POST', '/api/agents', { name: 'plain' })
    const plain = await one.world.request(one.owner.key, 'GET', '/api/agents/plain/git/last-change')
    assert.deepEqual([plain.status, plain.json.error], [404, 'git_not_configured'])
    const stranger = await one.world.person()
    const hidden = await one.world.request(stranger.key, 'GET', '/api/agents/one/git/last-change')
    assert.equal(hidden.json.error, 'agent_not_found')
  })
})
