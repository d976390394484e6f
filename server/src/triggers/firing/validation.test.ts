import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { agentFact } from '../../test/run-platform.ts'
import type { ScheduleRunTables } from '../fires/tables.ts'
import { startFiringPlatform } from './test/firing-platform.ts'
import { readReport, validationMessage } from './validation-rules.ts'

const report = { status: 'pass', summary: 'all there', items: [], recommendation: null }

forEachDialect((_dialect, open) => {
  async function start() {
    const platform = await startFiringPlatform(await open())
    const schedule = await platform.addSchedule({ validation_enabled: 1, max_retries: 3 })
    await platform.firing.fire(schedule, { cause: 'manual' })
    return platform
  }
  const first = async (platform: Awaited<ReturnType<typeof start>>) => {
    const [run, validation, ...more] = await platform.runs()
    assert.equal(more.length, 0)
    return { run, validation }
  }

  for (const [answer, expected] of [
    [JSON.stringify(report), 'validated'],
    [`Here:\n\`\`\`json\n${JSON.stringify(report)}\n\`\`\``, 'validated'],
    [JSON.stringify({ ...report, status: 'partial', summary: 'half' }), 'failed_validation'],
    ['I think it is fine', 'failed_validation'],
  ] as const) {
    test(`${expected} after the answer ${JSON.stringify(answer.slice(0, 30))}`, async () => {
      const platform = await start()
      await platform.work({ response: 'sent 3 mails' })
      await platform.firing.settled()
      const pending = await first(platform)
      assert.deepEqual(
        [
          pending.run?.business_status,
          pending.run?.validation_execution_id,
          pending.validation?.triggered_by,
        ],
        ['pending_validation', pending.validation?.id, 'validation'],
      )
      assert.deepEqual(
        [pending.validation?.validates_execution_id, pending.validation?.timeout_seconds],
        [pending.run?.id, 120],
      )
      assert.equal(await platform.firing.validate(pending.run?.id ?? ''), pending.validation?.id)
      await platform.work({ response: answer })
      const { run } = await first(platform)
      assert.deepEqual([run?.status, run?.business_status], ['success', expected])
      const alerts = platform.fakes.alerts.map(({ kind, priority, title }) => [kind, priority, title])
      assert.deepEqual(
        alerts,
        expected === 'validated' ? [] : [['validation_failed', 'high', 'Validation failed']],
      )
    })
  }

  for (const [what, { prompt, author, sharers, worksFor }] of Object.entries({
    'for its run without a prompt': { prompt: null, author: null, sharers: [], worksFor: 'user:u1' },
    'for its run with a prompt of the same person': {
      ...{ prompt: 'all sent?', author: null, sharers: ['user:u1'], worksFor: 'user:u1' },
    },
    'for the run of a sharer with a prompt of the owner': {
      ...{ prompt: 'all sent?', author: 'user:u2', sharers: ['user:u1'], worksFor: 'user:u1' },
    },
    'for the sharer who wrote the prompt, not for the owner': {
      ...{ prompt: 'all sent?', author: 'user:u2', sharers: ['user:u2'], worksFor: 'user:u2' },
    },
  })) {
    test(`a validation works ${what}`, async () => {
      const platform = await startFiringPlatform(await open())
      for (const id of sharers) platform.fakes.sharers.add(id)
      const schedule = await platform.addSchedule({
        ...{ validation_enabled: 1, validation_prompt: prompt, validation_principal: author },
      })
      await platform.firing.fire(schedule, { cause: 'manual' })
      await platform.work({ response: 'sent' })
      await platform.firing.settled()
      const { run, validation } = await first(platform)
      assert.deepEqual([run?.principal, validation?.principal], ['user:u1', worksFor])
    })
  }

  test('a failed validation is not retried, and marks its run', async () => {
    const platform = await start()
    await platform.work({ response: 'sent' })
    await platform.firing.settled()
    await platform.work({ status: 'failed', response: null, error: 'late', error_code: 'timeout' })
    const { run, validation } = await first(platform)
    assert.deepEqual([run?.business_status, validation?.status], ['failed_validation', 'failed'])
    assert.equal(platform.fakes.alerts.length, 1)
  })

  test('a failed run, or one with a failed validation, is undone if its schedule says so', async () => {
    const platform = await startFiringPlatform(await open())
    const schedule = await platform.addSchedule({ validation_enabled: 1, undo_failed: 1 })
    await platform.firing.fire(schedule, { cause: 'manual' })
    const valid = await platform.work({ response: 'sent' })
    await platform.firing.settled()
    const validation = await platform.work({ response: JSON.stringify({ ...report, status: 'fail' }) })
    await platform.firing.fire(schedule, { cause: 'manual' })
    const failed = await platform.work({
      status: 'failed',
      response: null,
      error: 'late',
      error_code: 'timeout',
    })
    assert.deepEqual(platform.fakes.undone, [
      { agentId: 'a1', executionId: valid, validationId: validation, isRequested: true },
      { agentId: 'a1', executionId: failed, isRequested: true },
    ])
    await platform.change(schedule.id, { undo_failed: 0 })
    const changed = await platform.schedules.byId(schedule.id)
    await platform.firing.fire(changed ?? assert.fail(), { cause: 'manual' })
    await platform.work({ status: 'failed', response: null, error: 'late', error_code: 'timeout' })
    assert.equal(platform.fakes.undone.length, 2)
  })

  test('a run without a response is not validated', async () => {
    const platform = await start()
    await platform.work({ response: '  ' })
    await platform.firing.settled()
    const [run, ...more] = await platform.runs()
    assert.deepEqual([run?.business_status, more.length], ['validation_unavailable', 0])
    await assert.rejects(platform.firing.validate(run?.id ?? ''), { code: 'conflict' })
    await assert.rejects(platform.firing.validate('unknown'), { code: 'execution_not_found' })
  })

  test('validations behind an open breaker do not block the others', async () => {
    const platform = await startFiringPlatform(await open(), { isBreakerEnabled: () => true })
    const schedule = await platform.addSchedule()
    await platform.patchAgent({ circuit_breaker_enabled: 1 })
    await platform.firing.fire(schedule, { cause: 'manual' })
    await platform.work({ response: 'sent' })
    const [done] = await platform.runs()
    assert.ok(done)
    for (let count = 0; count < 3; count += 1) {
      await platform.firing.fire(schedule, { cause: 'manual' })
      await platform.work({ status: 'failed', response: null, error: 'no', error_code: 'auth' })
    }
    platform.agents.set('a2', agentFact({ id: 'a2' }))
    const pending = { ...done, business_status: 'pending_validation' as const }
    const waiting = Array.from({ length: 100 }, (_, n) => ({
      ...pending,
      id: `w${n}`,
      queue_number: 100 + n,
    }))
    const later = { ...pending, id: 'later', agent_id: 'a2', completed_at: '2026-01-05T10:00:00.000Z' }
    for (const row of [...waiting, { ...later, queue_number: 900 }]) {
      await platform.db.withTables<ScheduleRunTables>().insertInto('executions').values(row).execute()
    }
    await platform.firing.loops
      .find(({ name }) => name === 'schedules.validations')
      ?.run(new AbortController().signal)
    const begun = (await platform.runs()).filter((run) => run.triggered_by === 'validation')
    assert.deepEqual(
      begun.map((run) => run.validates_execution_id),
      ['later'],
    )
  })

  test('twenty concurrent callers start one validation', async () => {
    const platform = await start()
    await platform.work({ response: 'sent' })
    const [run] = await platform.runs()
    const begun = await Promise.all(Array.from({ length: 20 }, () => platform.firing.validate(run?.id ?? '')))
    await platform.firing.settled()
    assert.equal(new Set(begun).size, 1)
    assert.equal((await platform.runs()).length, 2)
  })
})

test('placeholders are filled in once; without placeholders both texts follow as data', () => {
  const run = { message: 'say {execution_response}', response: 'hello' }
  const filled = validationMessage('Was "{original_message}" done by "{execution_response}"?', run, 'm')
  assert.match(filled, /^Was "say \{execution_response\}" done by "hello"\?\n\nAnswer with one JSON/)
  const data = validationMessage(null, run, 'm1')
  assert.match(data, /--- original message m1 ---\nsay \{execution_response\}\n--- response m1 ---\nhello/)
})

test('an unreadable report is null', () => {
  for (const answer of [null, '', '{', '}{', '{"status": "maybe", "summary": ""}', '[1]']) {
    assert.equal(readReport(answer), null)
  }
})
