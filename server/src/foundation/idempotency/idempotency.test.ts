import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { isFault } from '../../kit/fault.ts'
import { DatabaseDown, type Db } from '../../ports/database/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, openTestDatabase } from '../../test/dialects.ts'
import {
  type Claim,
  createIdempotency,
  createWorkStates,
  type Reply,
  scopeOf,
  type WorkState,
} from './index.ts'

const scope = scopeOf('task', 'agent-1', 'key-1')
const done: Reply = { status: 200, body: { text: 'hello' } }

function open(db: Db) {
  const clock = createTestClock()
  const works = new Map<string, WorkState>()
  const idempotency = createIdempotency({
    db,
    clock,
    log: silentLog,
    workState: async ({ execution_id, fan_out_id }) =>
      works.get(execution_id ?? fan_out_id ?? '') ?? { state: 'open' },
  })
  /** Accepts work as a feature does. */
  const accept = (claim: Claim, execution_id?: string) =>
    db.atomically((tx) => claim.take(tx, execution_id ? { execution_id } : {}))
  return { clock, works, idempotency, accept }
}

const inProgress = (fields: Record<string, unknown>) => (error: unknown) => {
  assert.ok(isFault(error, 'request_in_progress'))
  assert.deepEqual(error.fields, fields)
  return true
}

forEachDialect((_dialect, openDb) => {
  test('the same key again gets the stored status and body', async () => {
    await using db = await openDb()
    const { idempotency, accept } = open(db)
    const first = await idempotency.once(scope, async (claim) => {
      await accept(claim, 'e1')
      return done
    })
    assert.deepEqual(first, { ...done, replayed: false })
    const again = await idempotency.once(scope, () => assert.fail('ran twice'))
    assert.deepEqual(again, { ...done, receipt: false, replayed: true })
  })

  test('409 with the execution while the first is running', async () => {
    await using db = await openDb()
    const { idempotency, accept } = open(db)
    const { claim } = await idempotency.open(scope)
    assert.ok(claim)
    await accept(claim, 'e1')
    await assert.rejects(idempotency.open(scope), inProgress({ execution_id: 'e1' }))
  })

  test('of twenty requests with one key one is done, the others are told', async () => {
    await using db = await openDb()
    await using other = await db.openAgain()
    const processes = [open(db), open(other)]
    let runs = 0
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => {
        const { idempotency, accept } = processes[i % 2] ?? assert.fail()
        return idempotency.once(scope, async (claim) => {
          await accept(claim, `e${i}`)
          runs += 1
          return { status: 201, body: { id: i } }
        })
      }),
    )
    assert.equal(runs, 1)
    const replies = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    assert.equal(replies.filter(({ replayed }) => !replayed).length, 1)
    assert.equal(new Set(replies.map(({ body }) => JSON.stringify(body))).size, 1)
    for (const answer of answers) {
      if (answer.status === 'rejected') assert.ok(isFault(answer.reason, 'request_in_progress'))
    }
  })

  test('work that is refused or fails releases the key', async () => {
    await using db = await openDb()
    const { idempotency, accept } = open(db)
    const refused = new Error('refused')
    await assert.rejects(
      idempotency.once(scope, async () => {
        throw refused
      }),
      refused,
    )
    await assert.rejects(
      idempotency.once(scope, async (claim) => {
        await accept(claim, 'e1')
        throw refused
      }),
      refused,
    )
    const reply = await idempotency.once(scope, async (claim) => {
      await accept(claim, 'e2')
      return done
    })
    assert.equal(reply.replayed, false)
  })

  test('another reply than the one of this call may be stored before it fails', async () => {
    await using db = await openDb()
    const { idempotency, accept } = open(db)
    const receipt: Reply = { status: 200, body: { status: 'queued_timeout' }, receipt: true }
    await assert.rejects(
      idempotency.once(scope, async (claim) => {
        await accept(claim, 'e1')
        await claim.complete(receipt)
        throw new Error('waited too long')
      }),
    )
    assert.deepEqual((await idempotency.open(scope)).replay, receipt)
  })

  test('a receipt is replayed while its run goes on and once it is done, not when it came to nothing', async () => {
    await using db = await openDb()
    const { idempotency, accept, works } = open(db)
    const receipt: Reply = { status: 202, body: { execution_id: 'e1' }, receipt: true }
    const start = (id: string, reply: Reply) =>
      idempotency.once(scope, async (claim) => {
        await accept(claim, id)
        return reply
      })
    await start('e1', receipt)
    assert.equal((await start('e2', receipt)).replayed, true)
    works.set('e1', { state: 'done', reply: null })
    assert.equal((await start('e2', receipt)).replayed, true)
    works.set('e1', { state: 'void' })
    assert.equal((await start('e2', done)).replayed, false)
    assert.deepEqual((await idempotency.open(scope)).replay, { ...done, receipt: false })
  })

  test('of twenty that start anew after a run that came to nothing one does', async () => {
    await using db = await openDb()
    const { idempotency, accept, works } = open(db)
    const { claim } = await idempotency.open(scope)
    await accept(claim ?? assert.fail(), 'e1')
    works.set('e1', { state: 'void' })
    let runs = 0
    await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        idempotency.once(scope, async (claim) => {
          await accept(claim, `again-${i}`)
          runs += 1
          return done
        }),
      ),
    )
    assert.equal(runs, 1)
  })

  test('a key lives a day', async () => {
    await using db = await openDb()
    const { idempotency, accept, clock } = open(db)
    const start = () =>
      idempotency.once(scope, async (claim) => {
        await accept(claim, 'e1')
        return done
      })
    await start()
    await clock.advance(24 * 3600 - 1)
    assert.equal((await start()).replayed, true)
    await clock.advance(1)
    assert.equal((await start()).replayed, false)
    for (const loop of idempotency.loops) await loop.run(new AbortController().signal)
    assert.equal((await start()).replayed, true)
  })
})

test('a process that died before it stored the reply: what the work says is replayed', async () => {
  await using db = await openTestDatabase()
  const { idempotency, accept, works } = open(db)
  const { claim } = await idempotency.open(scope)
  await accept(claim ?? assert.fail(), 'e1')
  works.set('e1', { state: 'done', reply: null })
  await assert.rejects(idempotency.open(scope), inProgress({ execution_id: 'e1' }))
  works.set('e1', { state: 'done', reply: done })
  assert.deepEqual((await idempotency.open(scope)).replay, done)
})

test('a claim that names no work is free again ten minutes after its process died', async () => {
  await using db = await openTestDatabase()
  const { idempotency, accept, clock } = open(db)
  const { claim } = await idempotency.open(scope)
  await accept(claim ?? assert.fail())
  await assert.rejects(idempotency.open(scope), inProgress({}))
  await clock.advance(600)
  assert.ok((await idempotency.open(scope)).claim)
})

test('a claim that was rolled back leaves the key free, and settling it does nothing', async () => {
  await using db = await openTestDatabase()
  const { idempotency } = open(db)
  const { claim } = await idempotency.open(scope)
  assert.ok(claim)
  await assert.rejects(
    db.atomically(async (tx) => {
      await claim.take(tx, { execution_id: 'e1' })
      throw new Error('rolled back')
    }),
  )
  await claim.complete(done)
  assert.equal((await idempotency.open(scope)).replay, null)
})

test('requests go in unprotected while the store cannot be read', async () => {
  await using db = await openTestDatabase()
  const away = await db.openAgain()
  await away.close()
  const { idempotency } = open(away)
  let runs = 0
  for (let i = 0; i < 2; i++) {
    const reply = await idempotency.once(scope, async (claim) => {
      await db.atomically((tx) => claim.take(tx, { execution_id: 'e1' }))
      runs += 1
      return done
    })
    assert.equal(reply.replayed, false)
  }
  assert.equal(runs, 2)
})

test('a database that comes back between the look and the work lets nothing in twice', async () => {
  await using db = await openTestDatabase()
  let isAway = false
  const flickering: Db = {
    ...db,
    withTables: <Tables>() =>
      new Proxy(db.withTables<Tables>(), {
        get(tables, name) {
          if (isAway && name === 'selectFrom') throw new DatabaseDown(new Error('gone'))
          const value: unknown = Reflect.get(tables, name)
          return typeof value === 'function' ? value.bind(tables) : value
        },
      }),
  }
  const { idempotency } = open(flickering)
  const enter = () =>
    idempotency.enter(scope, (claim) => {
      isAway = false
      return db.atomically((tx) => claim.take(tx, { execution_id: 'e1' }, done))
    })
  assert.notEqual((await enter()).claim, null)
  isAway = true
  assert.deepEqual((await enter()).replay?.body, done.body)
})

test('a scope is the key of one family and one subject; no key, no scope', () => {
  assert.equal(scopeOf('task', 'a', undefined), null)
  assert.equal(scopeOf('task', 'a', ''), null)
  const scopes = [scopeOf('task', 'a', 'k'), scopeOf('chat', 'a', 'k'), scopeOf('task', 'b', 'k')]
  const all = [...scopes, scopeOf('task', 'a', 'k2'), scopeOf('taska', '', 'k')]
  assert.equal(new Set(all.map((scope) => scope?.hash)).size, 5)
  assert.match(scopes[0]?.hash ?? '', /^[0-9a-f]{64}$/)
  assert.deepEqual(scopeOf('task', 'a', 'k'), scopes[0])
})

test('a receipt that is written with the claim is replayed from the commit on', async () => {
  await using db = await openTestDatabase()
  const { idempotency, works } = open(db)
  const receipt: Reply = { status: 200, body: { status: 'accepted' }, receipt: true }
  const start = (id: string) =>
    idempotency.enter(scope, (claim) => db.atomically((tx) => claim.take(tx, { execution_id: id }, receipt)))
  assert.equal((await start('e1')).replay, null)
  assert.deepEqual((await start('e2')).replay, receipt)
  works.set('e1', { state: 'void' })
  assert.equal((await start('e2')).replay, null)
  assert.deepEqual((await start('e3')).replay, receipt)
})

test('a reused key with another body is answered as the first was, and the log says so', async () => {
  await using db = await openTestDatabase()
  const told: object[] = []
  const { clock } = open(db)
  const idempotency = createIdempotency({
    db,
    clock,
    log: { warn: (fields: unknown) => void told.push(fields as object) },
    workState: async () => ({ state: 'open' }),
  })
  const start = (body: object) =>
    idempotency.once(scopeOf('task', 'agent-1', 'key-1', body), async (claim) => {
      await db.atomically((tx) => claim.take(tx, { execution_id: 'e1' }))
      return done
    })
  await start({ message: 'one' })
  assert.equal((await start({ message: 'one' })).replayed, true)
  assert.deepEqual(told, [])
  assert.deepEqual((await start({ message: 'two' })).body, done.body)
  assert.deepEqual(told, [{ execution_id: 'e1', fan_out_id: null }])
})

forEachDialect((_dialect, openDb) => {
  test('a claim that cannot be written lets the request in unprotected', async () => {
    await using db = await openDb()
    const { idempotency } = open(db)
    await sql`alter table idempotency_claims rename column body_digest to elsewhere`.execute(db.withTables())
    let rows = 0
    const { accepted } = await idempotency.enter(scope, (claim) =>
      db.atomically(async (tx) => {
        await claim.take(tx, { execution_id: 'e1' })
        rows += 1
        return 'in'
      }),
    )
    assert.deepEqual([accepted, rows], ['in', 1])
  })
})

test('features answer for their own work; what nobody knows is gone', async () => {
  const states = createWorkStates()
  states.register(async ({ execution_id }) => (execution_id === 'e1' ? { state: 'open' } : null))
  states.register(async ({ fan_out_id }) => (fan_out_id === null ? null : { state: 'done', reply: null }))
  assert.deepEqual(await states.ask({ execution_id: 'e1', fan_out_id: null }), { state: 'open' })
  assert.deepEqual(await states.ask({ execution_id: null, fan_out_id: 'f' }), { state: 'done', reply: null })
  assert.deepEqual(await states.ask({ execution_id: 'e2', fan_out_id: null }), { state: 'void' })
})
