import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { defaultHistoryRules } from '@roost/contracts/link/history'
import { createLeases } from '../../foundation/leases/index.ts'
import { systemClock } from '../../kit/clock.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, openTestDatabase } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'
import { createMakeRecord } from './record.ts'
import { createRecordTurns } from './record-turns.ts'
import { linkWorkspace } from './test/linked-workspace.ts'

forEachDialect((_, open) => {
  test('a record through another process waits, instead of ending the open scan', async () => {
    const db = await open()
    await using world = await openAgents(db)
    await using second = await db.openAgain()
    const { key } = await world.person('admin')
    await world.request(key, 'POST', '/api/agents', { name: 'ada' })
    const { id } = await world.row('ada')
    const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using workspace = linkWorkspace(world.link, id)
    const { 'history.page': page } = workspace.answers
    assert.ok(page)
    world.link.link(id, {
      ...workspace.answers,
      async 'history.page'(request) {
        reached.resolve()
        await go.promise
        return page(request)
      },
    })
    writeFileSync(join(workspace.home, 'a'), 'a')
    workspace.wrote()
    const [claims, forks] = [world.db, second].map((each) =>
      createMakeRecord({
        ...{ db: each, clock: systemClock, link: world.link, history: world.history },
        turns: createRecordTurns({
          leases: createLeases({ db: each, clock: systemClock }),
          clock: systemClock,
        }),
        rulesOf: async () => defaultHistoryRules,
        roomOf: async () => 1e12,
        received() {},
        isWithinQuota: async () => true,
        makeRoom: async () => false,
      }),
    )
    assert.ok(claims && forks)
    const around = claims.make(id, { reason: () => 'before_run' })
    await reached.promise
    const demanded = forks.make(id, { reason: () => 'demand' })
    const scans = () => world.link.calls.filter(({ t }) => t === 'history.scan').length
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal(scans(), 1)
    go.resolve()
    assert.deepEqual(
      (await Promise.all([around, demanded])).map(({ record }) => [record.number, record.reason]),
      [
        [1, 'before_run'],
        [2, 'demand'],
      ],
    )
  })
})

async function openProcesses() {
  const db = await openTestDatabase()
  const clock = createTestClock()
  const leases = createLeases({ db, clock })
  const process = () => createRecordTurns({ leases, clock })
  return {
    clock,
    leases,
    process,
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  }
}

test('the turn of a killed process ends after ten seconds', async () => {
  await using t = await openProcesses()
  await t.leases.take('records:a1', 'killed', 10)
  const turn = t.process()('a1', async () => 'recorded')
  for (let second = 0; second < 10; second += 1) {
    await t.clock.waitingFor(0.1)
    await t.clock.advance(1)
  }
  assert.equal(await turn, 'recorded')
})

test('a turn is kept while its work takes long, and a frozen process learns that it lost it', async () => {
  await using t = await openProcesses()
  const frozen = Promise.withResolvers<void>()
  const own = t.process()('a1', async (lost) => {
    for (let renewal = 0; renewal < 5; renewal += 1) {
      await t.clock.waitingFor(3)
      await t.clock.advance(3)
    }
    await t.clock.waitingFor(3)
    assert.equal(await t.leases.take('records:a1', 'other', 10), null)
    t.clock.set(new Date(t.clock.now().getTime() + 11_000))
    assert.ok(await t.leases.take('records:a1', 'other', 10))
    lost.addEventListener('abort', () => frozen.resolve())
    await t.clock.advance(0)
    await frozen.promise
    return lost.reason
  })
  assert.match(String(await own), /lost the lease records:a1/)
})

test('an abort ends the wait for a turn, in this process and for another one', async () => {
  await using t = await openProcesses()
  await t.leases.take('records:a1', 'other', 10)
  const over = new AbortController()
  const turns = t.process()
  const waiting = [1, 2].map(() => turns('a1', async () => assert.fail('no turn'), over.signal))
  await t.clock.waitingFor(0.1)
  over.abort(new Error('the caller has left'))
  for (const each of waiting) await assert.rejects(each, /the caller has left/)
})
