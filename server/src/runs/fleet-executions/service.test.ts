import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { type ExecutionRow, mayRead } from '../executions/index.ts'
import {
  callers,
  newestFirst,
  roverRuns,
  runs,
  scoutRuns,
  start as startOn,
  visibleRuns,
} from './test/fleet-world.ts'

forEachDialect((_, open: OpenTestDb) => {
  const start = (rows?: Partial<ExecutionRow>[]) => startOn(open, rows)

  test('each caller sees the runs of its accessible agents, newest first', async () => {
    const { list } = await start()
    for (const [who, expected] of Object.entries(visibleRuns)) {
      assert.deepEqual(await list(who, 'hours=0'), { messages: expected, total: expected.length }, who)
    }
  })

  test('403 scope_not_allowed for scopes without fleet access; ops has no timeline', async () => {
    const { get } = await start()
    const paths = ['executions', 'executions/stats', 'agents/execution-stats', 'agents/slots']
    for (const path of [...paths, 'executions/timeline']) {
      for (const who of ['connector', 'portal']) {
        const { status, json } = await get(who, path)
        assert.deepEqual([status, json.error], [403, 'scope_not_allowed'], `${who} ${path}`)
      }
    }
    for (const path of paths) assert.equal((await get('ops', path)).status, 200, path)
    assert.equal((await get('ops', 'executions/timeline')).status, 403)
  })

  test('private messages are withheld and not searchable by callers who may not read them', async () => {
    const { get, list, inserted } = await start()
    for (const [who, messages] of Object.entries(visibleRuns)) {
      const caller = callers[who] ?? assert.fail()
      const readable = (row: ExecutionRow) => messages.includes(row.message) && mayRead(caller, row)
      const expected = inserted.filter((row) => /plum/i.test(row.message) && readable(row)).reverse()
      assert.deepEqual(
        await list(who, 'hours=0&search=pLuM'),
        { messages: expected.map(({ message }) => message), total: expected.length },
        who,
      )
      for (const row of (await get(who, 'executions?hours=0')).json) {
        const stored = inserted.find(({ id }) => id === row.id) ?? assert.fail()
        const isShown = mayRead(caller, stored)
        assert.deepEqual(
          [row.message, row.redacted],
          isShown ? [stored.message, undefined] : [null, true],
          who,
        )
        if (!isShown) assert.equal(row.error_summary, null)
      }
    }
  })

  test('a search finds the tasks that others sent through MCP, not their chats', async () => {
    const sent = { triggered_by: 'mcp' as const, source_user_id: 'ann', source_mcp_key_id: 'k-user' }
    const rows = (['chat', 'task'] as const).map((kind) => ({ ...sent, kind, message: `plum by ${kind}` }))
    const { list } = await start(rows)
    const found = async (who: string) => (await list(who, 'hours=0&search=plum')).messages.toSorted()
    for (const who of ['owner', 'key of the owner', 'admin'])
      assert.deepEqual(await found(who), ['plum by chat', 'plum by task'], who)
    for (const who of ['shared', 'ops', 'agent itself'])
      assert.deepEqual(await found(who), ['plum by task'], who)
  })

  test('a search takes wildcards literally, finds ids, and each page has the total', async () => {
    const rows = ['100% sure', '100 percent', 'a_b', 'aXb', 'back\\slash', "it's"].map((message, index) => ({
      message,
      created_at: `2026-01-05T0${index}:00:00.000Z`,
    }))
    const { list, inserted } = await start(rows)
    const found = async (text: string) =>
      (await list('owner', `hours=0&search=${encodeURIComponent(text)}`)).messages
    assert.deepEqual(await found('100%'), ['100% sure'])
    assert.deepEqual(await found('A_B'), ['a_b'])
    assert.deepEqual(await found('\\s'), ['back\\slash'])
    assert.deepEqual(await found("it's"), ["it's"])
    assert.deepEqual(await found((inserted[1]?.id ?? '').slice(0, 12)), ['100 percent'])
    assert.deepEqual(await list('owner', 'hours=0&search=100&limit=1&offset=1'), {
      messages: ['100% sure'],
      total: 2,
    })
    assert.deepEqual(await list('owner', 'hours=0&search=100&offset=9'), { messages: [], total: 2 })
    assert.deepEqual(await list('owner', 'hours=0&search=nowhere'), { messages: [], total: 0 })
  })

  test('filters work alone and combined', async () => {
    const { list } = await start()
    const messages = async (query: string) => (await list('admin', query)).messages
    assert.deepEqual(await messages(''), newestFirst.slice(0, 6), 'one day by default')
    assert.deepEqual(await messages('hours=2'), ['rover works', 'on time', 'rover asks scout'])
    assert.deepEqual(await messages('hours=0&status=failed'), ['ben asks plum', 'old'])
    assert.deepEqual(await messages('triggered_by=chat'), ['ann asks Plum'])
    assert.deepEqual(await messages('hours=0&agent=rover'), roverRuns)
    assert.deepEqual(await messages('hours=0&agent=ghost'), ['deleted'])
    assert.deepEqual(await messages('hours=0&agent=scout&status=failed&search=PLUM'), ['ben asks plum'])
    assert.deepEqual(await list('admin', 'hours=0&limit=2&offset=1'), {
      messages: newestFirst.slice(1, 3),
      total: newestFirst.length,
    })
    assert.deepEqual(await list('admin', 'hours=0&offset=99'), { messages: [], total: newestFirst.length })
  })

  test('runs with the same timestamp keep one order over pages', async () => {
    const at = '2026-01-05T07:00:00.000Z'
    const { list } = await start(
      Array.from({ length: 9 }, (_, index) => ({
        message: `${index}`,
        agent_id: index % 2 ? 'a1' : 'a2',
        created_at: at,
        queue_number: 1,
      })),
    )
    const whole = (await list('admin', '')).messages
    const pages = await Promise.all([0, 3, 6].map((offset) => list('admin', `limit=3&offset=${offset}`)))
    assert.deepEqual(
      pages.flatMap(({ messages }) => messages),
      whole,
    )
  })

  test('422 unknown_filter with the valid values, agents limited to the accessible ones', async () => {
    const { get } = await start()
    const refused = async (who: string, path: string) => {
      const { status, json } = await get(who, path)
      assert.deepEqual([status, json.error], [422, 'unknown_filter'], path)
      return json.offered
    }
    assert.ok((await refused('owner', 'executions?status=done')).includes('success'))
    assert.ok((await refused('owner', 'executions?triggered_by=magic')).includes('chat'))
    assert.deepEqual(await refused('owner', 'executions/timeline?group_by=week'), [
      'hour',
      'day',
      'trigger',
      'agent',
    ])
    for (const path of ['executions', 'executions/stats', 'executions/timeline']) {
      assert.deepEqual(await refused('owner', `${path}?agent=rover`), ['scout'])
      assert.deepEqual(await refused('owner', `${path}?agent=ghost`), ['scout'])
      assert.deepEqual(await refused('admin', `${path}?agent=nobody`), ['scout', 'rover'])
    }
    for (const query of ['hours=-1', 'hours=8761', 'hours=x', 'limit=0', 'limit=201', 'offset=-1']) {
      assert.equal((await get('admin', `executions?${query}`)).status, 422, query)
    }
    for (const search of ['x'.repeat(201), 'a%00b']) {
      assert.equal((await get('admin', `executions?search=${search}`)).status, 422, search)
    }
  })

  test('a deleted agent is marked for admins and kept apart from a new one of the same name', async () => {
    const { get, list } = await start([
      ...runs,
      { message: 'before', agent_id: 'a9', agent_name: 'scout', agent_deleted: 1 },
    ])
    const rows = (await get('admin', 'executions?hours=0')).json
    const marked = rows.filter((row: { agent_deleted?: boolean }) => row.agent_deleted)
    assert.deepEqual(marked.map(({ message }: { message: string }) => message).sort(), ['before', 'deleted'])
    assert.deepEqual((await list('admin', 'hours=0&agent=scout')).messages, scoutRuns)
    assert.ok(!(await list('owner', 'hours=0')).messages.includes('before'))
  })
})
