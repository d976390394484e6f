import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { endpoints } from '@roost/contracts'
import { fastify } from 'fastify'
import { serveDocs } from './docs.ts'

function app() {
  const created = fastify()
  serveDocs(created, endpoints, '9.9.9')
  return created
}

test('the document contains every endpoint and the running version', async () => {
  const document = (await app().inject('/openapi.json')).json() as {
    info: { version: string }
    paths: Record<string, Record<string, unknown>>
  }
  assert.equal(document.info.version, '9.9.9')
  for (const { method, path } of endpoints)
    assert.ok(document.paths[path]?.[method.toLowerCase()], `${method} ${path}`)
})

test('each encoding of the document has its own ETag, and 304 for a client that holds it', async () => {
  const server = app()
  const get = (headers: Record<string, string>) => server.inject({ url: '/openapi.json', headers })
  const plain = await get({})
  const forms = [
    { accepted: 'br', decode: brotliDecompressSync },
    { accepted: 'gzip', decode: gunzipSync },
  ]
  const tags = new Set([plain.headers.etag])
  for (const { accepted, decode } of forms) {
    const sent = await get({ 'accept-encoding': accepted })
    assert.equal(sent.headers['content-encoding'], accepted)
    assert.equal(sent.headers.vary, 'accept-encoding')
    assert.ok(sent.rawPayload.byteLength < plain.rawPayload.byteLength / 5)
    assert.equal(decode(sent.rawPayload).toString(), plain.payload)
    const etag = String(sent.headers.etag)
    tags.add(etag)
    const known = await get({ 'accept-encoding': accepted, 'if-none-match': `"other", W/${etag}` })
    assert.equal(known.statusCode, 304)
    assert.equal(known.rawPayload.byteLength, 0)
    assert.equal(known.headers.etag, etag)
    const otherForm = await get({ 'if-none-match': etag })
    assert.equal(otherForm.statusCode, 200)
  }
  assert.equal(tags.size, 3)
})
