import assert from 'node:assert/strict'
import { test } from 'node:test'
import { soak } from './test/soak.ts'

test('while sharing changes at random and clients come and go, nothing leaks and nothing is lost', async (t) => {
  const seed = Number(process.env.ROOST_TEST_SEED ?? Date.now() % 1_000_000)
  t.diagnostic(`seed ${seed}`)
  const { due } = await soak({ users: 24, agents: 10, events: 2_000 }, seed)
  t.diagnostic(`${due} deliveries were due`)
  assert.ok(due > 1_000, `too few deliveries were due: ${due}`)
})
