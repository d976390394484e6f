import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { silentLog } from '../../ports/log.ts'
import { redisServerPath, startRedis } from '../../test/redis.ts'
import { createLive } from './index.ts'

const skip = redisServerPath() ? false : 'redis-server is not installed'

describe('two processes on one Redis', { skip }, () => {
  async function start() {
    const redis = await startRedis()
    const received: string[] = []
    const open = async () => {
      const ephemeral = await redis.open()
      const counted: typeof ephemeral = {
        ...ephemeral,
        subscribe: (topic, listener, onGap) =>
          ephemeral.subscribe(
            topic,
            (message) => {
              received.push(topic)
              listener(message)
            },
            onGap,
          ),
      }
      const live = createLive({ ephemeral: counted, log: silentLog })
      await live.open()
      return live
    }
    const [writer, reader] = [await open(), await open()]
    return {
      writer,
      reader,
      received,
      async [Symbol.asyncDispose]() {
        await Promise.all([writer.close(), reader.close()])
        await redis[Symbol.asyncDispose]()
      },
    }
  }

  /** Resolves with each change that the reader is notified of. */
  function changes(live: Awaited<ReturnType<typeof start>>['reader'], id: string) {
    let next = Promise.withResolvers<void>()
    const stop = live.listen(id, { changed: () => next.resolve() })
    return {
      stop,
      async change() {
        await next.promise
        next = Promise.withResolvers()
      },
    }
  }

  test('a reader learns of a change in the other process, and of one before its subscription', async () => {
    await using it = await start()
    const followed = changes(it.reader, 'run-1')
    it.writer.changed('run-1')
    await followed.change()
    it.writer.changed('run-1')
    await followed.change()
    followed.stop()
  })

  test('a process receives no changes of runs that nobody follows there', async () => {
    await using it = await start()
    const followed = changes(it.reader, 'run-1')
    await followed.change()
    it.received.length = 0
    for (let count = 0; count < 20; count += 1) it.writer.changed(`other-${count}`)
    // Redis keeps the order of one publisher.
    it.writer.changed('run-1')
    await followed.change()
    assert.deepEqual(it.received, ['executions:run-1'])
    followed.stop()
  })

  test('who waits for the end of a run in another process receives nothing else of it', async () => {
    await using it = await start()
    const ends: (() => void)[] = []
    const nextEnd = () => new Promise<void>((resolve) => ends.push(resolve))
    const [isReady, isOver] = [nextEnd(), nextEnd()]
    const stop = it.reader.listenForEnd('run-1', () => ends.shift()?.())
    await isReady
    it.writer.changed('run-1')
    it.writer.partial('run-1', piece('Hel'))
    it.writer.ended('run-1')
    await isOver
    assert.deepEqual(it.received, ['executions:run-1:end'])
    stop()
  })

  test('a reader learns of an end in the other process and in its own', async () => {
    await using it = await start()
    const followed = changes(it.reader, 'run-1')
    await followed.change()
    it.writer.ended('run-1')
    await followed.change()
    it.reader.ended('run-1')
    await followed.change()
    followed.stop()
  })

  const piece = (text: string) => ({ type: 'partial' as const, kind: 'text' as const, text })
  /** Resolves with each piece that the reader gets: `0+Hel` for text at its offset. */
  function pieces(live: Awaited<ReturnType<typeof start>>['reader'], id: string, joins: boolean) {
    const waiting: string[] = []
    let arrived = Promise.withResolvers<void>()
    const take = ({ at, text }: { at: number; text: string }) => {
      waiting.push(`${at}+${text}`)
      arrived.resolve()
    }
    const stop = live.listen(id, { changed() {}, partial: take, ...(joins ? { joined: take } : {}) })
    return {
      stop,
      async next() {
        while (waiting.length === 0) {
          arrived = Promise.withResolvers()
          await arrived.promise
        }
        return waiting.shift()
      },
    }
  }

  test('pieces go only to processes that follow the run; a late reader gets the block from its start', async () => {
    await using it = await start()
    it.writer.partial('run-1', piece('Hel'))
    it.writer.partial('run-2', piece('other'))
    const late = pieces(it.reader, 'run-1', true)
    assert.equal(await late.next(), '0+Hel')
    it.writer.partial('run-2', piece('other'))
    it.writer.partial('run-1', piece('lo'))
    assert.equal(await late.next(), '3+lo')
    assert.deepEqual(it.reader.openPieces('run-1'), [{ ...piece('Hello'), at: 0 }])
    // Both processes get the reader's request for the start of the block. Nothing else went to every process.
    assert.deepEqual(
      it.received.filter((topic) => topic !== 'executions:run-1'),
      ['executions', 'executions'],
    )
    const later = pieces(it.reader, 'run-1', true)
    late.stop()
    it.writer.closed('run-1')
    it.writer.partial('run-1', piece('New'))
    assert.equal(await later.next(), '0+New')
    later.stop()
    assert.deepEqual(it.reader.openPieces('run-1'), [], 'nobody follows it here')
  })

  test('a reader who wants only new pieces gets no earlier ones', async () => {
    await using it = await start()
    it.writer.partial('run-1', piece('Hel'))
    const [whole, bare] = [pieces(it.reader, 'run-1', true), pieces(it.reader, 'run-1', false)]
    assert.equal(await whole.next(), '0+Hel')
    it.writer.partial('run-1', piece('lo'))
    assert.equal(await bare.next(), '3+lo')
    whole.stop()
    bare.stop()
  })

  test('the readers of a run get its pieces from whichever process the agent is connected to', async () => {
    await using it = await start()
    const followed = pieces(it.reader, 'run-1', true)
    it.writer.partial('run-1', piece('Hel'), 0)
    assert.equal(await followed.next(), '0+Hel')
    // The agent has connected to the process of the reader.
    it.reader.partial('run-1', piece('lo'), 3)
    assert.equal(await followed.next(), '3+lo')
    assert.deepEqual(it.reader.openPieces('run-1'), [{ ...piece('Hello'), at: 0 }])
    followed.stop()
  })
})
