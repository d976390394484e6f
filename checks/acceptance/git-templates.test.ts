/** Agents from templates in a git repository: real git, a real host, a real container. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type GitServer, startGitServer } from '@roost/test-support/git/index'
import { eventually, type Platform, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

let platform: Platform
let git: GitServer
before(async () => {
  git = await startGitServer()
  platform = await startPlatform({ env: { ROOST_GIT_BASE_URL: git.url } })
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await git?.[Symbol.asyncDispose]()
})

const yaml = `name: helper
display_name: Helper from git
description: Made for this check
schedules:
  - {name: daily, cron: '0 8 * * *', message: go}
`

test('the repository is copied to the workspace, its schedules to the agent, its entry to the list', async () => {
  await git.commit('acme/helper', {
    'template.yaml': yaml,
    'CLAUDE.md': '# From git\n',
    'bin/go.sh': { script: '#!/bin/sh\necho went\n' },
    latest: { link: 'CLAUDE.md' },
  })
  const put = { repositories: ['acme/helper', 'acme/absent'] }
  assert.equal((await platform.request('PUT', '/api/settings/templates', put)).status, 200)
  assert.equal((await platform.request('POST', '/api/templates/refresh')).json.failed.length, 1)
  const listed = (await platform.request('GET', '/api/templates')).json
  const entry = (id: string) => listed.find((each: { id: string }) => each.id === id)
  assert.equal(entry('github:acme/helper').display_name, 'Helper from git')
  assert.equal(entry('github:acme/helper').schedules_count, 1)
  assert.equal(entry('github:acme/absent').metadata_unavailable, true)
  assert.ok(entry('local:research-analyst'))

  const agent = await createAgent(platform, 'qa-from-git', { template: 'github:acme/helper' })
  assert.equal(agent.github_repo, 'acme/helper')
  assert.equal(agent.schedules_created, 1)
  const download = (path: string) =>
    platform.request('GET', `/api/agents/qa-from-git/files/download?path=${encodeURIComponent(path)}`)
  const read = await eventually(
    () => download('CLAUDE.md'),
    ({ status }) => status === 200,
  )
  assert.equal(read.text, '# From git\n')
  assert.equal((await download('latest')).text, '# From git\n')
  // A start does not pull later commits.
  await git.commit('acme/helper', { 'CLAUDE.md': '# Later\n' })
  await platform.request('POST', '/api/agents/qa-from-git/stop')
  await platform.request('POST', '/api/agents/qa-from-git/start')
  const again = await eventually(
    () => download('CLAUDE.md'),
    ({ status }) => status === 200,
  )
  assert.equal(again.text, '# From git\n')
  assert.equal((await platform.request('DELETE', '/api/agents/qa-from-git')).status, 200)
})

test('a repository that is no valid workspace creates no agent', async () => {
  await git.commit('acme/out', { 'template.yaml': yaml, etc: { link: '../../../etc' } })
  const reply = await platform.request('POST', '/api/agents', {
    name: 'qa-none',
    template: 'github:acme/out',
  })
  assert.deepEqual([reply.status, reply.json.error], [400, 'template_unresolvable'])
  assert.match(reply.json.message ?? reply.json.detail, /"etc"/)
  assert.equal((await platform.request('GET', '/api/agents/qa-none')).status, 404)
})
