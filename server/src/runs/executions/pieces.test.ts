/** Readers that join in the middle of a block. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { accept, linked, type RunPlatform, resultOf, startRunPlatform } from '../../test/run-platform.ts'
import { executionEvents } from './stream.ts'

const lineOf = (text: string): TranscriptLine => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})

forEachDialect((_, open) => {
  async function start() {
    const clock = createTestClock()
    // Two processes share this store, as they would share a Redis.
    const ephemeral: Ephemeral = { ...memoryEphemeral({ clock, log: silentLog }), kind: 'redis' }
    const db = await open()
    const platform = await startRunPlatform({ db, clock, ephemeral })
    const row = await accept(platform)
    const { handlers } = platform.dispatch
    const { runs } = await handlers.claim(linked, { t: 'claim', free: 1 })
    const hold = { execution_id: row.id, claim_token: runs[0]?.claim_token ?? assert.fail('no run') }
    await handlers.started(linked, { t: 'started', ...hold, pid: 1 })
    return {
      platform,
      id: row.id,
      /** Another process of the same platform. */
      other: () => startRunPlatform({ db, clock, ephemeral }),
      /** Resolves when a partial has arrived in this process. */
      async write(text: string) {
        const received = Promise.withResolvers<void>()
        const stop = platform.live.listen(row.id, { changed() {}, partial: () => received.resolve() })
        await handlers.partial(linked, { t: 'partial', ...hold, kind: 'text', text })
        await received.promise
        stop()
      },
      lines: (from: number, texts: string[]) =>
        handlers.lines(linked, { t: 'lines', ...hold, from, lines: texts.map(lineOf) }),
      finish: () => handlers.result(linked, resultOf(hold)),
    }
  }

  /** The stream in short form: `1` for a line, `0+Hel` for a piece at its offset. */
  function read(
    { executions }: RunPlatform,
    id: string,
    { after = 0, partials = true, isShown = true } = {},
  ) {
    const events = executionEvents(executions.watch, id, {
      after,
      partials,
      isShown,
      signal: new AbortController().signal,
      log: silentLog,
    })
    const short = (event: string) => {
      const number = /^id: (\d+)/.exec(event)?.[1]
      if (number) return number
      const data = JSON.parse(event.replace(/^data: /, ''))
      return data.type === 'partial' ? `${data.at}+${data.text}` : data.type
    }
    return {
      next: async () => short((await events.next()).value ?? assert.fail('the stream has ended')),
      async rest() {
        const labels: string[] = []
        for await (const event of events) labels.push(short(event))
        return labels
      },
    }
  }

  test('a reader gets the open block so far, then each piece, then the line', async () => {
    const { platform, id, write, lines, finish } = await start()
    await lines(1, ['Before.'])
    await write('Hel')
    await write('lo')
    const reader = read(platform, id)
    assert.deepEqual([await reader.next(), await reader.next()], ['1', '0+Hello'])
    const next = reader.next()
    await write(' you')
    assert.equal(await next, '5+ you')
    await lines(2, ['Hello you'])
    await write('New')
    const late = read(platform, id, { after: 2 })
    assert.equal(await late.next(), '0+New')
    await finish()
    assert.deepEqual(await late.rest(), ['stream_end'])
    assert.deepEqual((await reader.rest()).slice(0, 1), ['2'])
  })

  test('a reader in another process gets the same events', async () => {
    const { id, other, write, lines, finish } = await start()
    const process = await other()
    await write('Hel')
    await write('lo')
    const reader = read(process, id)
    assert.equal(await reader.next(), '0+Hello')
    await lines(1, ['Hello'])
    assert.equal(await reader.next(), '1')
    assert.equal(await Promise.race([read(process, id, { after: 1 }).next(), finish()]).then(Boolean), true)
  })

  test('a process that started within a block gets it from the one that the agent is connected to', async () => {
    const { id, other, write, lines } = await start()
    await write('Hel')
    const reader = read(await other(), id)
    assert.equal(await reader.next(), '0+Hel')
    const next = reader.next()
    await write('lo')
    assert.equal(await next, '3+lo')
    await lines(1, ['Hello'])
    assert.equal(await reader.next(), '1')
    await write('New')
    assert.equal(await reader.next(), '0+New')
  })

  test('pieces go only to readers who request them and may read the run', async () => {
    const { platform, id, write, finish } = await start()
    await write('Hel')
    const readers = [read(platform, id, { partials: false }), read(platform, id, { isShown: false })]
    const rests = readers.map((reader) => reader.rest())
    await finish()
    assert.deepEqual(await Promise.all(rests), [['stream_end'], ['stream_end']])
    assert.deepEqual(await read(platform, id).rest(), ['stream_end'])
  })
})
