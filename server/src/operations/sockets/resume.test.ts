import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { WebSocketServer } from 'ws'
import { silentLog } from '../../ports/log.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { maxGap } from './rules.ts'
import { createSockets } from './service.ts'
import { dial, isNumber, numbers } from './test/client.ts'
import { delivered, eventAbout, startProcess } from './test/world.ts'

async function start() {
  return startProcess(await openTestDatabase())
}

describe('coming back', () => {
  test('missed events come first, without gaps or repeats, during new ones', async () => {
    await using it = await start()
    const ann = await it.person('creator')
    const [visible, hidden] = [await it.addAgent(ann), await it.addAgent(await it.person('admin'))]
    const client = await it.watch(ann)
    await it.about([visible], { n: 0 })
    await client.next(isNumber(0))
    client.cut()
    const append = async (from: number, to: number) => {
      for (let first = from; first < to; first += 10) {
        await it.db.atomically(async (tx) => {
          for (let n = first; n < Math.min(first + 10, to); n++) {
            await it.outbox.append(tx, eventAbout([n % 3 === 0 ? hidden : visible], { n }), it.clock.now())
          }
        })
      }
    }
    await append(1, 900)
    const more = append(900, 1500)
    await using back = await it.watch(ann, client.lastEventId())
    await more
    await back.next(isNumber(1499))
    const expected = Array.from({ length: 1500 }, (_, n) => n).filter((n) => n % 3 !== 0)
    assert.deepEqual(numbers(back.events()), expected)
    const ids = back.events().map(({ _eid }) => _eid)
    assert.deepEqual(ids, ids.toSorted())
  })

  test('resync_required for an invalid, future, too old or removed id; then live', async () => {
    await using it = await start()
    const ann = await it.person('creator')
    const agent = await it.addAgent(ann)
    const many = (count: number) =>
      it.db.atomically(async (tx) => {
        for (let n = 0; n < count; n++) await it.outbox.append(tx, eventAbout([agent]), it.clock.now())
      })
    const reasonFor = async (id: string) => {
      await using client = await it.watch(ann, id)
      return (await client.next('resync_required')).reason
    }
    for (const id of ['x', '12', '0000000000000001', '-000000000000001']) {
      assert.equal(await reasonFor(id), 'invalid_last_event_id', id)
    }
    await many(maxGap + 1)
    await it.about([agent], { n: 1 })
    await delivered(it.outbox, maxGap + 2)
    assert.equal(await reasonFor('0000000000000001'), 'gap_too_large')
    await it.db
      .withTables<{ outbox: { position: number } }>()
      .deleteFrom('outbox')
      .where('position', '<=', 3000)
      .execute()
    await using client = await it.watch(ann, '0000000000002500')
    assert.equal((await client.next('resync_required')).reason, 'trimmed')
    await it.about([agent], { n: 2 })
    await client.next(isNumber(2))
    assert.equal(client.events().length, 1)
    await using fine = await it.watch(ann, '0000000000003000')
    await fine.next(isNumber(2))
    assert.equal(fine.events().length, maxGap + 3 - 3000)
  })

  test('resync_required when the missed events cannot be read', async () => {
    await using it = await start()
    const ann = await it.person('creator')
    const agent = await it.addAgent(ann)
    await it.about([agent], { n: 1 })
    await delivered(it.outbox, 1)
    const broken = createSockets({
      ...it,
      callerOf: async () => ann,
      outbox: { ...it.outbox, after: () => Promise.reject(new Error('the disk is gone')) },
      log: silentLog,
    })
    broken.open()
    const server = createServer().listen(0, '127.0.0.1')
    const sockets = new WebSocketServer({ server })
    sockets.on('connection', (socket) => broken.accept(socket, ann, '0000000000000000'))
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await using client = await dial(`ws://127.0.0.1:${port}`)
    assert.equal((await client.next('resync_required')).reason, 'replay_error')
    await broken.close()
    server.close()
  })
})
