import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileChunkBytes, templateAbility } from '@roost/contracts/link/messages'
import { startGitServer } from '@roost/test-support/git/index'
import { secret } from '../../kit/secret.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import { createGit } from '../../ports/git/binary.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { openAgents, templatesFolder } from '../test/world.ts'
import { createTemplateDelivery, type TemplateDelivery } from './delivery.ts'
import { openTemplates } from './open.ts'

type World = Awaited<ReturnType<typeof openAgents>>

async function open(options: Parameters<typeof openAgents>[1] = {}) {
  const world = await openAgents(await openTestDatabase(), options)
  const { key } = await world.person()
  const create = async (name: string, body: object = {}) => {
    const { status, json } = await world.request(key, 'POST', '/api/agents', { name, ...body })
    assert.equal(status, 200, JSON.stringify(json))
    return world.row(name)
  }
  return { world, create, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

/** Another process of the platform with the same database and a data folder of its own. */
async function otherProcess(world: World, url: string, token: string | null = null) {
  const folder = await mkdtemp(join(tmpdir(), 'roost-delivery-'))
  const { clock } = world
  const { templates } = openTemplates({
    git: createGit({
      baseUrl: url,
      mayBeInner: true,
      folder: join(folder, 'git'),
      path: process.env.PATH ?? '',
    }),
    clock,
    gitRepositories: async () => [],
    platformGitToken: () => null,
    agents: async () => [],
    options: { templatesFolder, templateContentFolder: join(folder, 'contents'), gitBaseUrl: url },
  })
  const { alerts, raised } = createTestAlerts()
  const delivery = createTemplateDelivery({
    db: world.db,
    clock,
    log: silentLog,
    agentRecords: world.area.agentRecords,
    templates,
    gitTokenOf: async () => (token === null ? null : secret(token)),
    link: world.link,
    alerts,
  })
  return { delivery, raised, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

async function received(delivery: Pick<TemplateDelivery, 'read'>, agentId: string) {
  const pieces: Buffer[] = []
  let version: string | null = null
  let offset = 0
  for (;;) {
    const answer = await delivery.read(agentId, { version, offset })
    const bytes = Buffer.from(answer.data_base64, 'base64')
    assert.ok(bytes.length > 0 && bytes.length <= fileChunkBytes)
    pieces.push(bytes)
    version = answer.version
    offset += bytes.length
    if (offset === answer.size) return { archive: Buffer.concat(pieces), chunks: pieces.length, version }
  }
}
const fileIn = (archive: Buffer, path: string) =>
  String(spawnSync('tar', ['--extract', '--to-stdout', path], { input: archive, maxBuffer: 2 ** 24 }).stdout)

const later = (error: unknown) => error instanceof LinkFault && error.code === 'io_error'
const yaml = 'name: helper\ndisplay_name: Helper\ndescription: From git\n'

test('a bundled template arrives in one piece; without a template there is nothing', async () => {
  await using it = await open()
  const { id } = await it.create('one', { template: 'business-assistant' })
  const { archive, version } = await received(it.world.area.templateDelivery, id)
  const file = join(templatesFolder, 'business-assistant/CLAUDE.md')
  assert.equal(fileIn(archive, 'CLAUDE.md'), await readFile(file, 'utf8'))
  assert.match(version ?? '', /^[0-9a-f]{32}$/)
  const plain = await it.create('two')
  const request = { version: null, offset: 0 }
  assert.deepEqual(await it.world.area.templateDelivery.read(plain.id, request), {
    version: null,
    size: 0,
    data_base64: '',
  })
})

test('another process fetches a git template again, at the commit of the agent and with its token', async () => {
  await using server = await startGitServer()
  const large = 'line of a large file\n'.repeat(50_000)
  await server.commit('acme/helper', { 'template.yaml': yaml, 'large.txt': large })
  await using it = await open({ git: { url: server.url } })
  const { id } = await it.create('one', { template: 'github:acme/helper' })
  const first = await received(it.world.area.templateDelivery, id)
  assert.ok(first.chunks >= 4)
  await server.commit('acme/helper', { 'large.txt': 'changed later' })
  server.behave('private')
  await using without = await otherProcess(it.world, server.url)
  // Without access to the repository this is not different from a deleted one.
  assert.equal((await without.delivery.read(id, { version: null, offset: 0 })).version, null)
  assert.deepEqual(
    without.raised.map(({ kind, context }) => [kind, context.cause]),
    [['template_missing', 'gone']],
  )
  await using other = await otherProcess(it.world, server.url, 'token')
  const { archive } = await received(other.delivery, id)
  assert.ok(archive.equals(first.archive), 'the same bytes in every process')
  assert.equal(fileIn(archive, 'large.txt'), large)
  // A delivery that began at another process starts again, because times of files differ.
  const moved = await other.delivery.read(id, { version: first.version, offset: fileChunkBytes })
  assert.notEqual(moved.version, first.version)
  assert.ok(first.archive.subarray(0, fileChunkBytes).equals(Buffer.from(moved.data_base64, 'base64')))
})

test('the agent asks again while the git host is down, and while nobody knows the agent', async () => {
  await using server = await startGitServer()
  await server.commit('acme/helper', { 'template.yaml': yaml })
  await using it = await open({ git: { url: server.url } })
  const { id } = await it.create('one', { template: 'github:acme/helper' })
  await using other = await otherProcess(it.world, 'http://127.0.0.1:1')
  const request = { version: null, offset: 0 }
  await assert.rejects(other.delivery.read(id, request), later)
  await assert.rejects(other.delivery.read('unknown', request), later)
})

test('offsets beyond the end and foreign versions never fail', async () => {
  await using it = await open()
  const { id } = await it.create('one', { template: 'business-assistant' })
  const { read } = it.world.area.templateDelivery
  const { version, size } = await read(id, { version: null, offset: 0 })
  for (const offset of [size, size + 1, Number.MAX_SAFE_INTEGER])
    assert.equal((await read(id, { version, offset })).data_base64, '')
  assert.notEqual((await read(id, { version: 'x', offset: Number.MAX_SAFE_INTEGER })).data_base64, '')
})

test('an alert names an agent whose program is too old to ask for its template', async () => {
  await using it = await open()
  const { world } = it
  await using other = await otherProcess(world, 'http://127.0.0.1:1')
  const { delivery, raised } = other
  const made = await it.create('one', { template: 'business-assistant' })
  const plain = await it.create('two')
  let hasTemplate = false
  const answers = {
    'fs.stat': () => {
      if (hasTemplate) return { type: 'file' as const, size: 1, modified: '', mode: 0o644 }
      throw new LinkFault({ code: 'file_not_found', message: 'no' })
    },
  }
  for (const { id } of [made, plain]) world.link.link(id, answers)
  delivery.greeted(made.id, { abilities: [templateAbility] })
  await delivery.connected(made.id)
  delivery.greeted(plain.id, {})
  await delivery.connected(plain.id)
  assert.deepEqual(raised, [])
  // A container of the earlier release has had its template inside.
  hasTemplate = true
  delivery.greeted(made.id, {})
  await delivery.connected(made.id)
  assert.deepEqual(raised, [])
  hasTemplate = false
  await delivery.connected(made.id)
  assert.deepEqual(
    raised.map(({ agentId, kind }) => [agentId, kind]),
    [[made.id, 'template_missing']],
  )
})
