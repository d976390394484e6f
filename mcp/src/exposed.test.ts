import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '@roost/contracts/client'
import { createExposed } from './exposed.ts'

/** A platform with agents, some of them published. */
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
  // The only request is the list of visible agents.
  const api = { call: async () => platform.reached.map((name) => ({ name })) } as unknown as Client
  const caller = { key: fields, api }
  const names = async () => (await exposed.toolsFor(caller)).map(({ name }) => name)
  return { platform, exposed, names }
}
const fields = {
  valid: true as const,
  key_id: 'k1',
  key_name: 'mine',
  scope: 'user' as const,
  user_id: 'u1',
  user_email: null,
  role: 'user' as const,
  agent_name: null,
}

test('a client that lists tools right after a change sees the new name, despite the cache', async () => {
  const { platform, exposed, names } = start()
  await exposed.refresh()
  assert.deepEqual(await names(), ['chat_with_scout'])
  Object.assign(platform, { reached: ['explorer'], published: ['explorer'] })
  assert.equal(await exposed.refresh(), true)
  assert.deepEqual(await names(), ['chat_with_explorer'])
  assert.equal(await exposed.refresh(), false)
})
