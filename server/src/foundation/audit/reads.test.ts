import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuditLogEntry } from '@roost/contracts/foundation/audit'
import { sql } from 'kysely'
import { createServer } from '../../http/serve.ts'
import type { Db } from '../../ports/database/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { type AuditEntry, auditRoutes, createAudit, createAuditReads } from './index.ts'

const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  event_type: 'agent_lifecycle',
  event_action: 'create',
  actor_type: 'user',
  actor_id: 'u1',
  source: 'api',
  ...more,
})

/** Four entries, one a day from 2026-01-05 on. */
const byKey = { mcp_key_id: 'k1', mcp_key_name: 'ci', mcp_scope: 'user', actor_type: 'mcp_client' } as const
const days: AuditEntry[] = [
  entry({ target_type: 'agent', target_id: 'wren', request_id: 'r1', status: 201 }),
  entry({
    event_type: 'authentication',
    event_action: 'sign_in',
    actor_type: 'anonymous',
    actor_id: null,
    actor_ip: '10.0.0.9',
    status: 401,
  }),
  entry({ ...byKey, event_type: 'execution', target_type: 'agent', target_id: 'wren', status: 503 }),
  entry({ event_type: 'system', actor_type: 'system', actor_id: 'u2', source: 'scheduler' }),
]

function appOf(db: Db) {
  const clock = createTestClock()
  const audit = createAudit({ db, clock, log: silentLog })
  const server = createServer({
    routes: auditRoutes(createAuditReads({ db, audit })),
    guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
  })
  const ask = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const payload = body ? { payload: body } : {}
    const reply = await server.inject({ method, url: `/api/audit-log${path}`, ...payload })
    const isJson = String(reply.headers['content-type']).startsWith('application/json')
    return {
      status: reply.statusCode,
      headers: reply.headers,
      text: reply.body,
      body: isJson ? reply.json() : null,
    }
  }
  return { audit, clock, ask }
}

async function filled(db: Db) {
  const app = appOf(db)
  for (const each of days) {
    app.audit.record(each)
    app.clock.set(new Date(app.clock.now().getTime() + 86_400_000))
  }
  await app.audit.flush()
  return app
}

/** Bypasses the guards of the database, as somebody with its file or password could. */
async function tamper(db: Db, statements: string[]): Promise<void> {
  const on = db.dialect === 'postgres' ? ' on audit_log' : ''
  for (const trigger of ['audit_log_no_update', 'audit_log_no_delete'])
    await sql.raw(`drop trigger ${trigger}${on}`).execute(db.withTables())
  for (const statement of statements) await sql.raw(statement).execute(db.withTables())
}

forEachDialect((_dialect, open) => {
  test('200 with filters, alone and combined, newest first', async () => {
    await using db = await open()
    const { ask } = await filled(db)
    const cases: [query: string, ids: number[]][] = [
      ['', [4, 3, 2, 1]],
      ['event_type=execution', [3]],
      ['event_type=webhook', []],
      ['event_action=sign_in', [2]],
      ['outcome=ok', [4, 1]],
      ['outcome=refused', [2]],
      ['outcome=failed', [3]],
      ['outcome=failed&target_id=nobody', []],
      ['actor_type=mcp_client', [3]],
      ['actor_id=u1', [3, 1]],
      ['target_type=agent', [3, 1]],
      ['target_id=wren', [3, 1]],
      ['target_id=nobody', []],
      ['source=scheduler', [4]],
      ['request_id=r1', [1]],
      ['mcp_key_id=k1', [3]],
      ['mcp_scope=user', [3]],
      ['mcp_scope=ops', []],
      ['start_time=2026-01-07T08:00:00Z', [4, 3]],
      ['start_time=2026-01-07T10:00:00%2B02:00', [4, 3]],
      ['end_time=2026-01-06T08:00:00', [2, 1]],
      ['start_time=2026-01-06T08:00:00Z&end_time=2026-01-07T08:00:00Z', [3, 2]],
      ['start_time=2026-01-09T08:00:00Z&end_time=2026-01-07T08:00:00Z', []],
      ['target_id=wren&actor_type=user', [1]],
      ['limit=2', [4, 3]],
      ['limit=2&offset=3', [1]],
    ]
    for (const [query, ids] of cases) {
      const { status, body } = await ask('GET', `?${query}`)
      assert.equal(status, 200, query)
      assert.deepEqual(
        body.entries.map(({ id }: { id: number }) => id),
        ids,
        query,
      )
    }
    const page = await ask('GET', '?limit=1&offset=1')
    assert.deepEqual(
      [page.body.total, page.body.limit, page.body.offset, page.headers['x-total-count']],
      [4, 1, 1, '4'],
    )
  })

  test('200 without the tickets for live sockets if asked for, except refused ones', async () => {
    await using db = await open()
    const { ask, audit } = appOf(db)
    const ticket = { event_type: 'authentication', event_action: 'create_socket_ticket' } as const
    audit.record(entry({ ...ticket, status: 200 }))
    audit.record(entry({ ...ticket, status: 403 }))
    audit.record(entry({ ...ticket, status: null }))
    audit.record(entry())
    const idsOf = async (query: string) =>
      (await ask('GET', query)).body.entries.map(({ id }: { id: number }) => id)
    assert.deepEqual(await idsOf('?'), [4, 3, 2, 1])
    assert.deepEqual(await idsOf('?routine=false'), [4, 2])
    assert.equal((await ask('GET', '?routine=false')).body.total, 2)
    assert.equal((await ask('GET', '/stats')).body.total, 4)
    assert.deepEqual((await ask('GET', '/stats?routine=false')).body.by_event_type, {
      agent_lifecycle: 1,
      authentication: 1,
    })
  })

  test('422 for an unknown filter value and for an impossible page', async () => {
    await using db = await open()
    const { ask } = appOf(db)
    for (const name of ['event_type', 'actor_type', 'source', 'mcp_scope', 'outcome']) {
      const { status, body } = await ask('GET', `?${name}=nonsense`)
      assert.deepEqual([status, body.error, body.filter], [422, 'unknown_filter', name])
      assert.ok(body.offered.length > 2)
    }
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'offset=-1', 'start_time=yesterday']) {
      const { status, body } = await ask('GET', `?${query}`)
      assert.deepEqual([status, body.error], [422, 'validation_error'], query)
      assert.deepEqual(body.detail[0].loc, ['query', query.split('=')[0]])
    }
    for (const path of ['/export?format=xml', '/stats?end_time=1'])
      assert.equal((await ask('GET', path)).status, 422, path)
    for (const query of ['start_id=0', 'end_id=x', 'start_id=-1'])
      assert.equal((await ask('POST', `/verify?${query}`)).status, 422, query)
  })

  test('200 one entry as in the list, including the newest; 404 for an unknown id', async () => {
    await using db = await open()
    const { audit, ask } = appOf(db)
    audit.record(entry({ ...byKey, details: { name: 'wren' }, endpoint: 'POST /api/agents', status: 201 }))
    const { body } = await ask('GET', '')
    const one = await ask('GET', `/${body.entries[0].event_id}`)
    assert.deepEqual(one.body, body.entries[0])
    assert.deepEqual(one.body.details, { name: 'wren' })
    assert.deepEqual((await ask('GET', '/none')).body.error, 'not_found')
  })

  test('200 counts by type, actor, source and day', async () => {
    await using db = await open()
    const { ask } = await filled(db)
    const { body } = await ask('GET', '/stats?end_time=2026-01-07T08:00:00Z')
    assert.deepEqual(body, {
      total: 3,
      by_event_type: { agent_lifecycle: 1, authentication: 1, execution: 1 },
      by_actor_type: { user: 1, anonymous: 1, mcp_client: 1 },
      by_source: { api: 3 },
      by_day: [
        { date: '2026-01-05', count: 1 },
        { date: '2026-01-06', count: 1 },
        { date: '2026-01-07', count: 1 },
      ],
    })
    assert.equal((await ask('GET', '/stats?start_time=2030-01-01T00:00:00Z')).body.total, 0)
  })

  test('both export formats contain the whole log', async () => {
    await using db = await open()
    const { audit, ask } = appOf(db)
    for (let i = 0; i < 1_203; i++)
      audit.record(entry({ mcp_key_name: `a "key", ${i}\nsecond line`, details: { list: [i, 'a,b'] } }))
    const { body } = await ask('GET', '?limit=1000&offset=203')
    const json = await ask('GET', '/export')
    assert.match(String(json.headers['content-disposition']), /attachment; filename=".+\.json"/)
    assert.equal(json.body.length, 1_203)
    assert.deepEqual(json.body.slice(0, 1_000).reverse(), body.entries)
    const csv = await ask('GET', '/export?format=csv')
    assert.match(String(csv.headers['content-type']), /^text\/csv/)
    const [header, ...lines] = parseCsv(csv.text)
    assert.deepEqual(header, Object.keys(AuditLogEntry.shape))
    const asText = (value: unknown) =>
      value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
    assert.equal(lines.length, json.body.length)
    for (const [index, each] of json.body.entries())
      assert.deepEqual(
        lines[index],
        header?.map((column) => asText(each[column])),
      )
  })

  test('an export contains the requested window, which may be empty', async () => {
    await using db = await open()
    const { ask } = await filled(db)
    const some = '/export?start_time=2026-01-06T00:00:00Z&end_time=2026-01-07T23:00:00Z'
    assert.deepEqual(
      (await ask('GET', some)).body.map(({ id }: { id: number }) => id),
      [2, 3],
    )
    const none = '/export?start_time=2030-01-01T00:00:00Z'
    assert.deepEqual((await ask('GET', none)).body, [])
    assert.equal(parseCsv((await ask('GET', `${none}&format=csv`)).text).length, 1)
  })

  test('verifies the whole chain, a range and an empty range', async () => {
    await using db = await open()
    const { audit, ask } = await filled(db)
    const verify = async (query = '', body?: object) => (await ask('POST', `/verify${query}`, body)).body
    const verified = (checked: number) => ({ valid: true, status: 'verified', checked })
    const empty = { valid: null, status: 'empty_range', checked: 0 }
    assert.deepEqual(await verify(), verified(4))
    assert.deepEqual(await verify('?start_id=2&end_id=3'), verified(2))
    assert.deepEqual(await verify('?start_id=5'), empty)
    assert.deepEqual(await verify('?start_id=3&end_id=2'), empty)
    assert.deepEqual(await verify('', { start_id: 2, end_id: 3 }), verified(2))
    assert.deepEqual(await verify('?end_id=4', { end_id: 2 }), verified(2))
    await audit.sweep(new Date('2026-01-07T00:00:00Z'))
    assert.deepEqual(await verify(), verified(2))
    assert.deepEqual(await verify('?end_id=2'), empty)
    await audit.sweep(new Date('2027-01-01T00:00:00Z'))
    assert.deepEqual(await verify(), empty)
    audit.record(entry())
    assert.deepEqual(await verify(), verified(1))
  })

  const copied = 'event_type, event_action, actor_type, timestamp, details, source'
  const forgery = (id: number) =>
    `insert into audit_log (id, event_id, entry_hash, ${copied})
     select ${id}, 'forged', 'x', ${copied} from audit_log where id = 2`
  const swap = ['-3 where id = 3', '3 where id = 2', '2 where id = -3']
  const attacks: [what: string, statements: string[], first: number][] = [
    ['an entry that was changed', [`update audit_log set actor_id = 'u9' where id = 3`], 3],
    ['details that were changed', [`update audit_log set details = '{"a":1}' where id = 1`], 1],
    ['a hash that was changed', [`update audit_log set entry_hash = 'x' where id = 4`], 4],
    ['an entry that was removed', ['delete from audit_log where id = 2'], 2],
    ['the first entries removed', ['delete from audit_log where id <= 2'], 1],
    ['the last entries removed', ['delete from audit_log where id >= 3'], 3],
    ['all entries removed', ['delete from audit_log'], 1],
    ['two entries that changed places', swap.map((to) => `update audit_log set id = ${to}`), 2],
    ['an entry put behind the end', [forgery(5)], 5],
    ['an entry put before the beginning', [forgery(-7)], -7],
    ['an end that was forgotten', [`update audit_head set last_hash = 'x'`], 4],
  ]
  for (const [what, statements, first] of attacks) {
    test(`${what}: found at the right id`, async () => {
      await using db = await open()
      const { ask } = await filled(db)
      await tamper(db, statements)
      const { body } = await ask('POST', '/verify')
      assert.deepEqual([body.valid, body.status, body.first_invalid_id], [false, 'tampered', first])
    })
  }
})

/** A minimal RFC 4180 parser. */
function parseCsv(text: string): string[][] {
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n)/g)]
  const lines: string[][] = [[]]
  for (const [, quoted, bare, end] of cells) {
    const text = quoted?.replaceAll('""', '"') ?? bare ?? ''
    // A random id can start like a formula.
    lines.at(-1)?.push(text.replace(/^'(?=[=+\-@])/, ''))
    if (end !== ',') lines.push([])
  }
  return lines.slice(0, -1)
}
