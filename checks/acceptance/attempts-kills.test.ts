/** Attempts at one task, in real containers: what a kill of the platform loses, and what many sets leave. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { attemptsOf, hasEnded, isDone } from './attempts-steps.ts'
import { dockerOnly } from './engine.ts'
import { eventually, type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

const agent = 'qa-attempts-kept'
let platform: Platform
let steps: ReturnType<typeof attemptsOf>
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, agent)
  steps = attemptsOf(platform, agent)
})
after(() => platform?.[Symbol.asyncDispose]())

async function killAndStart(): Promise<void> {
  await platform.killApi()
  await platform.startApi()
  platform.token = await signIn(platform)
}

const order = ['waiting', 'forking', 'running', 'recording', 'checking', 'done', 'failed', 'cancelled']

test('kills while forks are made, work, are checked and are kept lose and repeat nothing', async () => {
  const message = '[[tool:Bash:sleep 2; echo once >> killed.txt]] [[reply:ok]]'
  const check = 'echo checked >> checks.txt; sleep 3; cat killed.txt checks.txt'
  const id = await steps.start({ messages: [message], repeats: 3, check })
  for (const status of ['forking', 'running', 'checking']) {
    const isReached = (attempt: Loose) => order.indexOf(attempt.status) >= order.indexOf(status)
    await steps.until(id, ({ attempts }) => attempts.some(isReached))
    await killAndStart()
  }
  const done = await steps.until(id, isDone)
  assert.deepEqual(
    done.attempts.map(({ status, check }: Loose) => [status, check?.output]),
    Array.from({ length: 3 }, () => ['done', 'once\nchecked\n']),
    JSON.stringify(done),
  )
  const runs = steps.rows(`select execution_id from attempts where set_id = '${id}'`)
  assert.equal(new Set(runs.map(({ execution_id }) => execution_id)).size, 3)
  assert.deepEqual(steps.rows(`select id from executions where message = '${message}'`).length, 3)

  await platform.request('POST', `${steps.url}/${id}/keep`, { attempt: 3 })
  await killAndStart()
  const kept = await steps.until(id, (set) => hasEnded(set) || set.keep?.state === 'failed')
  if (kept.status !== 'kept') {
    assert.equal((await steps.read('killed.txt')).includes('once'), false)
    const again = await platform.request('POST', `${steps.url}/${id}/keep`, { attempt: 3 })
    assert.equal(again.status, 202, again.text)
  }
  assert.equal((await steps.until(id, hasEnded)).status, 'kept')
  assert.equal(await steps.read('killed.txt'), 'once\n')
  await steps.assertNothingLeft()
})

const rounds = Number(process.env.ROOST_TEST_ATTEMPT_ROUNDS ?? 1)

test('rounds of eight attempts leave no container, volume or byte behind', {
  skip: dockerOnly,
}, async (t) => {
  const before = await steps.refs()
  const objects = await steps.engineObjects()
  const sets = steps.rows('select id from attempt_sets')
  for (let round = 0; round < rounds; round += 1) {
    const message = `[[tool:Bash:head -c 100000 /dev/urandom > round.bin]] [[reply:ok]]`
    const startedAt = performance.now()
    const id = await steps.start({ messages: [message], repeats: 8 })
    const isAtWork = ({ status }: Loose) => order.indexOf(status) >= order.indexOf('running')
    await steps.until(id, ({ attempts }) => attempts.every(isAtWork))
    t.diagnostic(`eight attempts work after ${Math.round(performance.now() - startedAt)} ms`)
    const done = await steps.until(id, isDone)
    assert.ok(
      done.attempts.every(({ status }: Loose) => status === 'done'),
      JSON.stringify(done),
    )
    await platform.request('POST', `${steps.url}/${id}/discard`)
    await steps.until(id, hasEnded)
    assert.equal((await platform.request('DELETE', `${steps.url}/${id}`)).status, 200)
  }
  await steps.assertNothingLeft()
  assert.deepEqual(await eventually(steps.engineObjects, (now) => now.length <= objects.length), objects)
  assert.deepEqual(steps.rows('select id from workspace_bases'), [])
  assert.deepEqual(steps.rows('select id from attempt_sets'), sets)
  // Each set leaves the record of its base.
  assert.equal((await steps.refs()).length, before.length + rounds)
})
