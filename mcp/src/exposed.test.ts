import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '@roost/contracts/client'
import { createExposed } from './exposed.ts'

/** Agents of a platform, and which of them are published. */
function start() {
  const platform = { reached: ['scout'], published: ['scout'] }
  const clock = { now: () => 0 }
  const load = async () =>
    platform.published.map((name) => ({
      agent_name: name,
      tool_name: `chat_with_${name}`,
      description: name,
    }))
  const exposed = createExposed({ load, clock, onLost: assert.fail })
  // Of the whole API this asks for the agents in reach alone.
  const api = { call: async () => platform.reached.map((name) => ({ name })) } as unknown as Client
  const caller = { key: facts, api }
  const names = async () => (await exposed.toolsFor(caller)).map(({ name }) => name)
  return { platform, exposed, names }
}
const facts = {
  valid: true as const,
  key_id: 'k1',
  key_name: 'mine',
  scope: 'user' as const,
  user_id: 'u1',
  user_email: null,
  role: 'user' as const,
  agent_name: null,
}

test('who is told of a change and asks at once sees the new name, though the agents in reach were just asked', async () => {
  const { platform, exposed, names } = start()
  await exposed.refresh()
  assert.deepEqual(await names(), ['chat_with_scout'])
  Object.assign(platform, { reached: ['explorer'], published: ['explorer'] })
  assert.equal(await exposed.refresh(), true)
  assert.deepEqual(await names(), ['chat_with_explorer'])
  assert.equal(await exposed.refresh(), false)
})
