import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { LinkTimeout } from '../../ports/agent-link/port.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import {
  accept,
  linked,
  person,
  type RunPlatform,
  resultOf,
  startRunPlatform,
} from '../../test/run-platform.ts'
import type { Watched } from './watch.ts'

const line = (text: string): TranscriptLine => ({
  type: 'system',
  subtype: 'notice',
  level: 'info',
  message: text,
})
const reader = { caller: person(), agentId: 'a1', relation: 'owner' as const }

forEachDialect((_, open) => {
  async function start() {
    const link = createFakeAgentLink()
    const clock = createTestClock()
    const platform = await startRunPlatform({ db: await open(), link, clock })
    return { platform, link, clock, on: platform.dispatch.handlers }
  }
  async function running(platform: RunPlatform, isSpawned = true) {
    const row = await accept(platform)
    const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const run = runs[0] ?? assert.fail('no run was claimed')
    const hold = { execution_id: row.id, claim_token: run.claim_token }
    if (isSpawned) await platform.dispatch.handlers.started(linked, { t: 'started', ...hold, pid: 1 })
    return { id: row.id, hold, run }
  }
  const send = (
    platform: RunPlatform,
    hold: { execution_id: string; claim_token: number },
    from: number,
    texts: string[],
  ) => platform.dispatch.handlers.lines(linked, { t: 'lines', ...hold, from, lines: texts.map(line) })
  const finish = (platform: RunPlatform, hold: { execution_id: string; claim_token: number }) =>
    platform.dispatch.handlers.result(linked, resultOf(hold))
  const until = () => new AbortController()
  const words = (watched: Watched[]) => watched.map((each) => (each.kind === 'line' ? each.n : each.kind))

  test('the end of a run ends its open tool calls', async () => {
    const { platform } = await start()
    const { id, hold } = await running(platform)
    const call: TranscriptLine = {
      type: 'assistant',
      message: { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }] },
    }
    await platform.dispatch.handlers.lines(linked, { t: 'lines', ...hold, from: 1, lines: [call] })
    await platform.executions.terminate(reader, id)
    const [tool] = await platform.executions.recentTools('a1', 10)
    assert.equal(tool?.success, 0)
    assert.notEqual(tool?.ended_at, null)
  })

  test('a reader of a finished run gets its lines and its end', async () => {
    const { platform } = await start()
    const { id, hold } = await running(platform)
    await send(platform, hold, 1, ['a', 'b', 'c'])
    await finish(platform, hold)
    const watched = await collect(platform.executions.watch(id, { signal: until().signal }))
    assert.deepEqual(words(watched), [1, 2, 3, 'end'])
    const behind = await collect(platform.executions.watch(id, { after: 2, signal: until().signal }))
    assert.deepEqual(words(behind), [3, 'end'])
  })

  test('a reader of a running run gets the stored lines, then the new ones, each once', async () => {
    const { platform } = await start()
    const { id, hold } = await running(platform)
    await send(platform, hold, 1, ['a', 'b'])
    const watched: Watched[] = []
    for await (const each of platform.executions.watch(id, { signal: until().signal })) {
      watched.push(each)
      if (each.kind === 'line' && each.n === 2) {
        await send(platform, hold, 3, ['c'])
        await send(platform, hold, 4, ['d', 'e'])
      }
      if (each.kind === 'line' && each.n === 5) await finish(platform, hold)
    }
    assert.deepEqual(words(watched), [1, 2, 3, 4, 5, 'end'])
  })

  test('ten readers of a fast writer each get every line once', async () => {
    const { platform } = await start()
    const { id, hold } = await running(platform)
    const readers = Array.from({ length: 10 }, () =>
      collect(platform.executions.watch(id, { signal: until().signal })),
    )
    for (let from = 1; from <= 60; from += 3) await send(platform, hold, from, ['x', 'y', 'z'])
    await finish(platform, hold)
    const expected = [...Array.from({ length: 60 }, (_, index) => index + 1), 'end']
    for (const watched of await Promise.all(readers)) {
      assert.deepEqual(
        words(watched).filter((word) => word !== 'status'),
        expected,
      )
    }
  })

  test('more lines than one page arrive in order', async () => {
    const { platform } = await start()
    const { id, hold } = await running(platform)
    await send(
      platform,
      hold,
      1,
      Array.from({ length: 450 }, (_, index) => `${index}`),
    )
    await finish(platform, hold)
    const watched = await collect(platform.executions.watch(id, { signal: until().signal }))
    assert.deepEqual(words(watched), [...Array.from({ length: 450 }, (_, index) => index + 1), 'end'])
  })

  test('pieces arrive before their line, and are joined while the reader is busy', async () => {
    const { platform, on } = await start()
    const { id, hold } = await running(platform)
    await send(platform, hold, 1, ['first'])
    const watch = platform.executions.watch(id, { partials: true, signal: until().signal })
    const plain = collect(platform.executions.watch(id, { signal: until().signal }))
    assert.deepEqual(words([(await watch.next()).value ?? assert.fail()]), [1])
    await on.partial(linked, { t: 'partial', ...hold, kind: 'text', text: 'Hel' })
    await on.partial(linked, { t: 'partial', ...hold, kind: 'text', text: 'lo' })
    await on.partial(linked, { t: 'partial', ...hold, kind: 'thinking', text: 'hm' })
    await on.partial(linked, {
      t: 'partial',
      execution_id: id,
      claim_token: 99,
      kind: 'text',
      text: 'foreign',
    })
    await send(platform, hold, 2, ['Hello'])
    await finish(platform, hold)
    const watched = await collect(watch)
    const partials = watched.flatMap((each) => (each.kind === 'partial' ? [each.partial] : []))
    assert.deepEqual(partials, [
      { type: 'partial', kind: 'text', text: 'Hello' },
      { type: 'partial', kind: 'thinking', text: 'hm' },
    ])
    assert.deepEqual(words(watched), ['partial', 'partial', 2, 'end'])
    assert.deepEqual(words(await plain), [1, 2, 'end'])
  })

  test('15 s without events yield quiet; a lost notice is found then', async () => {
    const { platform, clock } = await start()
    const { id, hold } = await running(platform)
    const watch = platform.executions.watch(id, { signal: until().signal })
    const next = watch.next()
    await clock.waitingFor(15)
    await clock.advance(15)
    assert.equal((await next).value?.kind, 'quiet')
    await send(platform, hold, 1, ['a'])
    assert.equal((await watch.next()).value?.kind, 'line')
    await watch.return()
  })

  test('an aborted signal ends the iteration', async () => {
    const { platform, clock } = await start()
    const { id } = await running(platform)
    const abort = until()
    const next = platform.executions.watch(id, { signal: abort.signal }).next()
    await clock.waitingFor(15)
    abort.abort()
    assert.equal((await next).done, true)
  })

  test('an unknown run ends immediately', async () => {
    const { platform } = await start()
    const watched = await collect(platform.executions.watch('nope', { signal: until().signal }))
    assert.deepEqual(watched, [])
  })

  test('terminate: a queued run is cancelled_while_queued without a call to the agent', async () => {
    const { platform, link } = await start()
    const row = await accept(platform)
    const callCount = link.calls.length
    assert.deepEqual(await platform.executions.terminate(reader, row.id), {
      status: 'cancelled_while_queued',
      execution_id: row.id,
    })
    assert.equal(link.calls.length, callCount)
    const ended = await platform.row(row.id)
    assert.deepEqual([ended.status, ended.error_code], ['cancelled', 'user_cancelled'])
    assert.match(ended.error ?? '', /ann@example\.org/)
  })

  test('terminate: a claimed run without a runtime is cancelled_while_parked', async () => {
    const { platform, link } = await start()
    const { id } = await running(platform, false)
    link.link('a1', { cancel: () => ({ state: 'parked' }) })
    assert.equal((await platform.executions.terminate(reader, id)).status, 'cancelled_while_parked')
  })

  test('terminate: a runtime is stopped within the grace period, with its return code', async () => {
    const { platform, link } = await start()
    const { id, hold } = await running(platform)
    link.link('a1', { cancel: () => ({ state: 'stopped', returncode: 130 }) })
    assert.deepEqual(await platform.executions.terminate(reader, id), {
      status: 'terminated',
      execution_id: id,
      returncode: 130,
    })
    assert.deepEqual(link.calls.at(-1)?.request, { ...hold, grace_seconds: 5 })
  })

  test('terminate: with the link down the run is terminated and not delivered', async () => {
    const { platform, link } = await start()
    const { id } = await running(platform)
    assert.deepEqual(await platform.executions.terminate(reader, id), {
      status: 'terminated',
      execution_id: id,
      delivered: false,
    })
    const { id: other } = await running(platform)
    link.link('a1', {
      cancel: () => {
        throw new LinkTimeout()
      },
    })
    assert.equal((await platform.executions.terminate(reader, other)).delivered, false)
  })

  test('terminate: an ended run is already_finished', async () => {
    const { platform } = await start()
    const { id, hold } = await running(platform)
    await finish(platform, hold)
    assert.equal((await platform.executions.terminate(reader, id)).status, 'already_finished')
    assert.equal((await platform.row(id)).status, 'success')
  })

  test('a restore locks the queue, and stops what runs with its reason', async () => {
    const { platform, link } = await start()
    const { id } = await running(platform)
    const queued = await accept(platform)
    link.link('a1', { cancel: () => ({ state: 'stopped', returncode: 0 }) })
    const locked = () => platform.db.atomically((tx) => platform.executions.lockRuns(tx, 'a1'))
    assert.deepEqual(await locked(), [id])
    await platform.executions.stopRuns('a1', person())
    assert.deepEqual(await locked(), [])
    const ended = await platform.row(id)
    assert.deepEqual([ended.status, ended.error_code], ['cancelled', 'user_cancelled'])
    assert.equal(ended.error, 'Stopped by ann@example.org to restore the workspace.')
    assert.equal((await platform.row(queued.id)).status, 'queued')
    assert.equal(link.calls.at(-1)?.t, 'cancel')
  })

  test('20 concurrent terminations and a result: one outcome, one event', async () => {
    const { platform, link } = await start()
    link.link('a1', { cancel: () => ({ state: 'stopped', returncode: 0 }) })
    for (let round = 0; round < 5; round += 1) {
      const { id, hold } = await running(platform)
      let ended = 0
      platform.hooks.onEnded(async (tx, row) => {
        if (row.id === id) tx.onCommitted(() => (ended += 1))
      })
      const [result, ...words] = await Promise.all([
        finish(platform, hold),
        ...Array.from({ length: 20 }, () => platform.executions.terminate(reader, id)),
      ])
      const winners = words.filter(({ status }) => status === 'terminated').length
      assert.equal(winners + (result.accepted ? 1 : 0), 1)
      assert.equal(words.filter(({ status }) => status === 'already_finished').length, 20 - winners)
      assert.equal((await platform.row(id)).status, result.accepted ? 'success' : 'cancelled')
      assert.equal(ended, 1)
    }
  })

  test('terminate with 20 concurrent claims: cancelled in the queue or claimed, never both', async () => {
    const { platform, link, on } = await start()
    link.link('a1', { cancel: () => ({ state: 'parked' }) })
    const row = await accept(platform)
    const [word, ...claims] = await Promise.all([
      platform.executions.terminate(reader, row.id),
      ...Array.from({ length: 20 }, () => on.claim(linked, { t: 'claim', free: 1 })),
    ])
    const handed = claims.flatMap(({ runs }) => runs).length
    assert.equal(word.status, handed === 0 ? 'cancelled_while_queued' : 'cancelled_while_parked')
    assert.equal((await platform.row(row.id)).status, 'cancelled')
  })
})

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
