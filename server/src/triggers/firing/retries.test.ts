import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { startFiringPlatform } from './test/firing-platform.ts'

const never = new AbortController().signal
const failed = { status: 'failed', response: null, error: 'boom', error_code: 'agent_error' } as const

type Platform = Awaited<ReturnType<typeof startFiringPlatform>>
const pass = async (platform: Platform) => {
  for (const loop of platform.firing.loops) await loop.run(never)
}
const states = async (platform: Platform) =>
  (await platform.runs()).map((run) => [run.attempt_number, run.status, run.triggered_by])

forEachDialect((_dialect, open) => {
  async function start(over: Parameters<Platform['addSchedule']>[0] = {}) {
    const platform = await startFiringPlatform(await open())
    const schedule = await platform.addSchedule({ max_retries: 2, retry_delay_seconds: 60, ...over })
    const fire = (cause: 'clock' | 'manual') =>
      platform.firing.fire(schedule, { cause, dueAt: platform.clock.now().toISOString() })
    return { platform, fire }
  }

  test('a failed run is retried after its delay, up to the maximum of its schedule', async () => {
    const { platform, fire } = await start()
    await fire('clock')
    const first = await platform.work(failed)
    const [, planned] = await platform.runs()
    assert.deepEqual(
      [planned?.status, planned?.retry_of_execution_id, planned?.retry_scheduled_at],
      ['pending_retry', first, '2026-01-05T09:01:00.000Z'],
    )
    await platform.clock.advance(59)
    await pass(platform)
    assert.equal((await platform.runs())[1]?.status, 'pending_retry')
    await platform.clock.advance(1)
    await pass(platform)
    await platform.work(failed)
    await platform.clock.advance(60)
    await pass(platform)
    await platform.work(failed)
    await platform.clock.advance(3600)
    await pass(platform)
    assert.deepEqual(await states(platform), [
      [1, 'failed', 'schedule'],
      [2, 'failed', 'retry'],
      [3, 'failed', 'retry'],
    ])
    assert.equal((await platform.runs())[2]?.retry_of_execution_id, first)
  })

  test('a rate limit doubles the delay, up to 300 seconds', async () => {
    for (const [configured, waited] of [
      [60, 120],
      [150, 300],
      [600, 300],
    ] as const) {
      const { platform, fire } = await start({ retry_delay_seconds: configured })
      await fire('clock')
      const now = platform.clock.now().getTime()
      await platform.work({ ...failed, error_code: 'rate_limited' })
      const planned = (await platform.runs())[1]?.retry_scheduled_at ?? ''
      assert.equal(Date.parse(planned) - now, waited * 1000)
    }
  })

  test('twenty concurrent passes enqueue a retry once', async () => {
    const { platform, fire } = await start()
    await fire('clock')
    await platform.work(failed)
    await platform.clock.advance(61)
    await Promise.all(Array.from({ length: 20 }, () => pass(platform)))
    assert.deepEqual(await states(platform), [
      [1, 'failed', 'schedule'],
      [2, 'queued', 'retry'],
    ])
  })

  test('retries of clock fires are cancelled when the schedule or autonomy is disabled', async () => {
    const { platform, fire } = await start()
    await fire('clock')
    await platform.work(failed)
    await platform.change('s1', { enabled: 0 })
    await pass(platform)
    const [, cancelled] = await platform.runs()
    assert.deepEqual([cancelled?.status, cancelled?.error], ['cancelled', 'The schedule was disabled.'])
    await platform.patchAgent({ autonomy_enabled: 0 })
    await fire('manual')
    await platform.work(failed)
    await pass(platform)
    assert.equal((await platform.runs()).at(-1)?.status, 'pending_retry', 'triggered by hand')
  })

  test('retries of a deleted schedule are cancelled', async () => {
    const { platform, fire } = await start()
    await fire('manual')
    await platform.work(failed)
    await platform.change('s1', { deleted_at: platform.clock.now().toISOString() })
    await pass(platform)
    assert.equal((await platform.runs())[1]?.error, 'The schedule was deleted.')
  })

  test('a cancelled run is not retried, and a pending retry skips the next fire', async () => {
    const { platform, fire } = await start()
    await fire('clock')
    await platform.work({ status: 'cancelled', error: 'enough', error_code: 'user_cancelled' })
    assert.equal((await platform.runs()).length, 1)
    await platform.clock.advance(60)
    await fire('clock')
    await platform.work(failed)
    await platform.clock.advance(10)
    const next = await fire('clock')
    assert.equal(next.outcome === 'skipped' && next.reason, 'previous_run_active')
  })

  test('the output is delivered once per fire, after its last attempt', async () => {
    const { platform, fire } = await start({ deliver_to_workspace_email: 'ann@example.org' })
    await fire('clock')
    await platform.work(failed)
    await platform.clock.advance(60)
    await pass(platform)
    await platform.work()
    assert.deepEqual(platform.fakes.delivered, ['ann@example.org success'])
  })
})
