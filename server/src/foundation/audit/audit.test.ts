import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { secret } from '../../kit/secret.ts'
import { DatabaseDown, type Db } from '../../ports/database/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, openTestDatabase } from '../../test/dialects.ts'
import { type AuditEntry, createAudit } from './index.ts'
import { auditReadStore } from './read-store.ts'
import { chain, firstInvalid, type Link, type Unchained } from './rules.ts'
import type { AuditRow } from './tables.ts'
import { verifyChain } from './verify.ts'

const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  event_type: 'agent_lifecycle',
  event_action: 'create_agent',
  actor_type: 'user',
  actor_id: 'u1',
  source: 'api',
  ...more,
})

const stored = (db: Db) => auditReadStore(db).range(1, 1_000, 1_000)

/** Verifies the rows as a chain of their own. */
const firstBroken = (rows: AuditRow[]) => {
  const before: Link = { id: (rows[0]?.id ?? 1) - 1, entry_hash: undefined }
  return firstInvalid(rows, before)
}

forEachDialect((_dialect, open) => {
  test('entries are stored in the order of recording, as one chain', async () => {
    await using db = await open()
    const audit = createAudit({ db, clock: createTestClock(), log: silentLog })
    for (let i = 0; i < 450; i++) audit.record(entry({ target_id: `agent-${i}` }))
    await audit.close()
    const rows = await stored(db)
    assert.deepEqual(
      rows.map(({ target_id }) => target_id),
      Array.from({ length: 450 }, (_, i) => `agent-${i}`),
    )
    assert.equal(firstBroken(rows), null)
    assert.equal(rows[0]?.previous_hash, null)
  })

  test('twenty concurrent writers make one chain, even during sweeps', async () => {
    const db = await open()
    const clock = createTestClock()
    const writers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const own = index === 0 ? db : await db.openAgain()
        return createAudit({ db: own, clock, log: silentLog })
      }),
    )
    for (let round = 0; round < 5; round += 1) {
      for (const writer of writers) writer.record(entry())
      await Promise.all(writers.map((writer) => writer.flush()))
      await clock.advance(60)
      const [first, second] = writers
      const before = new Date(clock.now().getTime() - 120_000)
      await Promise.all([first?.sweep(before), second?.sweep(before)])
    }
    const rows = await stored(db)
    assert.equal(rows.length, 40)
    assert.equal(firstBroken(rows), null)
    assert.deepEqual(await verifyChain(db, {}), { valid: true, status: 'verified', checked: 40 })
  })

  test('two processes that write concurrently make one chain', async () => {
    await using db = await open()
    await using other = await db.openAgain()
    const audits = [db, other].map((each) =>
      createAudit({ db: each, clock: createTestClock(), log: silentLog }),
    )
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const audit = audits[i % 2]
        audit?.record(entry({ target_id: `${i}` }))
        await audit?.flush()
      }),
    )
    const rows = await stored(db)
    assert.equal(rows.length, 40)
    assert.equal(firstBroken(rows), null)
  })

  test('entries whose commit was not answered are stored once, and later ones follow them', async () => {
    await using db = await open()
    let lost = 0
    let tries = 0
    const flaky: Db = {
      ...db,
      atomically: async (work) => {
        tries += 1
        const result = await db.atomically(work)
        if (lost === 0) return result
        lost -= 1
        throw new DatabaseDown(new Error('Connection terminated unexpectedly'))
      },
    }
    const audit = createAudit({ db: flaky, clock: createTestClock(), log: silentLog })
    const targets = async () => (await stored(db)).map(({ target_id }) => target_id)
    const record = (...ids: string[]) => {
      for (const target_id of ids) audit.record(entry({ target_id }))
    }
    record('before')
    await audit.flush()
    lost = 2
    record('one', 'two')
    await assert.rejects(audit.flush(), DatabaseDown)
    // Another process continues the chain in the meantime.
    const other = createAudit({ db, clock: createTestClock(), log: silentLog })
    other.record(entry({ target_id: 'other' }))
    await other.close()
    record('three')
    await assert.rejects(audit.flush(), DatabaseDown)
    record('four')
    await audit.flush()
    const expected = ['before', 'one', 'two', 'other', 'three', 'four']
    assert.deepEqual(await targets(), expected)

    lost = 1
    record('last')
    await audit.close()
    assert.deepEqual(await targets(), [...expected, 'last'])
    assert.deepEqual(await verifyChain(db, {}), { valid: true, status: 'verified', checked: 7 })
    lost = Number.POSITIVE_INFINITY
    tries = 0
    record('never answered')
    await assert.rejects(audit.close(), DatabaseDown)
    assert.equal(tries, 3)
  })

  test('the database refuses to change or remove entries', async () => {
    await using db = await open()
    const audit = createAudit({ db, clock: createTestClock(), log: silentLog })
    audit.record(entry())
    await audit.flush()
    const tables = db.withTables()
    await assert.rejects(sql`update audit_log set actor_id = 'u2'`.execute(tables), /append-only/)
    await assert.rejects(sql`delete from audit_log`.execute(tables), /append-only/)
    if (db.dialect === 'postgres')
      await assert.rejects(sql`truncate audit_log`.execute(tables), /append-only/)
    assert.equal((await stored(db)).length, 1)
  })

  test('the retention sweep removes old entries, and the rest stays a chain that grows', async () => {
    await using db = await open()
    const clock = createTestClock()
    const audit = createAudit({ db, clock, log: silentLog })
    for (let day = 0; day < 4; day++) {
      audit.record(entry({ target_id: `day-${day}` }))
      await audit.flush()
      clock.set(new Date(clock.now().getTime() + 86_400_000))
    }
    assert.equal(await audit.sweep(new Date('2026-01-07T00:00:00.000Z')), 2)
    audit.record(entry({ target_id: 'later' }))
    await audit.flush()
    const rows = await stored(db)
    assert.deepEqual(
      rows.map(({ target_id }) => target_id),
      ['day-2', 'day-3', 'later'],
    )
    assert.equal(firstBroken(rows), null)
    await assert.rejects(sql`delete from audit_log`.execute(db.withTables()), /append-only/)
  })

  test('the sweep leaves no gap when the clocks of two processes differ', async () => {
    await using db = await open()
    const clock = createTestClock()
    const audit = createAudit({ db, clock, log: silentLog })
    for (const second of [0, 20, 10, 30]) {
      clock.set(new Date(Date.UTC(2026, 0, 1, 0, 0, second)))
      audit.record(entry({ target_id: `${second}` }))
    }
    await audit.flush()
    assert.equal(await audit.sweep(new Date('2026-01-01T00:00:15.000Z')), 1)
    const rows = await stored(db)
    assert.deepEqual(
      rows.map(({ target_id }) => target_id),
      ['20', '10', '30'],
    )
    assert.equal(firstBroken(rows), null)
  })

  test('text that a database refuses does not block the chain', async () => {
    await using db = await open()
    const audit = createAudit({ db, clock: createTestClock(), log: silentLog })
    audit.record(entry({ actor_email: 'a\0b\ud800', details: { name: 'a\0b\ud800' } }))
    audit.record(entry({ target_id: 'x'.repeat(5_000), details: { name: 'x'.repeat(50_000) } }))
    await audit.close()
    const rows = await stored(db)
    assert.equal(rows[0]?.actor_email, 'ab\ufffd')
    assert.match(String(rows[1]?.details), /^\{"too_long":\d{5}\}$/)
    assert.equal(firstBroken(rows), null)
  })
})

describe('writing', () => {
  test('happens automatically a tenth of a second later', async () => {
    await using db = await openTestDatabase()
    const clock = createTestClock()
    const audit = createAudit({ db, clock, log: silentLog })
    audit.record(entry())
    assert.equal((await stored(db)).length, 0)
    await clock.advance(0.1)
    await audit.flush()
    assert.equal((await stored(db)).length, 1)
  })

  test('entries recorded during a write wait for the next tenth of a second', async () => {
    await using db = await openTestDatabase()
    const clock = createTestClock()
    let writes = 0
    const busy: Db = {
      ...db,
      atomically: async (work) => {
        writes += 1
        if (writes < 4) audit.record(entry({ target_id: `during ${writes}` }))
        return db.atomically(work)
      },
    }
    const audit = createAudit({ db: busy, clock, log: silentLog })
    const targets = async () => (await stored(db)).map(({ target_id }) => target_id)
    audit.record(entry({ target_id: 'first' }))
    await audit.flush()
    assert.deepEqual([await targets(), writes], [['first'], 1])
    await audit.flush()
    assert.deepEqual([await targets(), writes], [['first', 'during 1'], 2])
    await audit.close()
    assert.deepEqual(await targets(), ['first', 'during 1', 'during 2', 'during 3'])
  })

  test('repeated reads make one entry immediately and one for the rest of the minute', async () => {
    await using db = await openTestDatabase()
    const clock = createTestClock()
    const audit = createAudit({ db, clock, log: silentLog })
    const read = (key: string, target = 'a') =>
      audit.recordRead(entry({ mcp_key_id: key, endpoint: 'GET /x', target_id: target, status: 200 }))
    for (let time = 0; time < 20; time += 1) read('k1')
    read('k1', 'b')
    read('k2')
    const storedDetails = async () => {
      await audit.flush()
      return (await stored(db)).map((row) => [row.mcp_key_id, row.target_id, JSON.parse(row.details)])
    }
    const first = [
      ['k1', 'a', {}],
      ['k1', 'b', {}],
      ['k2', 'a', {}],
    ]
    assert.deepEqual(await storedDetails(), first)
    await clock.advance(61)
    const rest = [['k1', 'a', { calls: 19 }]]
    assert.deepEqual(await storedDetails(), [...first, ...rest])
    read('k1')
    read('k1')
    clock.set('2020-01-01T00:00:00.000Z')
    await audit.close()
    assert.deepEqual(await storedDetails(), [...first, ...rest, ['k1', 'a', {}], ['k1', 'a', { calls: 1 }]])
  })

  test('entries wait while the database is unavailable and are stored afterwards', async () => {
    await using db = await openTestDatabase()
    const clock = createTestClock()
    let away = true
    const flaky: Db = {
      ...db,
      atomically: async (work) => {
        if (away) throw new Error('the database is away')
        return db.atomically(work)
      },
    }
    const audit = createAudit({ db: flaky, clock, log: silentLog })
    audit.record(entry({ target_id: 'first' }))
    await assert.rejects(audit.flush(), /away/)
    audit.record(entry({ target_id: 'second' }))
    away = false
    await audit.flush()
    assert.deepEqual(
      (await stored(db)).map(({ target_id }) => target_id),
      ['first', 'second'],
    )
  })

  test('details contain no secrets', async () => {
    await using db = await openTestDatabase()
    const audit = createAudit({ db, clock: createTestClock(), log: silentLog })
    const details = {
      api_key: 'hunter2',
      note: 'used sk-ant-hunter2hunter2',
      it: secret('hunter2'),
      name: 'wren',
    }
    audit.record(entry({ details }))
    await audit.close()
    const [row] = await stored(db)
    assert.doesNotMatch(row?.details ?? '', /hunter2/)
    assert.equal(JSON.parse(row?.details ?? '{}').name, 'wren')
  })
})

describe('the chain', () => {
  const unchained = (event_id: string): Unchained => ({
    event_id,
    event_type: 'system',
    event_action: 'test',
    actor_type: 'system',
    actor_id: null,
    actor_email: null,
    actor_ip: null,
    mcp_key_id: null,
    mcp_key_name: null,
    mcp_scope: null,
    target_type: null,
    target_id: null,
    timestamp: '2026-01-05T08:00:00.000Z',
    details: '{}',
    request_id: null,
    source: 'system',
    endpoint: null,
    status: null,
  })
  const rows = chain(['a', 'b', 'c', 'd'].map(unchained), { last_id: 6, last_hash: 'before' })

  test('is valid as a whole and from any entry on', () => {
    assert.deepEqual(
      rows.map(({ id }) => id),
      [7, 8, 9, 10],
    )
    assert.equal(firstBroken(rows), null)
    assert.equal(firstBroken(rows.slice(2)), null)
    assert.equal(firstBroken([]), null)
  })

  test('reveals changed, removed, swapped and inserted entries', () => {
    const [a, b, c, d] = rows
    assert.ok(a && b && c && d)
    assert.equal(firstBroken([a, { ...b, actor_id: 'u2' }, c, d]), b.id)
    assert.equal(firstBroken([a, c, d]), b.id)
    assert.equal(firstBroken([a, c, b, d]), b.id)
    const [forged] = chain([unchained('x')], { last_id: b.id, last_hash: b.entry_hash })
    assert.ok(forged)
    assert.equal(firstBroken([a, b, forged, d]), d.id)
  })
})
