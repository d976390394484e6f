/** Replies that are still being given end when their caller may not have the rest. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as soon } from 'node:timers/promises'
import { openWorld, type World } from './world.ts'

let world: World
let owner: string
let path: string
before(async () => {
  world = await openWorld()
  owner = await world.person('owner@example.org', 'creator')
  // Its program never dials in, so what is asked of it waits and is followed for as long.
  await world.ok('POST', '/api/agents', { token: owner, body: { name: 'scout' } })
  const body = { message: 'wait', async_mode: true }
  const { execution_id } = await world.ok('POST', '/api/agents/scout/task', { token: owner, body })
  path = `/api/agents/scout/executions/${execution_id}/stream`
})
after(() => world?.[Symbol.asyncDispose]())

/** An open stream; `ended` resolves when the server ends it. */
async function follow(token: string): Promise<{ ended: Promise<void>; isOver(): boolean }> {
  const signal = AbortSignal.timeout(120_000)
  let isOpen = false
  const asked = fetch(world.url + path, { headers: { authorization: `Bearer ${token}` }, signal })
  void asked.finally(() => (isOpen = true)).catch(() => {})
  // The first bytes are the sign of life of a stream on which nothing happens.
  while (!isOpen) {
    await soon()
    await world.clock.advance(1)
  }
  const response = await asked
  assert.equal(response.status, 200)
  let over = false
  // A reply that is cut ends in a fault of the connection.
  const ended = response.text().then(
    () => {},
    () => signal.throwIfAborted(),
  )
  return { ended: ended.finally(() => (over = true)), isOver: () => over }
}

const share = (email: string) =>
  world.ok('POST', '/api/agents/scout/share', { token: owner, body: { email } })

test('suspended', async () => {
  const email = 'suspended-later@example.org'
  const token = await world.person(email, 'user')
  await share(email)
  const stream = await follow(token)
  const other = await follow(owner)
  await world.ok('POST', `/api/users/${email}/suspend`, { token: world.admin })
  await stream.ended
  assert.equal(other.isOver(), false, 'who was not touched reads on')
})

test('demoted from admin', async () => {
  const email = 'admin-once@example.org'
  const stream = await follow(await world.person(email, 'admin'))
  await world.setRole(email, 'user')
  await stream.ended
})

test('signed out', async () => {
  const token = await world.signInAdmin()
  const stream = await follow(token)
  await world.ok('POST', '/api/auth/logout', { token })
  await stream.ended
})

test('the key was revoked', async () => {
  const { id, key } = await world.mint(owner, { name: 'short' })
  const stream = await follow(key)
  await world.ok('POST', `/api/mcp/keys/${id}/revoke`, { token: owner })
  await stream.ended
})

test('the owner of an ops key was demoted', async () => {
  const email = 'ops-owner@example.org'
  const token = await world.person(email, 'admin')
  const { key } = await world.mint(token, { name: 'ops', scope: 'ops' })
  const stream = await follow(key)
  await world.setRole(email, 'creator')
  await stream.ended
})
