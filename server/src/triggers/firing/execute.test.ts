import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExecuteTask } from '@roost/contracts/triggers/firing'
import { anonymous } from '../../identity/access/index.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { person } from '../../test/run-platform.ts'
import { dueAt, startFiringPlatform } from './test/firing-platform.ts'

const signal = new AbortController().signal
const body = (over: object) => ExecuteTask.parse({ agent_name: 'scout', async_mode: true, ...over })

forEachDialect((_dialect, open) => {
  test('a fire that was decided is answered as the first time, whatever the key says', async () => {
    const { execute, addSchedule, work, runs } = await startFiringPlatform(await open())
    await addSchedule()
    const due = body({ schedule_id: 's1', due_at: dueAt })
    const first = await execute.asPlatform(due, { key: 'a', signal })
    await work({ status: 'failed', response: null, error: 'boom', error_code: 'agent_error' })
    const again = await execute.asPlatform(due, { key: 'b', signal })
    assert.deepEqual(again, { ...first, idempotent_replay: true })
    assert.equal((await runs()).length, 1)
  })

  test('a fire of a schedule that is gone is recorded as suppressed', async () => {
    const { execute } = await startFiringPlatform(await open())
    const due = body({ schedule_id: 'gone', due_at: dueAt })
    const answer = await execute.asPlatform(due, { key: undefined, signal })
    assert.deepEqual(answer, { status: 'suppressed', reason: 'schedule_deleted' })
  })

  test('a run of any kind is accepted once for each key', async () => {
    const { execute, runs } = await startFiringPlatform(await open())
    const asked = body({ message: 'look', triggered_by: 'reminder', schedule_name: 'x', attempt: 2 })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => execute.asPlatform(asked, { key: 'k', signal })),
    )
    assert.equal(new Set(answers.map((answer) => 'execution_id' in answer && answer.execution_id)).size, 1)
    const [run, ...more] = await runs()
    assert.deepEqual([run?.triggered_by, run?.attempt_number, more.length], ['reminder', 2, 0])
    await execute.asPlatform(asked, { key: 'other', signal })
    assert.equal((await runs()).length, 2)
  })

  test('an id is one run: twenty that ask for it at once are told of it, whoever else asks is refused', async () => {
    const { execute, runs, addSchedule, work } = await startFiringPlatform(await open())
    const execution_id = 'an-id-of-its-own-1'
    const asked = body({ message: 'look', execution_id })
    const ask = () => execute.asPlatform(asked, { key: undefined, signal })
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

  test('a run is no run of a schedule that is unknown', async () => {
    const { execute, runs } = await startFiringPlatform(await open())
    const asked = body({ message: 'look', schedule_id: 'gone' })
    await assert.rejects(execute.asPlatform(asked, { key: undefined, signal }), {
      code: 'schedule_not_found',
    })
    assert.equal((await runs()).length, 0)
  })

  test('who waits is told the end', async () => {
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

  test('without a message, an agent or a model there is a named refusal', async () => {
    const { execute } = await startFiringPlatform(await open())
    const refused = async (over: object, code: string) =>
      assert.rejects(execute.asPlatform(body(over), { key: undefined, signal }), { code })
    await refused({}, 'validation_error')
    await refused({ agent_name: 'nobody', message: 'x' }, 'agent_not_found')
    await refused({ message: 'x', model: 'not a model' }, 'invalid_model')
  })

  test('only an agent asks as an agent', async () => {
    const { execute } = await startFiringPlatform(await open())
    const asked = body({ message: 'x' })
    await assert.rejects(execute.asAgent(anonymous, asked, { key: undefined, signal }), {
      code: 'not_authenticated',
    })
    await assert.rejects(execute.asAgent(person(), asked, { key: undefined, signal }), {
      code: 'agent_identity_required',
    })
  })
})
