import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentSettings } from '@roost/contracts/link/messages'
import { openTestDatabase } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'

test('running agents receive a changed ceiling: the lower of it and their own limit', async () => {
  await using world = await openAgents(await openTestDatabase())
  const owner = await world.person()
  await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  await world.request(owner.key, 'PUT', '/api/agents/helper/capacity', { max_parallel_tasks: 8 })
  const agent = await world.row('helper')
  const limits: number[] = []
  world.link.link(agent.id, {
    settings: ({ settings }: { settings: AgentSettings }) => {
      limits.push(settings.parallel_limit)
      return { ok: true }
    },
  })
  const loop = world.area.loops.find(({ name }) => name === 'agents.platform-settings')
  for (const ceiling of [10, 2, 2, 32]) {
    world.platform.ceiling = ceiling
    await loop?.run(new AbortController().signal)
  }
  assert.deepEqual(limits, [2, 8])
  assert.equal((await world.area.runContexts.find(agent.id))?.effective_slots, 8)
})
