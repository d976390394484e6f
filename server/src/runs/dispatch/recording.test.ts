import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StartedRun } from '../../agents/history/index.ts'
import { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { accept, agentFact, linked, resultOf, startRunPlatform } from '../../test/run-platform.ts'

/** A recording that notes its calls; `mayClaim` answers with `isReady`. */
async function start() {
  const steps: string[] = []
  const started: StartedRun[] = []
  const state = { isReady: true, isOn: true }
  const link = createFakeAgentLink()
  const platform = await startRunPlatform({
    db: await openTestDatabase(),
    link,
    recording: {
      isOn: async () => state.isOn,
      async mayClaim(_, { running, isWaiting }) {
        steps.push(`claim with ${running.length} running and ${isWaiting ? 'one' : 'none'} waiting`)
        return state.isReady
      },
      async started(_, runs) {
        steps.push(`started ${runs.length}`)
        started.push(...runs)
      },
    },
  })
  platform.agents.set('a1', agentFact({ effective_slots: 2 }))
  const { handlers } = platform.dispatch
  const claim = async () => (await handlers.claim(linked, { t: 'claim', free: 2 })).runs
  return { ...{ platform, link, steps, started, state, claim }, result: handlers.result }
}

test('a workspace is recorded between a result and the next claim', async () => {
  const t = await start()
  await accept(t.platform)
  const [run] = await t.claim()
  await accept(t.platform)
  const [, next] = await Promise.all([t.result(linked, resultOf(run ?? assert.fail())), t.claim()])
  assert.equal(next.length, 1)
  assert.deepEqual(t.steps, [
    'claim with 0 running and one waiting',
    'started 1',
    'claim with 0 running and one waiting',
    'started 1',
  ])
})

test('a result wakes its agent only if no claim follows it already', async () => {
  const t = await start()
  for (let number = 0; number < 2; number += 1) await accept(t.platform)
  const [first, second] = await t.claim()
  const wakes = () => t.link.calls.filter((call) => call.t === 'wake').length
  const before = wakes()
  await Promise.all([t.result(linked, resultOf(first ?? assert.fail())), t.claim()])
  assert.equal(wakes(), before)
  await t.result(linked, resultOf(second ?? assert.fail()))
  assert.equal(wakes(), before + 1)
})

test('nothing is handed out before its record, and nothing without a waiting run', async () => {
  const t = await start()
  assert.deepEqual(await t.claim(), [])
  const { id } = await accept(t.platform)
  t.state.isReady = false
  assert.deepEqual(await t.claim(), [])
  assert.equal((await t.platform.row(id)).status, 'queued')
  t.state.isReady = true
  assert.equal((await t.claim()).length, 1)
  assert.equal(t.steps.filter((step) => step.startsWith('started')).length, 1)
})

test('a run of somebody who only reads is named as such', async () => {
  const t = await start()
  const { id } = await accept(t.platform)
  const { principal } = await t.platform.row(id)
  t.platform.principals.set(principal ?? '', { id: principal ?? '', access: 'read', credentials: false })
  await t.claim()
  assert.deepEqual(t.started, [{ id, mayWrite: false, isOwners: false }])
})

test('without records, a result and the next claim share a transaction as before', async () => {
  const t = await start()
  t.state.isOn = false
  await accept(t.platform)
  const [run] = await t.claim()
  await accept(t.platform)
  const [, next] = await Promise.all([t.result(linked, resultOf(run ?? assert.fail())), t.claim()])
  assert.equal(next.length, 1)
  assert.deepEqual(t.steps, ['started 1', 'started 1'])
})
