/** Skills from a real git host, delivered to real agents. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type Files, type GitServer, startGitServer } from '@roost/test-support/git/index'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import { deliverToFleet, sizeOf } from './skill-fleet.ts'
import { createAgent, docker } from './steps.ts'

const name = 'qa-skills'
const skills = `/api/agents/${name}/skills`
let host: GitServer
let platform: Platform
let source: Loose
before(async () => {
  host = await startGitServer()
  platform = await startPlatform({ env: { ROOST_GIT_BASE_URL: host.url } })
  await createAgent(platform, name)
  // Waits until the work after the agent's connection is done, which would otherwise deliver the assignment.
  const inject = () => platform.request('POST', `${skills}/inject`, {})
  await eventually(inject, ({ status }) => status === 200)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await host?.[Symbol.asyncDispose]()
})
const inAgent = (script: string) => docker('exec', '-u', 'developer', `agent-${name}`, 'sh', '-c', script)
const delivered = (skill: string, status: string) =>
  eventually(
    async () => (await platform.request('GET', skills)).json as Loose[],
    (rows) => rows.some((row) => row.skill_name === skill && row.delivery_status === status),
  )

test('a library is read from the host; other addresses are 400, keys are refused', async () => {
  await host.commit('acme/lib', {
    'skills/alpha/SKILL.md': '---\ndescription: Does alpha\n---\n# Alpha\n',
    'skills/alpha/run.sh': { script: '#!/bin/sh\necho alpha\n' },
    'skills/alpha/passwd': { link: '/etc/passwd' },
    'skills/alpha/up': { link: '../../../..' },
    'skills/alpha/.env': 'EVIL=1\n',
    'skills/beta/SKILL.md': '# Beta\n',
  })
  await host.tag('acme/lib', 'v1', { message: 'one' })
  const body = { name: 'lib', url: `${host.url}/acme/lib.git`, ref: 'v1', ref_type: 'tag' }
  for (const over of [
    { url: 'https://example.org/a/b' },
    { url: 'file:///etc' },
    { ref: '--upload-pack=id' },
  ]) {
    const refused = await platform.request('POST', '/api/skills/sources', { ...body, ...over })
    assert.deepEqual([refused.status, refused.json.error], [400, 'invalid_skill_source'])
  }
  const made = await platform.request('POST', '/api/skills/sources', body)
  assert.equal(made.status, 201, made.text)
  source = made.json
  const { key } = (await platform.request('POST', '/api/mcp/keys', { name: 'skills' })).json
  const keyed = await platform.request('POST', '/api/skills/library/sync', {}, { token: key })
  assert.deepEqual([keyed.status, keyed.json.error], [403, 'human_only'])
  const synced = await platform.request('POST', `/api/skills/sources/${source.id}/sync`)
  assert.deepEqual([synced.status, synced.json.sources[0].status], [200, 'ok'], synced.text)
  const names = (await platform.request('GET', '/api/skills/library')).json.map((each: Loose) => each.name)
  for (const each of ['alpha', 'beta', 'weekly-report']) assert.ok(names.includes(each), each)
})

test('a skill assigned while running is injected byte by byte, without its links', async () => {
  const reply = await platform.request('POST', `${skills}/alpha`)
  assert.deepEqual([reply.status, reply.json.delivery.status], [200, 'injected'], reply.text)
  const warnings = reply.json.delivery.results.alpha.warnings.toSorted()
  assert.deepEqual(warnings, ['protected_name_skipped:.env', 'symlink_skipped:passwd', 'symlink_skipped:up'])
  const folder = '.claude/skills/alpha'
  assert.equal(
    await inAgent(`cd ~/${folder} && ls -A | sort | tr '\\n' ' '`),
    '.roost-skill.json SKILL.md run.sh',
  )
  assert.equal(await inAgent(`~/${folder}/run.sh`), 'alpha')
  for (const file of ['SKILL.md', 'run.sh']) {
    const sha = await host.git('acme/lib', 'rev-parse', `v1:skills/alpha/${file}`)
    assert.equal(await inAgent(`git hash-object ~/${folder}/${file}`), sha)
  }
  const manifest = JSON.parse(await inAgent(`cat ~/${folder}/.roost-skill.json`))
  assert.equal(manifest.version, await host.git('acme/lib', 'rev-parse', 'v1:skills/alpha'))
  assert.match(await inAgent('cat ~/.gitignore'), /\.claude\/skills\/alpha\//)
  const again = await platform.request('POST', `${skills}/inject`, {})
  assert.deepEqual([again.json.skills_skipped, again.json.skills_injected], [1, 0])
})

test('a moved tag changes neither library nor agents; a redirecting host fails the sync', async () => {
  await host.commit('acme/lib', { 'skills/alpha/SKILL.md': '# Evil\n' })
  await host.tag('acme/lib', 'v1', { message: 'moved' })
  const moved = await platform.request('POST', `/api/skills/sources/${source.id}/sync`)
  assert.equal(moved.json.sources[0].status, 'moved_tag', moved.text)
  assert.match((await platform.request('GET', '/api/skills/library/alpha')).json.content, /# Alpha/)
  host.behave('redirect')
  const failed = await platform.request('POST', `/api/skills/sources/${source.id}/sync`)
  assert.deepEqual([failed.status, failed.json.error], [400, 'sync_failed'])
  host.behave('well')
})

test('a skill assigned while stopped waits for the start, which also removes unassigned ones', async () => {
  await platform.request('POST', `/api/agents/${name}/stop`)
  const reply = await platform.request('POST', `${skills}/beta`)
  assert.equal(reply.json.delivery.status, 'pending_start', reply.text)
  const removed = await platform.request('DELETE', `${skills}/alpha`)
  assert.deepEqual([removed.json.removed, removed.json.removal.status], [true, 'deferred'])
  const stopped = await platform.request('POST', `${skills}/inject`, {})
  assert.deepEqual([stopped.status, stopped.json.error], [409, 'agent_stopped'])
  const started = await platform.request('POST', `/api/agents/${name}/start`)
  assert.deepEqual(
    [started.json.skills_injection?.status, started.json.skills_injection?.skills_injected],
    ['injected', 1],
    started.text,
  )
  await delivered('beta', 'injected')
  assert.equal(await inAgent('ls ~/.claude/skills'), 'beta')
})

/** `ROOST_TEST_SKILL_FLEET=20,5` tests a larger fleet. */
test('agents that restart during delivery end up with every byte, like all others', async (t) => {
  const skill = (name: string): Files => ({
    [`skills/${name}/SKILL.md`]: `---\ndescription: ${name}\n---\n# ${name}\n`,
    [`skills/${name}/bin/run.sh`]: { script: `#!/bin/sh\necho ${name}\n` },
    [`skills/${name}/data.bin`]: randomBytes(300_000),
  })
  const names = Array.from({ length: 8 }, (_, index) => `fleet-skill-${index}`)
  await host.commit('acme/fleet', Object.assign({}, ...names.map(skill)))
  const body = { name: 'fleet', url: `${host.url}/acme/fleet`, ref: 'main' }
  const made = await platform.request('POST', '/api/skills/sources', body)
  const synced = await platform.request('POST', `/api/skills/sources/${made.json.id}/sync`)
  assert.equal(synced.json.sources?.[0]?.status, 'ok', synced.text)
  const size = sizeOf(process.env.ROOST_TEST_SKILL_FLEET)
  const figures = await deliverToFleet(platform, host, { repository: 'acme/fleet', ...size })
  t.diagnostic(JSON.stringify(figures))
})
