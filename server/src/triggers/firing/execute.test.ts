import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExecuteTask } from '@roost/contracts/triggers/firing'
import { anonymous, type KeyCaller } from '../../identity/access/index.ts'
import { agentKey } from '../../test/agents-platform.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { person } from '../../test/run-platform.ts'
import { dueAt, startFiringPlatform } from './test/firing-platform.ts'

const signal = new AbortController().signal
const body = (over: object) => ExecuteTask.parse({ agent_name: 'scout', async_mode: true, ...over })

forEachDialect((_dialect, open) => {
  test('a decided fire returns its first result, whatever the idempotency key', async () => {
    const { execute, addSchedule, work, runs } = await startFiringPlatform(await open())
    await addSchedule()
    const due = body({ schedule_id: 's1', due_at: dueAt })
    const first = await execute.asPlatform(due, { key: 'a', signal })
    await work({ status: 'failed', response: null, error: 'boom', error_code: 'agent_error' })
    const again = await execute.asPlatform(due, { key: 'b', signal })
    assert.deepEqual(again, { ...first, idempotent_replay: true })
    assert.equal((await runs()).length, 1)
  })

  test('a fire of a deleted schedule is recorded as suppressed', async () => {
    const { execute } = await startFiringPlatform(await open())
    const due = body({ schedule_id: 'gone', due_at: dueAt })
    const answer = await execute.asPlatform(due, { key: undefined, signal })
    assert.deepEqual(answer, { status: 'suppressed', reason: 'schedule_deleted' })
  })

  test('a run of any kind is accepted once per idempotency key', async () => {
    const { execute, runs } = await startFiringPlatform(await open())
    const request = body({ message: 'look', triggered_by: 'reminder', schedule_name: 'x', attempt: 2 })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => execute.asPlatform(request, { key: 'k', signal })),
    )
    assert.equal(new Set(answers.map((answer) => 'execution_id' in answer && answer.execution_id)).size, 1)
    const [run, ...more] = await runs()
    assert.deepEqual([run?.triggered_by, run?.attempt_number, more.length], ['reminder', 2, 0])
    await execute.asPlatform(request, { key: 'other', signal })
    assert.equal((await runs()).length, 2)
  })

  test("an agent's runs for two people get no results of each other", async () => {
    const { execute, runs } = await startFiringPlatform(await open())
    const run = (principal: string): KeyCaller => {
      const { user, key } = agentKey('a1')
      return {
        ...{ kind: 'key', user, key: { ...key, principal } },
        run: { ref: principal, execution_id: `e-${principal}`, reach: 'owner' },
      }
    }
    const [ann, uma] = [run('user:ann'), run('user:uma')]
    const keyed = body({ message: 'look' })
    const first = await execute.asAgent(ann, keyed, { key: 'k', signal })
    assert.equal('idempotent_replay' in (await execute.asAgent(ann, keyed, { key: 'k', signal })), true)
    const other = await execute.asAgent(uma, keyed, { key: 'k', signal })
    assert.deepEqual(
      (await runs()).map(({ id, principal }) => [id, principal]),
      [
        [first.execution_id, 'user:ann'],
        [other.execution_id, 'user:uma'],
      ],
    )
    const named = body({ message: 'look', execution_id: first.execution_id })
    await execute.asAgent(ann, named, { key: undefined, signal })
    await assert.rejects(execute.asAgent(uma, named, { key: undefined, signal }), { code: 'conflict' })
    assert.equal((await runs()).length, 2)
  })

  test('twenty concurrent requests with one execution id make one run; 409 for any other caller', async () => {
    const { execute, runs, addSchedule, work } = await startFiringPlatform(await open())
    const execution_id = 'an-id-of-its-own-1'
    const request = body({ message: 'look', execution_id })
    const ask = () => execute.asPlatform(request, { key: undefined, signal })
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    assert.deepEqual(new Set(answers.map((answer) => answer.execution_id)), new Set([execution_id]))
    await work({ status: 'failed', response: null, error: 'boom', error_code: 'agent_error' })
    assert.deepEqual(await ask(), {
      status: 'accepted',
      execution_id,
      async_mode: true,
      idempotent_replay: true,
    })
    assert.equal((await runs()).length, 1)
    await addSchedule()
    const due = body({ schedule_id: 's1', due_at: dueAt, execution_id })
    await assert.rejects(execute.asPlatform(due, { key: undefined, signal }), { code: 'conflict' })
    for (const bad of ['running', '../../other-agent', 'x'.repeat(65), '']) {
      assert.throws(() => body({ message: 'look', execution_id: bad }), /must (not )?be/)
    }
  })

  test('404 for a run of an unknown schedule', async () => {
    const { execute, runs } = await startFiringPlatform(await open())
    const request = body({ message: 'look', schedule_id: 'gone' })
    await assert.rejects(execute.asPlatform(request, { key: undefined, signal }), {
      code: 'schedule_not_found',
    })
    assert.equal((await runs()).length, 0)
  })

  test('a synchronous caller gets the end of the run', async () => {
    const { execute, work } = await startFiringPlatform(await open())
    const waiting = execute.asPlatform(body({ message: 'look', async_mode: false }), {
      key: undefined,
      signal,
    })
    let id = ''
    while (id === '') id = await work({ response: 'seen' }).catch(() => '')
    const { execution_id, ...ended } = (await waiting) as { execution_id: string }
    assert.equal(execution_id, id)
    assert.deepEqual(ended, {
      status: 'success',
      response: 'seen',
      cost: null,
      cost_estimated: false,
      context_used: null,
      context_max: null,
      session_id: null,
      error: null,
    })
  })

  test('400 without a message, 404 without an agent, 400 with an invalid model', async () => {
    const { execute } = await startFiringPlatform(await open())
    const refused = async (over: object, code: string) =>
      assert.rejects(execute.asPlatform(body(over), { key: undefined, signal }), { code })
    await refused({}, 'validation_error')
    await refused({ agent_name: 'nobody', message: 'x' }, 'agent_not_found')
    await refused({ message: 'x', model: 'not a model' }, 'invalid_model')
  })

  test('401 and 403 for callers without an agent key', async () => {
    const { execute } = await startFiringPlatform(await open())
    const request = body({ message: 'x' })
    await assert.rejects(execute.asAgent(anonymous, request, { key: undefined, signal }), {
      code: 'not_authenticated',
    })
    await assert.rejects(execute.asAgent(person(), request, { key: undefined, signal }), {
      code: 'agent_identity_required',
    })
  })
})
