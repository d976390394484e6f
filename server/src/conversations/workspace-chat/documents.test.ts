import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { openWorkspaceWorld } from './test/world.ts'

const sam = 'sam@example.org'

/** The agent's end of file operations. */
function answers(files: Map<string, Buffer>): Parameters<ReturnType<typeof createFakeAgentLink>['link']>[1] {
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

test('a document is uploaded, listed, downloaded and taken back by its person alone', async () => {
  await using world = await openWorkspaceWorld(openTestDatabase)
  const files = new Map<string, Buffer>()
  world.agentLink.link(world.agentId, answers(files))
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

test('422 for what is no multipart form with a file; 413 above 25 MB', async () => {
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
