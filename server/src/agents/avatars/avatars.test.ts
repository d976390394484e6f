import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'
import { drawAvatar } from './drawing.ts'

test('the picture keeps its colours through a rename and shows the initials', () => {
  const before = drawAvatar('id', 'sales-helper')
  assert.match(before, />SH<\/text>/)
  assert.match(drawAvatar('id', 'x'), />X<\/text>/)
  assert.equal(before.replace('>SH<', '>RB<'), drawAvatar('id', 'research_bot'))
  assert.notEqual(before, drawAvatar('other', 'sales-helper'))
})

test('200 an image that can run nothing, where the row says it is', async () => {
  await using world = await openAgents(await openTestDatabase())
  const owner = await world.person()
  const { json } = await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  const reply = await world.request(owner.key, 'GET', json.avatar_url)
  assert.equal(reply.status, 200)
  assert.equal(reply.headers['content-type'], 'image/svg+xml')
  assert.match(String(reply.headers['content-security-policy']), /default-src 'none'/)
})
