import assert from 'node:assert/strict'
import { test } from 'node:test'
import { soak } from './test/soak.ts'

test('under random sharing and reconnects, no event leaks and none is lost', async (t) => {
  const seed = Number(process.env.ROOST_TEST_SEED ?? Date.now() % 1_000_000)
  t.diagnostic(`seed ${seed}`)
  const { due } = await soak({ users: 24, agents: 10, events: 2_000 }, seed)
  t.diagnostic(`${due} deliveries were due`)
  assert.ok(due > 1_000, `too few deliveries were due: ${due}`)
})
