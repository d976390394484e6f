import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { bound, done, inSync, sha } from './test/bound.ts'

forEachDialect((_name, open) => {
  test('an agent can have its own token: checked with the host, sealed, never sent to it', async () => {
    await using one = await bound(open, {})
    const { world, agent, owner } = one
    const pat = (method: string, body?: object) =>
      world.request(owner.key, method, '/api/agents/one/github-pat', body)
    assert.deepEqual((await pat('GET')).json, { agent_name: 'one', configured: false, source: 'none' })
    const refused = await pat('PUT', { pat: 'bad-token-canary' })
    assert.equal(refused.status, 422, JSON.stringify(refused.json))
    assert.doesNotMatch(JSON.stringify(refused.json), /canary/)
    await one.look()
    assert.equal((await one.call('GET', 'config')).json.source_mode, true)
    assert.deepEqual((await pat('PUT', { pat: 'tok-agent-canary' })).json, {
      ...{ agent_name: 'one', configured: true, source: 'agent' },
    })
    await one.look()
    assert.equal((await one.call('GET', 'config')).json.source_mode, false, 'the host accepts its pushes')
    const rows = await world.db
      .withTables<{ agent_git_tokens: { sealed: string } }>()
      .selectFrom('agent_git_tokens')
      .selectAll()
      .execute()
    assert.equal(rows.length, 1)
    assert.doesNotMatch(JSON.stringify([rows, world.link.calls]), /canary/)
    assert.equal((await pat('DELETE')).json.configured, false)
    await one.look()
    assert.equal((await one.call('GET', 'config')).json.source_mode, true)
    one.server.behave('redirect')
    assert.equal((await pat('PUT', { pat: 'tok-agent-canary' })).status, 502)
    const asAgent = await world.request(await world.agentKey(agent.id), 'GET', '/api/agents/one/github-pat')
    assert.equal(asAgent.status, 403)
  })

  test('an agent without a repository gets a new or existing one; 409 if it has one', async () => {
    await using one = await bound(open)
    const { world, owner, server } = one
    const existing = await one.call('POST', 'initialize', { repo_owner: 'acme', repo_name: 'x' })
    assert.deepEqual([existing.status, existing.json.error], [409, 'already_exists'])
    await world.request(owner.key, 'POST', '/api/agents', { name: 'plain' })
    const plain = await world.row('plain')
    world.link.link(plain.id, {
      'git.initialize': ({ branches, remote_url }) => ({
        end: one.script.end,
        state: { ...inSync, branch: branches.working, remote_url },
      }),
      'git.look': () => ({ state: inSync, failed: null }),
    })
    const initialize = (body: object) =>
      world.request(owner.key, 'POST', '/api/agents/plain/git/initialize', { repo_owner: 'acme', ...body })
    assert.equal((await initialize({ repo_name: '../x' })).status, 422)
    assert.equal((await initialize({ repo_name: 'none', create_repo: false })).json.error, 'not_found')
    one.script.end = { outcome: 'failed', message: 'The remote hung up.' }
    assert.equal((await initialize({ repo_name: 'made' })).json.error, 'upstream_error')
    assert.equal(
      (await world.request(owner.key, 'GET', '/api/agents/plain/git/config')).status,
      404,
      'a failure leaves no binding',
    )
    one.script.end = done
    const made = await initialize({ repo_name: 'made' })
    assert.equal(made.status, 200, JSON.stringify(made.json))
    assert.deepEqual(made.json, {
      success: true,
      message: 'The workspace has joined the repository.',
      github_repo: 'acme/made',
      working_branch: made.json.working_branch,
      repo_url: `${server.url}/acme/made`,
    })
    const config = (await world.request(owner.key, 'GET', '/api/agents/plain/git/config')).json
    assert.deepEqual(
      [config.github_repo, config.source_branch, config.source_mode, config.working_branch],
      ['acme/made', 'main', false, made.json.working_branch],
    )
    assert.equal((await world.row('plain')).github_repo, 'acme/made')
  })

  test('only people can bind an own repository; it stores its token, and a failure changes nothing', async () => {
    await using one = await bound(open, {})
    const { world, owner } = one
    const bind = one.call('POST', 'bind-to-own-repo', { destination_repo: 'acme/own' })
    assert.equal((await bind).json.error, 'human_only')
    const { git } = world.area
    const request = { repository: 'acme/own', mayCreate: true, isPrivate: true, description: null }
    const row = () => world.row('one')
    const status = async () => world.request(owner.key, 'GET', '/api/agents/one/github-pat')
    await assert.rejects(git.bindToOwn(await row(), request, null), (error) =>
      isFault(error, 'not_configured'),
    )
    await assert.rejects(git.bindToOwn(await row(), request, 'bad-1'), (error) =>
      isFault(error, 'validation_error'),
    )
    await assert.rejects(git.bindToOwn(await row(), request, 'read-1'), (error) =>
      isFault(error, 'validation_error'),
    )
    one.script.end = { outcome: 'failed', message: 'The remote hung up.' }
    await assert.rejects(git.bindToOwn(await row(), request, 'tok-1'), (error) =>
      isFault(error, 'upstream_error'),
    )
    assert.equal((await status()).json.source, 'none', 'the token of a failed binding is not stored')
    assert.equal((await one.call('GET', 'config')).json.github_repo, 'acme/helper')
    one.script.end = done
    const reply = await git.bindToOwn(await row(), request, 'tok-1')
    assert.deepEqual(reply, {
      agent_name: 'one',
      github_repo: 'acme/own',
      previous_repo: 'acme/helper',
      default_branch: 'main',
      private: true,
      created_repo: false,
      reused_existing: true,
      repo_url: reply.repo_url,
      message: 'Agent one is bound to acme/own.',
    })
    assert.equal((await status()).json.source, 'agent')
    assert.equal((await one.call('GET', 'config')).json.source_mode, false)
    assert.ok(!JSON.stringify(world.link.calls).includes('tok-1'))
    assert.equal((await git.settingsFor(await row()))?.sourceMode, false)
  })

  test('a reset reports the preserved files; 409 agent_busy while the agent is working', async () => {
    let busy = false
    await using one = await bound(open, { token: 'tok' }, { isBusy: () => busy })
    await one.look()
    const reset = await one.call('POST', 'reset-to-main-preserve-state')
    assert.deepEqual(reset.json, {
      success: true,
      snapshot_dir: '.roost/snapshots/x',
      commit_sha: sha,
      files_preserved: ['content/a.md'],
      working_branch: reset.json.working_branch,
    })
    busy = true
    assert.equal((await one.call('POST', 'reset-to-main-preserve-state')).json.error, 'agent_busy')
  })
})
