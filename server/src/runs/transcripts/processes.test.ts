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
      // Topics subscribed before the connection is ready would be told of a gap later, at any time.
      const ready = Promise.withResolvers<void>()
      await ephemeral.subscribe('ready', () => ready.resolve(), ready.resolve)
      await ephemeral.publish('ready', '')
      await ready.promise
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
})
