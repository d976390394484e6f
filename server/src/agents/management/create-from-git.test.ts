import assert from 'node:assert/strict'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGitServer } from '@roost/test-support/git/index'
import { forEachDialect } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'

const yaml = [
  'name: helper',
  'display_name: Helper',
  'description: From git',
  'type: git-helper',
  'tags: [from-git]',
  'credentials: {env_file: [CRM_TOKEN]}',
  'shared_folders: {expose: true}',
  'schedules: [{name: daily, cron: "0 8 * * *", message: go}, {name: odd, cron: "@daily", message: go}]',
].join('\n')

forEachDialect((_name, open) => {
  test('200 an agent from a repository: its content is unpacked and its metadata is stored', async () => {
    await using server = await startGitServer()
    const commit = await server.commit(
      'acme/helper',
      { 'template.yaml': yaml, 'CLAUDE.md': '# Git\n' },
      'dev',
    )
    await using world = await openAgents(await open(), { git: { url: server.url } })
    const owner = await world.person()
    const create = (name: string, body: object) =>
      world.request(owner.key, 'POST', '/api/agents', { name, ...body })
    const reply = await create('one', { template: 'github:acme/helper@dev' })
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    const { template, github_repo, type, tags, missing_credentials, schedule_errors } = reply.json
    assert.deepEqual(
      { template, github_repo, type, tags, missing_credentials, schedules: schedule_errors.length },
      {
        template: 'github:acme/helper@dev',
        github_repo: 'acme/helper',
        type: 'git-helper',
        tags: ['from-git'],
        missing_credentials: ['CRM_TOKEN'],
        schedules: 1,
      },
    )
    const row = await world.row('one')
    assert.deepEqual([row.template_commit, row.source_branch], [commit, 'dev'])
    assert.deepEqual([row.expose_folder, row.consume_folders], [true, false])
    const source = await world.area.templates.madeFrom(row)
    assert.equal(await readFile(join(source?.folder ?? '', 'CLAUDE.md'), 'utf8'), '# Git\n')
    const info = await world.request(owner.key, 'GET', '/api/agents/one/info')
    assert.deepEqual([info.json.has_template, info.json.display_name], [true, 'Helper'])

    const short = await create('two', { github_repo: 'acme/helper', source_branch: 'dev' })
    assert.equal(short.json.template, 'github:acme/helper@dev', JSON.stringify(short.json))
    // The content of a commit stays, even if the branch changes.
    await server.commit('acme/helper', { 'CLAUDE.md': '# Later\n' }, 'dev')
    await access(source?.folder ?? '')
  })

  test('400 and 502 before anything of the agent exists', async () => {
    await using server = await startGitServer()
    await server.commit('acme/plain', { 'README.md': 'x' })
    await server.commit('acme/out', { 'template.yaml': yaml, etc: { link: '/etc' } })
    await using world = await openAgents(await open(), { git: { url: server.url } })
    const owner = await world.person()
    const create = async (body: object) => {
      const { status, json } = await world.request(owner.key, 'POST', '/api/agents', { name: 'x', ...body })
      return [status, json.error]
    }
    const unresolvable = [400, 'template_unresolvable']
    for (const body of [
      { template: 'github:acme/none' },
      { template: 'github:acme/plain' },
      { template: 'github:acme/out' },
      { github_repo: 'acme/plain', source_branch: 'none' },
      { template: 'github:acme/../x' },
    ]) {
      assert.deepEqual(await create(body), unresolvable, JSON.stringify(body))
    }
    const two = { template: 'business-assistant', github_repo: 'acme/out' }
    assert.deepEqual(await create(two), [422, 'validation_error'])
    server.behave('redirect')
    assert.deepEqual(await create({ template: 'github:acme/out' }), [502, 'upstream_error'])
    await world.assertNothingLeft()
  })

  test('500 a failing engine leaves nothing of an agent from git either', async () => {
    await using server = await startGitServer()
    await server.commit('acme/helper', { 'template.yaml': yaml })
    await using world = await openAgents(await open(), { git: { url: server.url } })
    const owner = await world.person()
    world.engine.failNext('start', 'engine_fault')
    const body = { name: 'unlucky', template: 'github:acme/helper' }
    const reply = await world.request(owner.key, 'POST', '/api/agents', body)
    assert.equal(reply.json.error, 'container_engine_error')
    await world.assertNothingLeft()
    assert.equal((await world.request(owner.key, 'POST', '/api/agents', body)).status, 200)
  })
})
