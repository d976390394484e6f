import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { type Loose, startTaskApp } from '../../test/task-app.ts'

const body = { message: 'do it', async_mode: true }

forEachDialect((_, open) => {
  async function start() {
    const app = await startTaskApp(await open(), { slots: 1 })
    const running = (await app.task('ann', body)).json.execution_id
    const first = await app.claim()
    const ofOther = (await app.task('other', body)).json.execution_id
    const ofAnn = (await app.task('ann', body)).json.execution_id
    return { ...app, running, first, ofOther, ofAnn }
  }

  test('the queue lists runs in the order in which they are claimed', async () => {
    const { call, claim, finish, first, ofOther, ofAnn } = await start()
    const { status, json } = await call('ann', 'GET', '/queue')
    assert.deepEqual([status, json.agent_name, json.active, json.queue_length], [200, 'scout', 1, 2])
    assert.deepEqual(
      json.queued_executions.map(({ execution_id, triggered_by, position }: Loose) => [
        execution_id,
        triggered_by,
        position,
      ]),
      [
        [ofOther, 'agent', 1],
        [ofAnn, 'manual', 2],
      ],
    )
    await finish(first)
    assert.equal((await claim()).execution_id, ofOther)
  })

  test('a run claimed during a read is shown once: queued or active', async () => {
    const { task, call, claim } = await startTaskApp(await open(), { slots: 20 })
    for (let each = 0; each < 20; each += 1) await task('ann', body)
    const claimAll = async () => {
      for (let each = 0; each < 20; each += 1) await claim()
    }
    const readQueue = async () => {
      const { json } = await call('ann', 'GET', '/queue')
      assert.equal(json.active + json.queue_length, 20)
      assert.equal(json.queued_executions.length, json.queue_length)
    }
    await Promise.all([claimAll(), ...Array.from({ length: 20 }, readQueue)])
  })

  test('a calling agent sees its own runs at their queue positions', async () => {
    const { call, ofOther } = await start()
    const { json } = await call('other', 'GET', '/queue')
    assert.deepEqual([json.active, json.queue_length], [1, 2])
    assert.deepEqual(
      json.queued_executions.map(({ execution_id, position }: Loose) => [execution_id, position]),
      [[ofOther, 1]],
    )
  })

  test('clearing cancels queued runs only, and answers the requests that wait for them', async () => {
    const { call, task, woken, platform, running, ofOther, ofAnn } = await start()
    const wake = woken()
    const waiting = task('ann', { message: 'wait for it' })
    await wake
    const { status, json } = await call('ann', 'POST', '/queue/clear')
    assert.deepEqual([status, json], [200, { agent_name: 'scout', cancelled: 3 }])
    assert.equal((await waiting).json.status, 'cancelled')
    for (const id of [ofOther, ofAnn]) {
      const row = await platform.row(id)
      assert.deepEqual([row.status, row.error_code], ['cancelled', 'user_cancelled'])
      assert.match(row.error ?? '', /cleared by ann@example\.org/)
    }
    assert.equal((await platform.row(running)).status, 'running')
    assert.deepEqual((await call('ann', 'POST', '/queue/clear')).json.cancelled, 0)
    const empty = (await call('ann', 'GET', '/queue')).json
    assert.deepEqual([empty.active, empty.queue_length, empty.queued_executions], [1, 0, []])
  })

  test('20 concurrent clears cancel each queued run once', async () => {
    const { call } = await start()
    const replies = await Promise.all(Array.from({ length: 20 }, () => call('ann', 'POST', '/queue/clear')))
    assert.equal(
      replies.reduce((sum, { json }) => sum + json.cancelled, 0),
      2,
    )
  })

  test('403 to clear the queue for a shared user and for an agent', async () => {
    const { call } = await start()
    for (const [who, error] of [
      ['bob', 'owner_required'],
      ['self', 'person_required'],
    ]) {
      const { status, json } = await call(who ?? '', 'POST', '/queue/clear')
      assert.deepEqual([status, json.error], [403, error])
    }
  })
})
