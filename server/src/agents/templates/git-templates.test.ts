import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type GitServer, startGitServer } from '@roost/test-support/git/index'
import { treeOf } from '@roost/test-support/git/packs'
import { innerHosts, startTrap } from '@roost/test-support/inward'
import { type Fault, isFault } from '../../kit/fault.ts'
import { type Secret, secret } from '../../kit/secret.ts'
import { createGit } from '../../ports/git/binary.ts'
import { templatesFolder } from '../test/world.ts'
import { openTemplates } from './open.ts'

const yaml = 'name: helper\ndisplay_name: Helper\ndescription: From git\n'
let server: GitServer
let folder: string
before(async () => {
  server = await startGitServer()
  folder = await mkdtemp(join(tmpdir(), 'roost-git-templates-'))
})
after(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

function opened(options: { repositories?: string[]; token?: Secret } = {}) {
  const { repositories = [], token = null } = options
  const now = { value: new Date('2030-01-01T00:00:00Z') }
  const agents: { template: string; template_commit: string }[] = []
  const { templates, loops } = openTemplates({
    git: createGit({
      baseUrl: server.url,
      mayBeInner: true,
      folder: join(folder, 'git'),
      path: process.env.PATH ?? '',
    }),
    clock: { now: () => now.value },
    gitRepositories: async () => repositories,
    platformGitToken: () => token,
    agents: async () => agents,
    options: { templatesFolder, templateContentFolder: join(folder, 'contents'), gitBaseUrl: server.url },
  })
  const resolve = (given: string, own: Secret | null = null) => templates.resolve(given, async () => own)
  const sweep = () => loops[0]?.run(new AbortController().signal)
  return { templates, resolve, sweep, now, agents, repositories }
}
const unresolvable = (words: RegExp) => (error: unknown) =>
  isFault(error, 'template_unresolvable') && words.test((error as Fault).message)

test('a repository becomes a folder with its files, modes and inner links, at the named branch', async () => {
  const commit = await server.commit('acme/helper', {
    'template.yaml': yaml,
    'CLAUDE.md': '# Main\n',
    '.roost/setup.sh': { script: '#!/bin/sh\n' },
    'docs/readme': { link: '../CLAUDE.md' },
    '.env.example': 'CRM_TOKEN=\n',
  })
  await server.commit('acme/helper', { 'template.yaml': yaml, 'CLAUDE.md': '# Other\n' }, 'dev/x')
  const { resolve, templates } = opened()
  const template = await resolve('github:acme/helper')
  assert.deepEqual(template.git, { repository: 'acme/helper', branch: 'main', commit, leftOut: [] })
  assert.equal(template.id, 'github:acme/helper')
  assert.deepEqual(
    template.required.map(({ name }) => name),
    ['CRM_TOKEN'],
  )
  assert.equal(await readFile(join(template.folder, 'CLAUDE.md'), 'utf8'), '# Main\n')
  assert.equal(await readlink(join(template.folder, 'docs/readme')), '../CLAUDE.md')
  assert.equal((await stat(join(template.folder, '.roost/setup.sh'))).mode & 0o777, 0o755)
  assert.equal((await stat(join(template.folder, '.roost'))).mode & 0o777, 0o755)
  assert.ok(!(await readdir(template.folder)).includes('.git'))
  const other = await resolve('github:acme/helper@dev/x')
  assert.equal(await readFile(join(other.folder, 'CLAUDE.md'), 'utf8'), '# Other\n')
  const made = { template: 'github:acme/helper', template_commit: commit }
  assert.deepEqual(await templates.madeFrom(made), { name: 'helper', folder: template.folder })
  assert.equal((await templates.fileOf(made))?.file.display_name, 'Helper')
  assert.equal(await templates.madeFrom({ ...made, template_commit: '0'.repeat(40) }), null)
})

test('template_unresolvable: a file that unpacks to gigabytes', async () => {
  await server.plantPack('acme/gigabytes', (pack) => {
    const zeros = { name: 'data.bin', sha: pack.addPlain(8192) }
    const template = { name: 'template.yaml', sha: pack.add('blob', Buffer.from(yaml)) }
    return pack.add('tree', treeOf([zeros, template]))
  })
  await assert.rejects(opened().resolve('github:acme/gigabytes'), unresolvable(/exceeds the size limit/))
})

test('a template name always refers to the configured git host, whatever host it contains', async () => {
  using trap = await startTrap()
  const { resolve } = opened()
  for (const host of innerHosts) {
    const at = `${host}:${trap.port}`
    for (const name of [`github:${at}/x`, `github:http://${at}/a/b`, `http://${at}/a/b`, `github:a/b@${at}`])
      await assert.rejects(resolve(name), (error) => isFault(error), name)
  }
  assert.equal(trap.connections(), 0)
})

test('twenty concurrent reads unpack only one folder', async () => {
  await server.commit('acme/many', { 'template.yaml': yaml, 'a/b/c.txt': 'x' })
  const { resolve } = opened()
  const all = await Promise.all(Array.from({ length: 20 }, () => resolve('github:acme/many')))
  assert.equal(new Set(all.map((template) => template.folder)).size, 1)
  assert.deepEqual(
    (await readdir(join(folder, 'contents'))).filter((name) => name.startsWith('parts-')),
    [],
  )
})

test('400 names the missing or invalid item; 502 while the host is down', async () => {
  const { resolve } = opened()
  await server.commit('acme/plain', { 'README.md': 'x' })
  await assert.rejects(resolve('github:acme/plain'), unresolvable(/template\.yaml/))
  await assert.rejects(resolve('github:acme/nothing'), unresolvable(/repository does not exist/))
  await assert.rejects(resolve('github:acme/helper@nope'), unresolvable(/no such branch/))
  await assert.rejects(resolve('github:acme/helper@--upload-pack=id'), unresolvable(/branch/))
  await server.commit('acme/out', { 'template.yaml': yaml, secrets: { link: '../../etc/passwd' } })
  await assert.rejects(resolve('github:acme/out'), unresolvable(/"secrets" points outside/))
  await server.commit('acme/linked', { 'template.yaml': { link: '/etc/passwd' } })
  await assert.rejects(resolve('github:acme/linked'), unresolvable(/template\.yaml/))
  await server.commit('acme/keys', { 'template.yaml': yaml, '.ssh/authorized_keys': 'ssh-ed25519 x' })
  await assert.rejects(resolve('github:acme/keys'), unresolvable(/"\.ssh.*is reserved for the platform/))
  await server.commit('acme/broken', { 'template.yaml': 'name: [' })
  await assert.rejects(resolve('github:acme/broken'), unresolvable(/line 1/))
  await server.commit('acme/long', { 'template.yaml': `${yaml}# ${'x'.repeat(900_000)}` })
  await assert.rejects(resolve('github:acme/long'), unresolvable(/256 KiB/))
  server.behave('redirect')
  await assert.rejects(resolve('github:acme/helper'), (error) => isFault(error, 'upstream_error'))
  server.behave('well')
})

test('a token is sent only to a host that refused an anonymous request', async () => {
  const { resolve } = opened()
  const own = secret('tok-own-1')
  const from = server.requests.length
  await resolve('github:acme/helper', own)
  assert.ok(server.requests.slice(from).every(({ authorization }) => authorization === null))
  server.behave('private')
  await assert.rejects(resolve('github:acme/helper'), unresolvable(/it is private/))
  await resolve('github:acme/helper', own)
  const sent = server.requests.at(-1)?.authorization ?? ''
  assert.match(Buffer.from(sent.replace('Basic ', ''), 'base64').toString(), /:tok-own-1$/)
  server.behave('well')
})

test('the list is cached for ten minutes, reloaded on refresh, and keeps its entries while the host is down', async () => {
  await server.commit('acme/listed', { 'template.yaml': yaml, 'x.txt': '1' })
  const { templates, now } = opened({ repositories: ['acme/listed', 'acme/absent'] })
  const names = async () =>
    (await templates.list())
      .filter((each) => each.source === 'git')
      .map((each) => [each.display_name, each.metadata_unavailable])
  assert.deepEqual(await names(), [
    ['Helper', false],
    ['acme/absent', true],
  ])
  await server.commit('acme/listed', { 'template.yaml': yaml.replace('Helper', 'Second') })
  const from = server.requests.length
  assert.deepEqual((await names())[0], ['Helper', false])
  assert.equal(server.requests.length, from)
  now.value = new Date('2030-01-01T00:10:01Z')
  assert.deepEqual((await names())[0], ['Second', false])
  await server.commit('acme/listed', { 'template.yaml': yaml.replace('Helper', 'Third') })
  const refreshed = await templates.refresh()
  assert.deepEqual(
    refreshed.failed.map(({ id }) => id),
    ['github:acme/absent'],
  )
  assert.equal((await templates.get('github:acme/listed')).display_name, 'Third')
  server.behave('redirect')
  assert.equal((await templates.refresh()).failed.length, 2)
  assert.deepEqual((await names())[0], ['Third', false])
  server.behave('well')
  await assert.rejects(templates.get('github:acme/absent'), (error) => isFault(error, 'upstream_error'))
  await assert.rejects(templates.get('github:acme/unlisted'), (error) => isFault(error, 'template_not_found'))
})

test('contents are deleted an hour after their last use', async () => {
  const { resolve, sweep, now, agents, templates } = opened()
  const inUse = await resolve('github:acme/helper')
  await server.commit('acme/helper', { 'x.txt': 'later' })
  const unused = await resolve('github:acme/helper')
  agents.push({ template: 'github:acme/helper@main', template_commit: inUse.git?.commit ?? '' })
  now.value = new Date()
  await sweep()
  await stat(unused.folder)
  now.value = new Date(Date.now() + 61 * 60_000)
  await sweep()
  await assert.rejects(stat(unused.folder), { code: 'ENOENT' })
  assert.equal(
    (await templates.madeFrom(agents[0] ?? { template: null, template_commit: null }))?.folder,
    inUse.folder,
  )
})
