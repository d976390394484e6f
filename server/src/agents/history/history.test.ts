import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { WorkspaceChange } from '@roost/contracts/agents/workspace-history'
import { executionStore } from '../../runs/executions/index.ts'
import { runChangesRoutes } from '../../runs/run-changes/index.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { insertRecord, insertRunRecords, type TestTree } from '../../test/history.ts'
import { runRow } from '../../test/run-rows.ts'
import { openAgents } from '../test/world.ts'
import { historyStore } from './store.ts'

const png = '\x89PNG\r\n\x1a\n'

const before: TestTree = {
  'notes.txt': 'one\ntwo\n',
  'old name.md': 'the same content\n',
  'gone.bin': 'a\0b',
  'tool.sh': { content: 'echo\n', mode: 0o644 },
  'logo.png': `${png}1`,
  '.env': 'KEY=first\n',
  'src/.git/HEAD': 'ref: a\n',
  'caf\xe9': 'latin1 name\n',
  empty: null,
  link: { kind: 'link', content: 'notes.txt', mode: 0o777 },
}
const after: TestTree = {
  'notes.txt': 'one\n2\n',
  'new name.md': 'the same content\n',
  'tool.sh': { content: 'echo\n', mode: 0o755 },
  'logo.png': `${png}2`,
  '.env': 'KEY=second\n',
  'copy-of-env.txt': 'KEY=second\n',
  'keys/server.pem': 'secret\n',
  'src/.git/HEAD': 'ref: b\n',
  'src/.git/index': 'index\n',
  'src/deep/a.txt': 'a\n',
  'caf\xe9': 'changed\n',
  empty: null,
  'new-empty': null,
  link: { kind: 'link', content: 'tool.sh', mode: 0o777 },
}

async function start(open: OpenTestDb) {
  const db = await open()
  const world = await openAgents(db, {
    routes: (area) => runChangesRoutes({ db, ...area, history: area.historyReader }),
  })
  const { history } = world
  const [owner, sharer, stranger] = [
    await world.person(),
    await world.person('user'),
    await world.person('creator'),
  ]
  const admin = await world.person('admin')
  for (const name of ['scout', 'other']) await world.request(owner.key, 'POST', '/api/agents', { name })
  await world.request(owner.key, 'POST', '/api/agents/scout/share', { email: sharer.email })
  const agent = await world.row('scout')
  const stored = { db, history }
  const first = await insertRecord(stored, agent.id, before, { reason: 'before_run' })
  const second = await insertRecord(stored, agent.id, after, {
    leftOut: [
      { path: 'node_modules', reason: 'rule' },
      { path: '.aws/socket', reason: 'special' },
    ],
  })
  await executionStore(db).insert(runRow({ id: 'run', agent_id: agent.id }))
  await insertRunRecords(db, {
    execution_id: 'run',
    agent_id: agent.id,
    before_id: first.id,
    after_id: second.id,
    overlapped: '["other-run"]',
    overlapped_count: 1,
  })
  const people = { owner, sharer, stranger, admin }
  return {
    ...world,
    ...people,
    stored,
    agent,
    first,
    second,
    get: (who: keyof typeof people, path: string) => world.request(people[who].key, 'GET', `/api/${path}`),
  }
}

const listed = (changes: WorkspaceChange[]) =>
  changes.map(({ path, change, from }) => `${change} ${from === undefined ? '' : `${from} → `}${path}`)

forEachDialect((_, open) => {
  test('the changes of a run: files by kind, git folders summed up, and what is withheld', async () => {
    await using world = await start(open)
    const { status, json } = await world.get('owner', 'executions/run/changes')
    assert.deepEqual([status, json.status, json.agent_name], [200, 'recorded', 'scout'])
    assert.deepEqual(listed(json.changes), [
      'changed .env',
      'changed caf\ufffd',
      'added copy-of-env.txt',
      'deleted gone.bin',
      'added keys/server.pem',
      'changed link',
      'changed logo.png',
      'renamed old name.md → new name.md',
      'added new-empty',
      'changed notes.txt',
      'added src/deep/a.txt',
      'attributes tool.sh',
    ])
    assert.deepEqual(json.counts, { added: 3, changed: 5, attributes: 1, deleted: 1, renamed: 1 })
    assert.deepEqual(json.git_folders, [{ path: 'src/.git', changes: 2 }])
    assert.deepEqual([json.withheld, json.overlapping_runs, json.overlapping_count], [0, ['other-run'], 1])
    const odd = json.changes.find(({ path_bytes }: WorkspaceChange) => path_bytes)
    assert.deepEqual([odd.path, odd.path_bytes], ['caf\ufffd', 'Y2Fm6Q'])
    const page = await world.get('owner', 'executions/run/changes?offset=1&limit=2')
    assert.deepEqual([page.json.total, page.json.changes], [json.total, json.changes.slice(1, 3)])

    const shared = (await world.get('sharer', 'executions/run/changes')).json
    assert.equal(shared.withheld, 2)
    assert.ok(!JSON.stringify(shared).match(/\.env"|server\.pem/))
    for (const id of ['run', 'unknown']) {
      const refused = await world.get('stranger', `executions/${id}/changes`)
      assert.deepEqual([refused.status, refused.json.error], [404, 'execution_not_found'])
    }
    const same = await world.get('owner', `agents/scout/history/records/${world.second.id}/changes`)
    assert.deepEqual(same.json.changes, json.changes)
  })

  test('runs without records say so', async () => {
    await using world = await start(open)
    const { db } = world.stored
    const cases = [
      ['old', null, 'not_recorded', null],
      ['off', { outcome: 'skipped', reason: 'history_off' }, 'skipped', 'history_off'],
      ['works', { outcome: 'recording', before_id: world.first.id }, 'recording', null],
      ['lost', { outcome: 'failed', reason: 'agent_timeout' }, 'failed', 'agent_timeout'],
      ['removed', { after_id: world.second.id }, 'removed', null],
    ] as const
    for (const [id, row, status, reason] of cases) {
      await executionStore(db).insert(runRow({ id, agent_id: world.agent.id }))
      if (row) await insertRunRecords(db, { execution_id: id, agent_id: world.agent.id, ...row })
      const { json } = await world.get('owner', `executions/${id}/changes`)
      assert.deepEqual([json.status, json.reason, json.total], [status, reason, 0], id)
      const diff = await world.get('owner', `executions/${id}/changes/diff?path=notes.txt`)
      assert.deepEqual([diff.status, diff.json.error], [404, 'record_not_found'], id)
    }
  })

  test('the differences of one file', async () => {
    await using world = await start(open)
    const diff = async (query: string, who: 'owner' | 'sharer' = 'owner') =>
      (await world.get(who, `executions/run/changes/diff?${query}`)).json
    const text = await diff('path=notes.txt')
    assert.deepEqual(
      [text.content, text.change, text.added_lines, text.deleted_lines, text.diff, text.truncated],
      ['text', 'changed', 1, 1, '@@ -1,2 +1,2 @@\n one\n-two\n+2\n', false],
    )
    assert.deepEqual([text.before_id, text.after_id], [world.first.id, world.second.id])
    assert.deepEqual(text.before, { kind: 'file', size: 8, mode: '644' })
    const renamed = await diff('path=new%20name.md&from=old%20name.md')
    assert.deepEqual([renamed.change, renamed.diff, renamed.from], ['renamed', '', 'old name.md'])
    assert.deepEqual((await diff('path_bytes=Y2Fm6Q')).added_lines, 1)
    assert.equal((await diff('path=gone.bin')).content, 'binary')
    assert.equal((await diff('path=logo.png')).content, 'image')
    assert.equal((await diff('path=tool.sh')).change, 'attributes')
    assert.equal((await diff('path=link')).content, 'link')
    assert.equal((await diff('path=/home/developer/notes.txt')).content, 'text')
    assert.equal((await diff('path=missing')).error, 'file_not_found')
    assert.equal((await diff('path=../outside')).error, 'protected_path')
    assert.equal((await diff('path_bytes=Li4vYQ')).error, 'protected_path')
    assert.equal((await diff('')).error, 'validation_error')
    assert.equal((await diff('path=.env')).added_lines, 1)
    for (const path of ['.env', 'keys/server.pem', 'copy-of-env.txt', 'notes.txt&from=.env', '.roost/x'])
      assert.equal((await diff(`path=${path}`, 'sharer')).error, 'protected_path', path)
    assert.equal((await diff('path=.roost/x')).error, 'protected_path')
  })

  test('the diff of a file that a folder replaced has the lines of the file', async () => {
    await using world = await start(open)
    const first = await insertRecord(world.stored, world.agent.id, { turned: 'one\ntwo\n' })
    const second = await insertRecord(world.stored, world.agent.id, { 'turned/a': 'a\n' })
    const at = `agents/scout/history/records/${second.id}/diff?since=${first.id}&path=turned`
    const { json } = await world.get('owner', at)
    assert.deepEqual([json.change, json.content, json.deleted_lines], ['changed', 'text', 2])
  })

  test('nobody with a share reads a copy of a nested credential file, also after it was renamed', async () => {
    await using world = await start(open)
    const { stored, agent } = world
    const keys = 'aws_secret_access_key = x\n'
    const nested: TestTree = { 'sub/.env': 'KEY=nested\n', '.aws/credentials': keys, 'plain.txt': 'plain\n' }
    const first = await insertRecord(stored, agent.id, nested)
    const second = await insertRecord(stored, agent.id, {
      ...{ 'sub/.env': 'KEY=nested\n', 'sub/hard.txt': 'KEY=nested\n', 'moved.txt': keys },
      'plain.txt': 'plainer\n',
    })
    const at = `agents/scout/history/records/${second.id}`
    const diff = async (path: string) =>
      (await world.get('sharer', `${at}/diff?since=${first.id}&path=${path}`)).json.error ?? null
    assert.deepEqual(await Promise.all(['moved.txt', 'sub/hard.txt', 'plain.txt'].map(diff)), [
      'protected_path',
      'protected_path',
      null,
    ])
    assert.equal((await world.get('sharer', `${at}/file?path=sub/hard.txt`)).json.error, 'protected_path')
  })

  test('a record: what was left out, folders, files with safe headers', async () => {
    await using world = await start(open)
    const at = (who: 'owner' | 'sharer', path: string) =>
      world.get(who, `agents/scout/history/records/${world.second.id}${path}`)
    assert.deepEqual((await at('owner', '')).json.left_out, [
      { path: 'node_modules', reason: 'rule' },
      { path: '.aws/socket', reason: 'special' },
    ])
    assert.deepEqual((await at('sharer', '')).json.left_out, [{ path: 'node_modules', reason: 'rule' }])
    const names = ({ json }: Awaited<ReturnType<typeof at>>) =>
      json.entries.map(({ name }: { name: string }) => name)
    assert.deepEqual(names(await at('owner', '/files?path=src')), ['.git', 'deep'])
    assert.ok(names(await at('owner', '/files')).includes('.env'))
    assert.ok(!names(await at('sharer', '/files')).includes('.env'))
    assert.deepEqual(names(await at('sharer', '/files?path=keys')), [])
    assert.equal((await at('owner', '/files?path=notes.txt')).json.error, 'file_not_found')

    const file = await at('owner', '/file?path=notes.txt&inline=true')
    assert.equal(file.bytes.toString(), 'one\n2\n')
    assert.deepEqual(
      [file.headers['content-type'], file.headers['x-content-type-options'], file.headers['cache-control']],
      ['text/plain; charset=utf-8', 'nosniff', 'private, no-store'],
    )
    assert.match(String(file.headers['content-security-policy']), /sandbox/)
    assert.match(
      String((await at('owner', '/file?path=notes.txt')).headers['content-disposition']),
      /^attach/,
    )
    assert.equal((await at('owner', '/file?path=link')).json.error, 'conflict')
    assert.equal((await at('owner', '/file?path=src')).json.error, 'conflict')
    for (const path of ['.env', 'copy-of-env.txt', 'keys/server.pem'])
      assert.equal((await at('sharer', `/file?path=${path}`)).json.error, 'protected_path', path)
    assert.equal((await at('owner', '/file?path=.env')).bytes.toString(), 'KEY=second\n')
    // Records of other agents look like unknown ones.
    for (const record of [world.second.id, 'unknown', '..%2Fx'])
      assert.equal(
        (await world.get('owner', `agents/other/history/records/${record}/files`)).json.error,
        'record_not_found',
      )
    assert.equal((await world.get('stranger', 'agents/scout/history')).json.error, 'agent_not_found')
  })

  test('an archive has the whole workspace for its owner, and no credentials for others', async () => {
    await using world = await start(open)
    const at = (who: 'owner' | 'sharer', query: string) =>
      world.get(who, `agents/scout/history/records/${world.second.id}/archive${query}`)
    const whole = await at('owner', '')
    assert.equal(whole.headers['content-type'], 'application/gzip')
    const tar = gunzipSync(whole.bytes).toString('latin1')
    for (const part of [
      'scout/.env',
      'KEY=second',
      'scout/new-empty/',
      'scout/caf\xe9',
      'scout/src/.git/HEAD',
    ])
      assert.ok(tar.includes(part), part)
    assert.equal(tar.length % 512, 0)
    assert.equal((await at('sharer', '')).json.error, 'protected_path')
    const keys = gunzipSync((await at('sharer', '?path=keys')).bytes).toString('latin1')
    assert.ok(keys.startsWith('keys/') && !keys.includes('server.pem'))
    assert.ok(
      gunzipSync((await at('sharer', '?path=src')).bytes)
        .toString('latin1')
        .includes('src/deep/a.txt'),
    )
    assert.equal((await at('owner', '?path=missing')).json.error, 'file_not_found')
  })

  test('records are listed in pages, and pinned by the owner', async () => {
    await using world = await start(open)
    const { json } = await world.get('sharer', 'agents/scout/history?limit=1')
    assert.deepEqual(
      [json.records.map(({ id }: { id: string }) => id), json.next_before],
      [[world.second.id], 2],
    )
    const rest = (await world.get('owner', 'agents/scout/history?before=2')).json
    assert.deepEqual([rest.records[0].id, rest.records.length, rest.next_before], [world.first.id, 1, null])
    const pin = (key: string, pinned: boolean) =>
      world.request(key, 'PUT', `/api/agents/scout/history/records/${world.first.id}/pin`, { pinned })
    assert.equal((await pin(world.sharer.key, true)).json.error, 'owner_required')
    assert.equal((await pin(world.owner.key, true)).json.pinned, true)
    assert.equal((await pin(world.owner.key, false)).json.pinned, false)
  })

  test('settings: rules of the owner, a quota of admins', async () => {
    await using world = await start(open)
    const put = (key: string, body: unknown) =>
      world.request(key, 'PUT', '/api/agents/scout/history/settings', body)
    const { json } = await world.get('sharer', 'agents/scout/history/settings')
    assert.deepEqual([json.enabled, json.is_default_rules, json.quota_bytes], [true, true, null])
    assert.deepEqual(json.rules, json.default_rules)
    const rules = { patterns: ['build', 'données/*'], max_file_bytes: 1000 }
    const ids = { execution_id: 'open', agent_id: world.agent.id, before_id: world.first.id }
    await insertRunRecords(world.stored.db, { ...ids, outcome: 'recording' })
    const changed = await put(world.owner.key, { enabled: false, rules })
    assert.deepEqual([changed.json.enabled, changed.json.rules], [false, rules])
    const working = await historyStore(world.stored.db).runOf('open')
    assert.deepEqual([working?.outcome, working?.reason], ['failed', 'history_off'])
    assert.deepEqual((await put(world.owner.key, { rules: null })).json.is_default_rules, true)
    assert.equal((await put(world.owner.key, { quota_bytes: 0 })).json.error, 'admin_required')
    assert.equal((await put(world.admin.key, { quota_bytes: 50_000_000 })).json.quota_bytes, 50_000_000)
    assert.equal((await put(world.sharer.key, { enabled: true })).json.error, 'owner_required')
    for (const pattern of ['', '/etc', '../x', 'a*b*c*d*e*', 'ü'.repeat(150)]) {
      const refused = await put(world.owner.key, { rules: { patterns: [pattern], max_file_bytes: 1 } })
      assert.deepEqual([refused.status, refused.json.error], [422, 'validation_error'], pattern)
    }
    assert.equal((await put(world.owner.key, { unknown: 1 })).status, 422)
  })

  test('a large folder is listed in pieces', async () => {
    await using world = await start(open)
    const path = `agents/scout/history/records/${world.first.id}/files`
    const entry = { kind: 'file', mode: 0o644, owner: true, sparse: false, content: 'a'.repeat(64) } as const
    let turns = 0
    let isListed = false
    let isOver = false
    const count = () => {
      if (isListed) turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    world.history.list = async () => {
      isListed = true
      return Array.from({ length: 50_000 }, (_, at) => ({ ...entry, path: `f${at}` }))
    }
    world.history.sizes = async (entries) => {
      isListed = false
      return entries.map(() => 1)
    }
    const { json } = await world.get('owner', path)
    isOver = true
    assert.equal(json.total, 50_000)
    assert.ok(turns >= 20, `${turns}`)
  })
})
