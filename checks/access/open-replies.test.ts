/** Open replies end when their caller loses access. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { openWorld, type World } from './world.ts'

let world: World
let owner: string
let path: string
before(async () => {
  world = await openWorld()
  owner = await world.person('owner@example.org', 'creator')
  // The agent program never connects, so the run stays queued and its stream open.
  await world.ok('POST', '/api/agents', { token: owner, body: { name: 'scout' } })
  const body = { message: 'wait', async_mode: true }
  const { execution_id } = await world.ok('POST', '/api/agents/scout/task', { token: owner, body })
  path = `/api/agents/scout/executions/${execution_id}/stream`
})
after(() => world?.[Symbol.asyncDispose]())

/** An open stream; `ended` resolves when the server ends it. */
async function follow(token: string): Promise<{ ended: Promise<void>; isEnded(): boolean }> {
  const signal = AbortSignal.timeout(120_000)
  let isOpen = false
  const request = fetch(world.url + path, { headers: { authorization: `Bearer ${token}` }, signal })
  void request.finally(() => (isOpen = true)).catch(() => {})
  // The first bytes are the heartbeat of an idle stream.
  while (!isOpen) {
    await nextTick()
    await world.clock.advance(1)
  }
  const response = await request
  assert.equal(response.status, 200)
  let hasEnded = false
  // An aborted response appears as a connection error.
  const ended = response.text().then(
    () => {},
    () => signal.throwIfAborted(),
  )
  return { ended: ended.finally(() => (hasEnded = true)), isEnded: () => hasEnded }
}

const share = (email: string) =>
  world.ok('POST', '/api/agents/scout/share', { token: owner, body: { email } })

test('after a suspension', async () => {
  const email = 'suspended-later@example.org'
  const token = await world.person(email, 'user')
  await share(email)
  const stream = await follow(token)
  const other = await follow(owner)
  await world.ok('POST', `/api/users/${email}/suspend`, { token: world.admin })
  await stream.ended
  assert.equal(other.isEnded(), false, 'other streams stay open')
})

test('after a demotion from admin', async () => {
  const email = 'admin-once@example.org'
  const stream = await follow(await world.person(email, 'admin'))
  await world.setRole(email, 'user')
  await stream.ended
})

test('after a logout', async () => {
  const token = await world.signInAdmin()
  const stream = await follow(token)
  await world.ok('POST', '/api/auth/logout', { token })
  await stream.ended
})

test('after the key was revoked', async () => {
  const { id, key } = await world.mint(owner, { name: 'short' })
  const stream = await follow(key)
  await world.ok('POST', `/api/mcp/keys/${id}/revoke`, { token: owner })
  await stream.ended
})

test('after the owner of an ops key was demoted', async () => {
  const email = 'ops-owner@example.org'
  const token = await world.person(email, 'admin')
  const { key } = await world.mint(token, { name: 'ops', scope: 'ops' })
  const stream = await follow(key)
  await world.setRole(email, 'creator')
  await stream.ended
})
