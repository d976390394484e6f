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
  /** Accepts work the way a feature does. */
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
  test('a repeated key gets the stored status and body', async () => {
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

  test('409 with the execution while the first request runs', async () => {
    await using db = await openDb()
    const { idempotency, accept } = open(db)
    const { claim } = await idempotency.open(scope)
    assert.ok(claim)
    await accept(claim, 'e1')
    await assert.rejects(idempotency.open(scope), inProgress({ execution_id: 'e1' }))
  })

  test('one of twenty concurrent requests with the same key runs; the others get its reply or 409', async () => {
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

  test('work that fails releases the key', async () => {
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

  test('a call that fails can store another reply first', async () => {
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

  test('a receipt is replayed during its run and after it succeeded, not after it failed', async () => {
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

  test('one of twenty concurrent requests runs after a failed first run', async () => {
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

  test('a key expires after 24 hours', async () => {
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

test('when the process died before storing the reply, the reply of the work is replayed', async () => {
  await using db = await openTestDatabase()
  const { idempotency, accept, works } = open(db)
  const { claim } = await idempotency.open(scope)
  await accept(claim ?? assert.fail(), 'e1')
  works.set('e1', { state: 'done', reply: null })
  await assert.rejects(idempotency.open(scope), inProgress({ execution_id: 'e1' }))
  works.set('e1', { state: 'done', reply: done })
  assert.deepEqual((await idempotency.open(scope)).replay, done)
})

test('a claim that names no work expires ten minutes after its process died', async () => {
  await using db = await openTestDatabase()
  const { idempotency, accept, clock } = open(db)
  const { claim } = await idempotency.open(scope)
  await accept(claim ?? assert.fail())
  await assert.rejects(idempotency.open(scope), inProgress({}))
  await clock.advance(600)
  assert.ok((await idempotency.open(scope)).claim)
})

test('a rolled back claim leaves the key free, and settling it does nothing', async () => {
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

test('requests run unprotected while the store cannot be read', async () => {
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

test('a database that recovers between the read and the work lets no request run twice', async () => {
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

test('a scope belongs to one family, subject and key; without a key there is no scope', () => {
  assert.equal(scopeOf('task', 'a', undefined), null)
  assert.equal(scopeOf('task', 'a', ''), null)
  const scopes = [scopeOf('task', 'a', 'k'), scopeOf('chat', 'a', 'k'), scopeOf('task', 'b', 'k')]
  const all = [...scopes, scopeOf('task', 'a', 'k2'), scopeOf('taska', '', 'k')]
  assert.equal(new Set(all.map((scope) => scope?.hash)).size, 5)
  assert.match(scopes[0]?.hash ?? '', /^[0-9a-f]{64}$/)
  assert.deepEqual(scopeOf('task', 'a', 'k'), scopes[0])
})

test('a receipt stored with the claim is replayed from the commit on', async () => {
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

test('a reused key with another body gets the first reply and a warning in the log', async () => {
  await using db = await openTestDatabase()
  const warnings: object[] = []
  const { clock } = open(db)
  const idempotency = createIdempotency({
    db,
    clock,
    log: { warn: (fields: unknown) => void warnings.push(fields as object) },
    workState: async () => ({ state: 'open' }),
  })
  const start = (body: object) =>
    idempotency.once(scopeOf('task', 'agent-1', 'key-1', body), async (claim) => {
      await db.atomically((tx) => claim.take(tx, { execution_id: 'e1' }))
      return done
    })
  await start({ message: 'one' })
  assert.equal((await start({ message: 'one' })).replayed, true)
  assert.deepEqual(warnings, [])
  assert.deepEqual((await start({ message: 'two' })).body, done.body)
  assert.deepEqual(warnings, [{ execution_id: 'e1', fan_out_id: null }])
})

forEachDialect((_dialect, openDb) => {
  test('a request runs unprotected when its claim cannot be written', async () => {
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

test('features report their own work; unknown work is void', async () => {
  const states = createWorkStates()
  states.register(async ({ execution_id }) => (execution_id === 'e1' ? { state: 'open' } : null))
  states.register(async ({ fan_out_id }) => (fan_out_id === null ? null : { state: 'done', reply: null }))
  assert.deepEqual(await states.ask({ execution_id: 'e1', fan_out_id: null }), { state: 'open' })
  assert.deepEqual(await states.ask({ execution_id: null, fan_out_id: 'f' }), { state: 'done', reply: null })
  assert.deepEqual(await states.ask({ execution_id: 'e2', fan_out_id: null }), { state: 'void' })
})
