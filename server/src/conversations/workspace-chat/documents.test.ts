import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxInboxBytes } from '@roost/contracts/conversations/workspace-documents'
import type { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { holderOfAddress } from './principal.ts'
import { workspaceStore } from './store.ts'
import { openWorkspaceWorld, type WorkspaceWorld } from './test/world.ts'

const sam = 'sam@example.org'

/** Fake file operations of the agent. */
function fakeFiles(
  files: Map<string, Buffer>,
): Parameters<ReturnType<typeof createFakeAgentLink>['link']>[1] {
  const modified = '2026-01-01T00:00:00.000Z'
  return {
    'fs.write': ({ path, data_base64, offset }) => {
      const before = offset === 0 ? Buffer.alloc(0) : (files.get(path) ?? Buffer.alloc(0))
      files.set(path, Buffer.concat([before, Buffer.from(data_base64, 'base64')]))
      return { path, size: files.get(path)?.length ?? 0 }
    },
    'fs.stat': ({ path }) => ({ type: 'file', size: files.get(path)?.length ?? 0, modified, mode: 0o644 }),
    'fs.read': ({ path, offset, length }) => {
      const bytes = files.get(path) ?? Buffer.alloc(0)
      const piece = bytes.subarray(offset, offset + length)
      return {
        data_base64: piece.toString('base64'),
        size: bytes.length,
        eof: offset + piece.length >= bytes.length,
      }
    },
    'fs.delete': ({ path }) => {
      files.delete(path)
      return { path }
    },
  }
}

test('a person can upload, list, download and delete a document; others get 404', async () => {
  await using world = await openWorkspaceWorld(openTestDatabase)
  const files = new Map<string, Buffer>()
  world.agentLink.link(world.agentId, fakeFiles(files))
  await world.share(sam)
  await world.share('kim@example.org')
  const [token, other] = [await world.signIn(sam), await world.signIn('kim@example.org')]
  const content = Buffer.alloc(600_000, 'abc')
  const form = new FormData()
  form.set('file', new File([content], '../../plan?.txt'))
  const encoded = new Response(form)
  const reply = await world.request(
    token,
    'POST',
    '/agents/scout/documents',
    Buffer.from(await encoded.arrayBuffer()),
    {
      'content-type': encoded.headers.get('content-type') ?? '',
    },
  )
  assert.equal(reply.status, 201, JSON.stringify(reply.json))
  assert.deepEqual([reply.json.filename, reply.json.size_bytes], ['plan?.txt', content.length])
  assert.deepEqual(files.get('/home/developer/uploads/plan?.txt'), content)
  const path = `/agents/scout/documents/${reply.json.id}`
  assert.equal((await world.request(other, 'GET', path)).status, 404)
  const download = await world.request(token, 'GET', path)
  assert.deepEqual(download.bytes, content)
  assert.match(String(download.headers['content-disposition']), /^attachment/)
  assert.equal((await world.request(token, 'GET', '/agents/scout/documents')).json.documents.length, 1)
  assert.equal((await world.request(token, 'DELETE', path)).status, 204)
  assert.equal(files.size, 0)
  assert.deepEqual((await world.request(token, 'GET', '/agents/scout/documents')).json.documents, [])
})

/** Uploads a file as the person of this token. */
async function upload(world: WorkspaceWorld, token: string, name: string, bytes: Buffer) {
  const form = new FormData()
  form.set('file', new File([new Uint8Array(bytes)], name))
  const encoded = new Response(form)
  const body = Buffer.from(await encoded.arrayBuffer())
  const headers = { 'content-type': encoded.headers.get('content-type') ?? '' }
  return world.request(token, 'POST', '/agents/scout/documents', body, headers)
}

test('403 workspace_read_only for a reader, who neither uploads nor deletes and still reads', async () => {
  await using world = await openWorkspaceWorld(openTestDatabase)
  const files = new Map<string, Buffer>()
  world.agentLink.link(world.agentId, fakeFiles(files))
  await world.share(sam)
  const token = await world.signIn(sam)
  const { json } = await upload(world, token, 'plan.txt', Buffer.from('the plan'))
  assert.equal((await world.setAccess(sam, 'read')).status, 200)
  const refused = [
    await upload(world, token, 'more.txt', Buffer.from('more')),
    await world.request(token, 'DELETE', `/agents/scout/documents/${json.id}`),
  ]
  assert.deepEqual(
    refused.map((reply) => [reply.status, reply.json.error]),
    Array(2).fill([403, 'workspace_read_only']),
  )
  assert.deepEqual([...files.keys()], ['/home/developer/uploads/plan.txt'])
  assert.equal((await world.request(token, 'GET', `/agents/scout/documents/${json.id}`)).status, 200)
})

test('a document that reuses the path of a removed file belongs only to its new owner', async () => {
  await using world = await openWorkspaceWorld(openTestDatabase)
  const files = new Map<string, Buffer>()
  world.agentLink.link(world.agentId, fakeFiles(files))
  await world.share(sam)
  await world.share('kim@example.org')
  const [token, other] = [await world.signIn(sam), await world.signIn('kim@example.org')]
  const own = await upload(world, token, 'plan.txt', Buffer.from('mine'))
  files.clear()
  const othersDocument = await upload(world, other, 'plan.txt', Buffer.from('theirs'))
  assert.equal(othersDocument.json.path, own.json.path)
  for (const method of ['GET', 'DELETE'] as const) {
    const refused = await world.request(token, method, `/agents/scout/documents/${own.json.id}`)
    assert.deepEqual([refused.status, refused.json.error], [404, 'file_not_found'])
  }
  assert.deepEqual((await world.request(token, 'GET', '/agents/scout/documents')).json.documents, [])
  const download = await world.request(other, 'GET', `/agents/scout/documents/${othersDocument.json.id}`)
  assert.equal(String(download.bytes), 'theirs')
})

test('413 above 100 MB in total, even for two concurrent uploads, without a leftover file', async () => {
  await using world = await openWorkspaceWorld(openTestDatabase)
  const files = new Map<string, Buffer>()
  const agent = fakeFiles(files) ?? {}
  const { promise: both, resolve: go } = Promise.withResolvers<void>()
  world.agentLink.link(world.agentId, {
    ...agent,
    'fs.write': async (request) => {
      const answer = await agent['fs.write']?.(request)
      if (files.size === 2) go()
      await both
      return answer ?? assert.fail('it is written')
    },
  })
  await world.share(sam)
  const token = await world.signIn(sam)
  await workspaceStore(world.db).addDocument({
    id: 'large',
    agent_id: world.agentId,
    holder_id: holderOfAddress(sam),
    filename: 'large.bin',
    size_bytes: maxInboxBytes - 10,
    path: '/home/developer/uploads/large.bin',
    created_at: '2026-01-01T00:00:00.000Z',
  })
  const replies = await Promise.all(
    ['a.txt', 'b.txt'].map((name) => upload(world, token, name, Buffer.from('six by'))),
  )
  const [good, refused] = replies.toSorted((one, next) => one.status - next.status)
  assert.equal(good?.status, 201)
  assert.deepEqual([refused?.status, refused?.json.error], [413, 'file_too_large'])
  assert.deepEqual([...files.keys()], [good?.json.path])
})

test('422 for a body that is not a multipart form with a file; 413 above 25 MB', async () => {
  await using world = await openWorkspaceWorld(openTestDatabase)
  await world.share(sam)
  const token = await world.signIn(sam)
  const plain = await world.request(token, 'POST', '/agents/scout/documents', Buffer.from('x'), {
    'content-type': 'text/plain',
  })
  assert.equal(plain.status, 422)
  const form = new FormData()
  form.set('file', new File([Buffer.alloc(25 * 1024 * 1024 + 1)], 'big.bin'))
  const encoded = new Response(form)
  const big = await world.request(
    token,
    'POST',
    '/agents/scout/documents',
    Buffer.from(await encoded.arrayBuffer()),
    {
      'content-type': encoded.headers.get('content-type') ?? '',
    },
  )
  assert.deepEqual([big.status, big.json.error], [413, 'file_too_large'])
})
