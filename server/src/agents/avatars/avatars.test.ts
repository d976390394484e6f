import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'
import { drawAvatar } from './drawing.ts'

test('a drawn avatar keeps its colours after a rename and shows the initials', () => {
  const before = drawAvatar('id', 'sales-helper')
  assert.match(before, />SH<\/text>/)
  assert.match(drawAvatar('id', 'x'), />X<\/text>/)
  assert.equal(before.replace('>SH<', '>RB<'), drawAvatar('id', 'research_bot'))
  assert.match(drawAvatar('id', '<b>&Émile "Q"'), />BÉ<\/text>/)
  assert.match(drawAvatar('id', '&<>'), /><\/text>/)
  assert.notEqual(before, drawAvatar('other', 'sales-helper'))
})

test("200 an image that cannot execute script, at the agent's avatar_url", async () => {
  await using world = await openAgents(await openTestDatabase())
  const owner = await world.person()
  const { json } = await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  const reply = await world.request(owner.key, 'GET', json.avatar_url)
  assert.equal(reply.status, 200)
  assert.equal(reply.headers['content-type'], 'image/svg+xml')
  assert.match(String(reply.headers['content-security-policy']), /default-src 'none'/)
  assert.equal(reply.headers['cache-control'], 'private, no-cache')
})

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), Buffer.alloc(64)])
const webp = Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1')
const jpeg = Buffer.from('\xff\xd8\xff\xe0', 'latin1')

test('200 the type of an avatar follows its bytes, until it is deleted', async () => {
  await using world = await openAgents(await openTestDatabase())
  const owner = await world.person()
  const { json } = await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  const headers = { 'content-type': 'text/html' }
  for (const [bytes, type] of [
    [png, 'image/png'],
    [webp, 'image/webp'],
    [jpeg, 'image/jpeg'],
  ] as const) {
    const set = await world.request(owner.key, 'PUT', json.avatar_url, bytes, headers)
    assert.deepEqual([set.status, set.json], [200, { agent_name: 'helper', avatar_url: json.avatar_url }])
    const got = await world.request(owner.key, 'GET', json.avatar_url)
    assert.equal(got.headers['content-type'], type)
    assert.deepEqual(got.bytes, bytes)
  }
  assert.equal((await world.request(owner.key, 'DELETE', json.avatar_url)).status, 200)
  const drawn = await world.request(owner.key, 'GET', json.avatar_url)
  assert.equal(drawn.headers['content-type'], 'image/svg+xml')
})

test('415 for anything other than an image, 413 above 1 MiB', async () => {
  await using world = await openAgents(await openTestDatabase())
  const owner = await world.person()
  const { json } = await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  for (const text of ['<svg xmlns="http://www.w3.org/2000/svg"/>', '', 'GIF89a', 'RIFF']) {
    const { status } = await world.request(owner.key, 'PUT', json.avatar_url, Buffer.from(text))
    assert.equal(status, 415, text)
  }
  const large = Buffer.concat([png, Buffer.alloc(1024 * 1024)])
  assert.equal((await world.request(owner.key, 'PUT', json.avatar_url, large)).status, 413)
})
