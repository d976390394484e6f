import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AskBody } from '@roost/contracts/operations/operator-queue'
import { forEachDialect } from '../../test/dialects.ts'
import { agentFact, resultOf } from '../../test/run-platform.ts'
import { operatorQueueStore } from './store.ts'
import { openQueueWorld, type QueueWorld, runOf } from './test/world.ts'

const question = { request_id: 'q1', title: 'Which colour?', question: 'Of the button.' }
const resume = (world: QueueWorld) =>
  world.queue.loops.find(({ name }) => name === 'operator-queue.resume')?.run(AbortSignal.any([]))

forEachDialect((_name, open) => {
  test('an answer starts one run with question and answer, however often the loop runs', async () => {
    await using world = await openQueueWorld(open)
    await world.switchResume(true)
    const { id } = (await world.ask(question)).json
    await world.respond(id, { response: 'green', response_text: 'not too dark' })
    await Promise.all([resume(world), resume(world), resume(world)])
    await world.queue.settled()
    const runs = (await world.executions()).filter(({ triggered_by }) => triggered_by === 'operator_response')
    assert.equal(runs.length, 1)
    for (const text of ['Which colour?', 'Of the button.', 'green', 'not too dark']) {
      assert.ok(runs[0]?.message.includes(text), text)
    }
    assert.equal((await world.get(`/api/operator-queue/${id}`)).execution_id, runs[0]?.id)

    const linked = { agentId: world.agentId, agentName: 'scout', keyId: 'k' }
    const { handlers } = world.runs.dispatch
    const { runs: claimed } = await handlers.claim(linked, { t: 'claim', free: 1 })
    const [run] = claimed
    assert.ok(run)
    await handlers.started(linked, { t: 'started', ...run, pid: 1 })
    await handlers.result(linked, resultOf(run))
    assert.equal((await world.get(`/api/operator-queue/${id}`)).status, 'acknowledged')
  })

  test('the run works for the person who answered, with or without an account', async () => {
    await using world = await openQueueWorld(open)
    await world.switchResume(true)
    const email = 'sam@example.org'
    const answer = { response: 'green', acknowledge_divergence: false }
    for (const [request_id, id] of [
      ['q1', null],
      ['q2', world.owner.id],
    ] as const) {
      const item = (await world.ask({ ...question, request_id, to_email: email })).json
      await world.queue.addressed.answer({ id, email }, [world.agentId], item.id, answer)
    }
    await world.queue.settled()
    const runs = await world.executions()
    assert.deepEqual(
      runs.map(({ principal }) => principal).toSorted(),
      [`email:${email}`, `user:${world.owner.id}`].toSorted(),
    )
  })

  test("the answer to a sharer's run starts a run with the sharer's rights", async () => {
    await using world = await openQueueWorld(open)
    await world.switchResume(true)
    const asker = { agent: { id: world.agentId, name: 'scout' }, caller: runOf(world.agentId, 'user:uma') }
    const { item } = await world.queue.asks.ask(asker, AskBody.parse(question))
    assert.equal((await world.respond(item.id, { response: 'green' })).status, 200)
    await world.queue.settled()
    const [run, ...more] = await world.executions()
    assert.deepEqual([run?.principal, more.length], ['user:uma', 0])
    assert.match(run?.message ?? '', /the request "q1"/)
  })

  test('the question of an entry in the workspace does not run with the rights of the owner', async () => {
    await using world = await openQueueWorld(open)
    await world.switchResume(true)
    const entry = { id: 'f1', title: 'Go on?', type: 'question', status: 'pending' }
    await world.queue.takeFile(world.agentId, { requests: [entry], fault: null })
    const [item] = (await world.get('/api/operator-queue')).items
    await world.respond(item.id, { response: 'yes' })
    await world.queue.settled()
    assert.deepEqual(
      (await world.executions()).map(({ principal }) => principal),
      [`agent:${world.agentId}`],
    )
  })

  test('without operator-resume no run starts and the agent reads the answer', async () => {
    await using world = await openQueueWorld(open)
    const { id } = (await world.ask(question)).json
    await world.respond(id, { response: 'green' })
    await world.switchResume(true)
    await resume(world)
    await world.queue.settled()
    assert.deepEqual(await world.executions(), [])
    assert.equal((await world.get(`/api/operator-queue/${id}`)).status, 'responded')
  })

  test('the run of a stopped agent waits until the agent takes runs again', async () => {
    await using world = await openQueueWorld(open)
    await world.switchResume(true)
    world.runs.agents.set(world.agentId, agentFact({ id: world.agentId, status: 'stopped' }))
    const { id } = (await world.ask(question)).json
    assert.equal((await world.respond(id, { response: 'green' })).status, 200)
    await world.queue.settled()
    assert.deepEqual(await world.executions(), [])
    world.runs.agents.set(world.agentId, agentFact({ id: world.agentId }))
    await resume(world)
    assert.equal((await world.executions()).length, 1)
  })

  test('due answers are read in pages, also those of one moment', async () => {
    await using world = await openQueueWorld(open)
    await world.switchResume(true)
    world.runs.agents.set(world.agentId, agentFact({ id: world.agentId, status: 'stopped' }))
    const ids: string[] = []
    for (const request_id of ['q1', 'q2', 'q3']) {
      const { id } = (await world.ask({ ...question, request_id })).json
      await world.respond(id, { response: 'green' })
      ids.push(id)
    }
    await world.queue.settled()
    const store = operatorQueueStore(world.db)
    const first = await store.toResume({ responded_at: '', id: '' }, 2)
    const last = first[1] ?? assert.fail('a page is full')
    const next = await store.toResume({ responded_at: last.responded_at ?? '', id: last.id }, 2)
    assert.deepEqual([...first, ...next].map(({ id }) => id).toSorted(), ids.toSorted())
  })
})
