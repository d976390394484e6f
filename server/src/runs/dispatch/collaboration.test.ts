import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { accept, agentFact, person, startRunPlatform } from '../../test/run-platform.ts'
import { type RunRequest, sourceOf } from './request.ts'

const calledBy = (agent_id: string) =>
  sourceOf(
    { kind: 'key', user: person().user, key: { id: 'k', name: 'k', scope: 'agent', agent_id } },
    'caller',
  )

async function start() {
  const db = await openTestDatabase()
  const platform = await startRunPlatform({ db })
  const calls = async () => {
    await platform.events.relaying.pass()
    const events = await platform.events.after(0, 1000)
    return events.filter(({ type }) => type === 'agent.collaboration')
  }
  return { ...platform, calls, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
}

test('a chat turn, a task and a loop of one agent on another are events that name both', async () => {
  await using it = await start()
  const calls: [Partial<RunRequest>, string][] = [
    [{ kind: 'chat' }, 'chat'],
    [{ kind: 'task' }, 'task'],
    [{ kind: 'task', links: { loopId: 'l1' } }, 'loop'],
  ]
  for (const [request, action] of calls) {
    const row = await accept(it, { ...request, triggeredBy: 'agent', source: calledBy('a2') })
    const event = (await it.calls()).at(-1)
    assert.deepEqual(event?.fields, {
      source_agent: 'caller',
      target_agent: 'scout',
      action,
      execution_id: row.id,
    })
    assert.deepEqual(
      [event?.agent_ids, event?.agent_names],
      [
        ['a2', 'a1'],
        ['caller', 'scout'],
      ],
    )
  }
})

test('a fan-out is one event, for its first run', async () => {
  await using it = await start()
  const request = {
    ...{ agentId: 'a1', kind: 'task' as const, triggeredBy: 'fan_out' as const, message: 'do it' },
    ...{ source: calledBy('a2'), links: { fanOutId: 'f1' } },
  }
  const rows = await it.dispatch.transaction((tx) =>
    it.dispatch.enqueueAll(tx, agentFact(), [request, request, request], 2),
  )
  const events = await it.calls()
  assert.deepEqual(
    events.map(({ fields }) => [fields.action, fields.execution_id]),
    [['fan_out', rows[0]?.id]],
  )
})

test('requests of people, of the agent itself, and rejected ones append no collaboration event', async () => {
  await using it = await start()
  await accept(it)
  await accept(it, { triggeredBy: 'self_task', source: calledBy('a1') })
  await assert.rejects(
    it.dispatch.transaction(async (tx) => {
      await it.dispatch.enqueue(tx, agentFact(), {
        ...{ agentId: 'a1', kind: 'task', triggeredBy: 'agent', message: 'x', source: calledBy('a2') },
      })
      throw new Error('rolled back')
    }),
  )
  assert.deepEqual(await it.calls(), [])
})
