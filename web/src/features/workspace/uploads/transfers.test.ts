import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ApiError } from '@roost/contracts/client'
import { createTransfers, partBytes, type SentPart, type Transfer } from './transfers.ts'

/** An agent that stores parts, fails when `faults` has an error, and holds requests while `gate` is closed. */
function setUp() {
  const stored = new Map<string, Uint8Array>()
  const partial = new Map<string, Uint8Array>()
  const sent: Pick<SentPart, 'path' | 'offset' | 'isLast'>[] = []
  const faults: unknown[] = []
  const pauses: number[] = []
  const done: [string, boolean][] = []
  let gate = Promise.resolve()
  let concurrent = 0
  let mostConcurrent = 0
  const transfers = createTransfers({
    async send({ id, path, offset, bytes, isLast, signal }) {
      sent.push({ path, offset, isLast })
      concurrent += 1
      mostConcurrent = Math.max(mostConcurrent, concurrent)
      const stopped = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => stopped.reject(signal.reason))
      try {
        await Promise.race([gate, stopped.promise])
      } finally {
        concurrent -= 1
      }
      const fault = faults.shift()
      if (fault) throw fault
      const before = partial.get(id) ?? new Uint8Array()
      if (before.length < offset) throw new ApiError(409, { detail: 'lost', error: 'upload_expired' })
      const after = Buffer.concat([before.subarray(0, offset), bytes])
      partial.set(id, after)
      if (isLast) stored.set(path, after)
    },
    async pause(ms) {
      pauses.push(ms)
    },
    onStored: ({ path }, isIdle) => void done.push([path, isIdle]),
  })
  const state = (id: string) => transfers.current().find((transfer) => transfer.id === id)?.state
  return {
    ...{ transfers, stored, partial, sent, faults, pauses, done, state },
    mostConcurrent: () => mostConcurrent,
    close() {
      const opened = Promise.withResolvers<void>()
      gate = opened.promise
      return opened.resolve
    },
  }
}

const fileOf = (length: number) => new File([Uint8Array.from({ length }, (_, index) => index % 251)], 'file')
const bytesOf = async (file: File) => Buffer.from(await file.arrayBuffer())
const offsets = (sent: readonly { offset: number }[]) => sent.map(({ offset }) => offset)
const add = (transfers: ReturnType<typeof setUp>['transfers'], id: string, file: File) =>
  transfers.add('scout', [{ id, path: `in/${id}`, file }])

test('files of every length arrive, in parts', async () => {
  const t = setUp()
  for (const length of [0, 1, partBytes, partBytes + 1]) {
    const file = fileOf(length)
    add(t.transfers, `f${length}`, file)
    const [ended] = await t.transfers.ended([`f${length}`])
    assert.deepEqual([ended?.state, ended?.sent, ended?.size], ['done', length, length])
    assert.deepEqual(Buffer.from(t.stored.get(`in/f${length}`) ?? []), await bytesOf(file))
  }
  assert.deepEqual(offsets(t.sent), [0, 0, 0, 0, partBytes])
})

test('two files are sent at a time, and the last one reports an idle agent', async () => {
  const t = setUp()
  const open = t.close()
  for (const id of ['a', 'b', 'c']) add(t.transfers, id, fileOf(1))
  assert.deepEqual(['a', 'b', 'c'].map(t.state), ['sending', 'sending', 'waiting'])
  open()
  await t.transfers.ended(['a', 'b', 'c'])
  assert.equal(t.mostConcurrent(), 2)
  assert.deepEqual(
    t.done.map(([, isIdle]) => isIdle),
    [false, false, true],
  )
})

test('a lost connection resumes after the last confirmed part', async () => {
  const t = setUp()
  const file = fileOf(3 * partBytes)
  const states = new Set<string | undefined>()
  t.transfers.subscribe(() => states.add(t.state('a')))
  t.faults.push(null, new TypeError('Failed to fetch'), new TypeError('Failed to fetch'))
  add(t.transfers, 'a', file)
  await t.transfers.ended(['a'])
  assert.deepEqual(offsets(t.sent), [0, partBytes, partBytes, partBytes, 2 * partBytes])
  assert.deepEqual(t.pauses, [1000, 2000])
  assert.ok(states.has('offline'))
  assert.deepEqual(Buffer.from(t.stored.get('in/a') ?? []), await bytesOf(file))
})

test('a file starts again when the agent lost its beginning', async () => {
  const t = setUp()
  const file = fileOf(2 * partBytes)
  t.faults.push(null, new ApiError(409, { detail: 'lost', error: 'upload_expired' }))
  add(t.transfers, 'a', file)
  await t.transfers.ended(['a'])
  assert.deepEqual(offsets(t.sent), [0, partBytes, 0, partBytes])
  assert.equal(t.state('a'), 'done')
})

test('a refused file fails with its error, and Retry continues it', async () => {
  const t = setUp()
  const full = new ApiError(409, { detail: 'full', error: 'disk_quota_reached' })
  t.faults.push(null, full)
  add(t.transfers, 'a', fileOf(2 * partBytes))
  const [failed] = await t.transfers.ended(['a'])
  assert.deepEqual([failed?.state, failed?.fault], ['failed', full])
  t.transfers.retry('a')
  await t.transfers.ended(['a'])
  assert.deepEqual(offsets(t.sent), [0, partBytes, partBytes])
  assert.equal(t.state('a'), 'done')
})

test('a cancelled file stores nothing, and the next one begins', async () => {
  const t = setUp()
  const open = t.close()
  for (const id of ['a', 'b', 'c', 'd']) add(t.transfers, id, fileOf(1))
  // Reading the file takes a moment.
  while (t.sent.length < 2) await turn()
  t.transfers.cancel('a')
  t.transfers.cancel('d')
  assert.equal(t.state('d'), 'cancelled')
  await t.transfers.ended(['a'])
  assert.equal(t.state('a'), 'cancelled')
  open()
  await t.transfers.ended(['b', 'c'])
  assert.deepEqual([...t.stored.keys()], ['in/b', 'in/c'])
  t.transfers.clearEnded('scout')
  assert.deepEqual(t.transfers.current(), [])
})

test('a file that cannot be read any more fails in words', async () => {
  const t = setUp()
  const file = fileOf(1)
  file.slice = () => {
    throw new Error('changed')
  }
  add(t.transfers, 'a', file)
  const [ended] = await t.transfers.ended(['a'])
  const { state, fault } = ended as Transfer
  assert.equal(state, 'failed')
  assert.match(String(fault), /could not be read/)
})

test('removing open transfers cancels them', async () => {
  const t = setUp()
  t.close()
  add(t.transfers, 'a', fileOf(1))
  const ended = t.transfers.ended(['a'])
  t.transfers.remove(new Set(['a']))
  assert.deepEqual(await ended, [])
  assert.deepEqual(t.stored.size, 0)
})
