/** The repository of an agent: real git in a real container, through the platform, to a real host. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type GitServer, startGitServer } from '@roost/test-support/git/index'
import { eventually, type Platform, startPlatform } from './platform.ts'
import { createAgent, docker } from './steps.ts'

const token = 'ghp-canary-51c9e2'
const yaml = 'name: helper\ndisplay_name: Helper\ndescription: Made for this check\n'
let platform: Platform
let git: GitServer
before(async () => {
  git = await startGitServer()
  await git.commit('acme/helper', { 'template.yaml': yaml, 'CLAUDE.md': '# One\n' })
  await git.git('acme/helper', 'config', 'http.receivepack', 'true')
  platform = await startPlatform({ env: { ROOST_GIT_BASE_URL: git.url, GITHUB_PAT: token } })
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await git?.[Symbol.asyncDispose]()
})

const ask = (method: string, path: string, body?: object) =>
  platform.request(method, `/api/agents/qa-git/git/${path}`, body)

test('a workspace is pushed to its branch and pulled; the container never contains the token', async () => {
  await createAgent(platform, 'qa-git', { template: 'github:acme/helper' })
  const bound = await eventually(
    () => ask('GET', 'status'),
    ({ json }) => json.ahead === 0 && json.branch !== null,
  )
  assert.equal(bound.json.remote_url, `${git.url}/acme/helper`)
  const { working_branch, source_mode } = (await ask('GET', 'config')).json
  assert.equal(source_mode, false)

  await docker('exec', '-u', 'developer', 'agent-qa-git', 'sh', '-c', 'echo work > /home/developer/notes.txt')
  assert.ok((await ask('GET', 'status')).json.changes.includes('?? notes.txt'))
  const synced = await ask('POST', 'sync', { message: 'first work' })
  assert.equal(synced.status, 200, synced.text)
  assert.ok(synced.json.files_changed >= 1)
  assert.equal((await ask('GET', 'status')).json.sync_status, 'up_to_date')
  assert.equal(await git.git('acme/helper', 'show', `${working_branch}:notes.txt`), 'work')
  assert.equal((await ask('GET', 'log')).json.commits[0].message, 'first work')

  const pushed = (await ask('GET', 'last-change')).json
  assert.deepEqual(
    [pushed.direction, pushed.to_sha],
    ['push', synced.json.commit_sha],
    JSON.stringify(pushed),
  )
  assert.match(pushed.diff, /^\+\+\+ b\/notes\.txt\n@@ .* @@\n\+work$/m)

  await git.commit('acme/helper', { 'notes.txt': 'theirs\n' }, working_branch)
  const pulled = await ask('POST', 'pull')
  assert.equal(pulled.status, 200, pulled.text)
  const read = '/api/agents/qa-git/files/download?path=notes.txt'
  assert.equal((await platform.request('GET', read)).text, 'theirs\n')

  await git.commit('acme/helper', { 'notes.txt': 'other\n' }, working_branch)
  await docker('exec', '-u', 'developer', 'agent-qa-git', 'sh', '-c', 'echo mine > /home/developer/notes.txt')
  const refused = await ask('POST', 'sync')
  assert.deepEqual([refused.status, refused.json.error], [409, 'git_conflict'])
  assert.equal(refused.headers.get('x-conflict-type'), 'diverged')

  // A failed operation leaves the last change as it was.
  const change = (await ask('GET', 'last-change')).json
  assert.deepEqual(
    [change.direction, change.to_sha, change.reason, change.truncated],
    ['pull', pulled.json.commit_sha, null, false],
  )
  const { path, status, additions, deletions } = change.files[0]
  assert.deepEqual(
    [path, status, additions, deletions, change.total_files],
    ['notes.txt', 'modified', 1, 1, 1],
  )
  assert.match(change.diff, /^-work\n\+theirs$/m)

  const search = 'grep -rIl ghp-canary /home/developer /tmp /proc/*/environ 2>/dev/null || true'
  assert.equal(String(await docker('exec', 'agent-qa-git', 'sh', '-c', search)).trim(), '')
})

test('an unreachable host: three failures, an alert, red and frozen', async () => {
  await ask('PUT', 'freeze-schedules-if-failing', { enabled: true })
  git.behave('redirect')
  const failing = { strategy: 'clean' }
  const state = await eventually(
    async () => {
      await ask('POST', 'pull', failing)
      return (await ask('GET', 'sync-state')).json
    },
    ({ frozen }) => frozen,
  )
  assert.equal(state.state, 'red')
  const queue = await platform.request('GET', '/api/operator-queue')
  assert.match(queue.text, /sync_failing/)
  git.behave('well')
  assert.equal((await ask('POST', 'sync', { strategy: 'force_push' })).status, 200)
  assert.equal((await ask('GET', 'sync-state')).json.frozen, false)
})

test('it moves to its own repository with its own token, and a reset keeps its state', async () => {
  const own = 'ghp-canary-own-7d21'
  const inAgent = (script: string) => docker('exec', '-u', 'developer', 'agent-qa-git', 'sh', '-c', script)
  const environment = await inAgent('echo $GIT_SOURCE_MODE $GIT_WORKING_BRANCH')
  assert.match(environment, /^false roost\/qa-git\//)
  const refused = await platform.request('PUT', '/api/agents/qa-git/github-pat', { pat: 'bad-canary' })
  assert.equal(refused.status, 422, refused.text)
  const moved = await ask('POST', 'bind-to-own-repo', { destination_repo: 'acme/own', github_pat: own })
  assert.equal(moved.status, 200, moved.text)
  assert.deepEqual(
    [moved.json.previous_repo, moved.json.created_repo, moved.json.private],
    ['acme/helper', true, true],
  )
  const pat = (await platform.request('GET', '/api/agents/qa-git/github-pat')).json
  assert.deepEqual([pat.configured, pat.source], [true, 'agent'])
  const { working_branch } = (await ask('GET', 'config')).json
  assert.equal(await git.git('acme/own', 'show', `${working_branch}:notes.txt`), 'mine')

  await git.commit('acme/own', { 'notes.txt': 'theirs\n' })
  await inAgent('mkdir -p ~/content && echo made > ~/content/made.md && echo lost > ~/notes.txt')
  const reset = await ask('POST', 'reset-to-main-preserve-state')
  assert.equal(reset.status, 200, reset.text)
  assert.ok(reset.json.files_preserved.includes('content/made.md'), reset.text)
  assert.equal(
    await inAgent(`cat ~/notes.txt ~/content/made.md ~/${reset.json.snapshot_dir}/notes.txt`),
    'theirs\nmade\nlost',
  )
  assert.equal(await git.git('acme/own', 'rev-parse', working_branch), reset.json.commit_sha)
  const search = 'grep -rIl ghp-canary /home/developer /tmp /proc/*/environ 2>/dev/null || true'
  assert.equal(String(await docker('exec', 'agent-qa-git', 'sh', '-c', search)).trim(), '')
  assert.doesNotMatch(platform.output(), /ghp-canary|bad-canary/)
  assert.equal((await platform.request('DELETE', '/api/agents/qa-git')).status, 200)
})
