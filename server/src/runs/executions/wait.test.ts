import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Claim, Reply } from '../../foundation/idempotency/index.ts'
import { isFault } from '../../kit/fault.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { accept, linked, resultOf, startRunPlatform } from '../../test/run-platform.ts'
import { createWait } from './wait.ts'

async function start({ preferredMs = null }: { preferredMs?: number | null } = {}) {
  const clock = createTestClock()
  const platform = await startRunPlatform({ db: await openTestDatabase(), clock })
  const row = await accept(platform, { timeoutSeconds: 60 })
  const settled: (Reply | 'released')[] = []
  const claim: Claim = {
    async take() {},
    complete: async (reply) => void settled.push(reply),
    release: async () => void settled.push('released'),
  }
  const client = new AbortController()
  const waiting = createWait({ clock, executions: platform.executions })(row, claim, {
    signal: client.signal,
    preferredMs,
  })
  // The test awaits the rejection later, so it counts as handled from the start.
  waiting.catch(() => {})
  async function finish(over: object = {}) {
    const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    await platform.dispatch.handlers.result(linked, resultOf(runs[0] ?? assert.fail('none'), over))
  }
  const receipt = { status: 'queued_timeout', execution_id: row.id, agent_name: 'scout', async_mode: true }
  return { clock, platform, row, settled, client, waiting, finish, receipt }
}

test('a successful run is returned, and its key stays open for the reply', async () => {
  const { waiting, finish, settled } = await start()
  await finish()
  assert.equal((await waiting).status, 'success')
  assert.deepEqual(settled, [])
})

test('a run that fails releases the key', async () => {
  const { waiting, finish, settled } = await start()
  await finish({ status: 'failed', error: 'x', error_code: 'timeout' })
  await assert.rejects(waiting, (error) => isFault(error, 'run_timeout'))
  assert.deepEqual(settled, ['released'])
})

test('the wait ends after twice the timeout, and the key gets the receipt', async () => {
  const { waiting, clock, settled, receipt } = await start()
  await clock.waitingFor(120)
  await clock.advance(119)
  await clock.waitingFor(1)
  await clock.advance(1)
  await assert.rejects(waiting, (error) => {
    assert.ok(isFault(error, 'sync_wait_exceeded'))
    assert.deepEqual(error.fields, { ...receipt, error_code: null })
    return true
  })
  assert.deepEqual(settled, [{ status: 200, body: receipt, receipt: true }])
})

test('the wait ends when the client prefers, and the key gets the receipt', async () => {
  const { waiting, clock, settled, receipt } = await start({ preferredMs: 25_000 })
  await clock.waitingFor(25)
  await clock.advance(25)
  await assert.rejects(waiting, (error) => isFault(error, 'sync_wait_exceeded'))
  assert.deepEqual(settled, [{ status: 200, body: receipt, receipt: true }])
})

test('after a disconnect or a shutdown the run continues, and its key stays open', async () => {
  const { waiting, client, finish, settled, platform, row } = await start()
  client.abort()
  await assert.rejects(waiting, (error) => {
    assert.ok(isFault(error, 'sync_wait_exceeded'))
    assert.equal(error.fields.execution_id, row.id)
    return true
  })
  await finish()
  assert.equal((await platform.row(row.id)).status, 'success')
  assert.deepEqual(settled, [])
})
