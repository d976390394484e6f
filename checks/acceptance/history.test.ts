/** The records of a workspace around runs, in a real container: what each run changed, and what no run can reach. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

const agent = 'qa-history'
const run = promisify(execFile)
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, agent)
})
after(() => platform?.[Symbol.asyncDispose]())

/** Reads the data folder, as an operator could. */
function rows(query: string, ...values: string[]): Loose[] {
  const db = new DatabaseSync(join(platform.dataDir, 'roost.db'), { readOnly: true })
  try {
    return db.prepare(query).all(...values)
  } finally {
    db.close()
  }
}

async function task(message: string): Promise<string> {
  const reply = await platform.request('POST', `/api/agents/${agent}/task`, { message })
  assert.equal(reply.status, 200, reply.text)
  return reply.json.execution_id
}

const recordsOf = (id: string): Promise<Loose> =>
  eventually(
    async () => rows('select * from run_workspace_records where execution_id = ?', id)[0],
    (row) => row !== undefined && row.outcome !== 'recording',
  )
const record = (id: string): Loose => rows('select * from workspace_records where id = ?', id)[0]

async function git(...args: string[]): Promise<string> {
  const folder = join(platform.dataDir, 'history', 'objects.git')
  const { stdout } = await run('git', ['-c', 'safe.directory=*', '--git-dir', folder, ...args])
  return stdout
}

/** Content of a file in a record. */
async function content(id: string, path: string): Promise<string> {
  const refs = (await git('for-each-ref', '--format=%(refname)')).split('\n')
  const ref = refs.find((each) => each.endsWith(`/${id}`))
  return git('cat-file', 'blob', `${ref}:${path}`)
}

test('a run has the workspace before and after it', async () => {
  const first = await recordsOf(
    await task('[[tool:Bash:echo one > note.txt; mkdir node_modules; echo x > node_modules/y]] [[reply:ok]]'),
  )
  assert.deepEqual([first.outcome, first.reason], ['recorded', null])
  const made = record(first.after_id)
  assert.equal(made.base_id, first.before_id)
  assert.ok(made.added >= 1)
  assert.equal(await content(first.after_id, 'note.txt'), 'one\n')
  await assert.rejects(content(first.before_id, 'note.txt'))
  await assert.rejects(content(first.after_id, 'node_modules/y'))
  assert.ok(JSON.parse(made.left_out).some(({ path }: Loose) => path === 'node_modules'))

  const second = await recordsOf(await task('[[tool:Bash:echo two > note.txt]] [[reply:ok]]'))
  assert.deepEqual([second.outcome, await content(second.before_id, 'note.txt')], ['recorded', 'one\n'])
  const { changed, deleted, renamed } = record(second.after_id)
  assert.deepEqual([changed >= 1, deleted, renamed], [true, 0, 0])
  assert.equal(await content(second.after_id, 'note.txt'), 'two\n')
})

test('a change between two runs belongs to neither', async () => {
  const path = `/api/agents/${agent}/files?path=/home/developer/by-hand.txt`
  const put = await platform.request('PUT', path, { content: 'by hand' })
  assert.equal(put.status, 200, put.text)
  const row = await recordsOf(await task('[[tool:Bash:echo three > note.txt]] [[reply:ok]]'))
  assert.equal(await content(row.before_id, 'by-hand.txt'), 'by hand')
  assert.equal(record(row.before_id).reason, 'before_run')
  assert.equal(await content(row.before_id, 'note.txt'), 'two\n')
})

test('runs at the same time share their records and name each other', async () => {
  const runs = ['a', 'b'].map((name) =>
    task(`[[hold:both]] [[tool:Bash:echo ${name} > ${name}.txt]] [[reply:ok]]`),
  )
  await eventually(
    async () => rows("select * from run_workspace_records where outcome = 'recording'"),
    (open) => open.length === 2,
  )
  platform.model.release('both')
  const ids = await Promise.all(runs)
  const [one, two] = [await recordsOf(ids[0] ?? ''), await recordsOf(ids[1] ?? '')]
  assert.deepEqual([one.outcome, two.outcome], ['recorded', 'recorded'])
  assert.deepEqual([one.before_id, one.after_id], [two.before_id, two.after_id])
  for (const [index, id] of ids.entries()) {
    const { json } = await platform.request('GET', `/api/executions/${id}/changes`)
    assert.deepEqual([json.overlapping_runs, json.overlapping_count], [[ids[1 - index]], 1])
  }
  for (const name of ['a', 'b']) {
    assert.equal(await content(one.after_id, `${name}.txt`), `${name}\n`)
    await assert.rejects(content(one.before_id, `${name}.txt`))
  }
})

test('a run is undone, and so is the restore', async () => {
  const id = await task(
    '[[tool:Bash:echo lost > note.txt; rm by-hand.txt; mkdir -p new/folder; ln -s note.txt link]] [[reply:ok]]',
  )
  assert.equal((await recordsOf(id)).outcome, 'recorded')
  const restores = `/api/agents/${agent}/history/restores`
  const preview = await platform.request('POST', `${restores}/preview`, { run: id })
  assert.equal(preview.status, 200, preview.text)
  const changed = preview.json.changes.map(({ path, change }: Loose) => `${change} ${path}`)
  for (const each of ['changed note.txt', 'added by-hand.txt', 'deleted new/folder', 'deleted link'])
    assert.ok(changed.includes(each), changed.join(', '))
  const restore = async (body: object): Promise<Loose> => {
    const begun = await platform.request('POST', restores, body)
    assert.equal(begun.status, 202, begun.text)
    return eventually(
      async () => (await platform.request('GET', `${restores}/${begun.json.id}`)).json,
      ({ ended_at }) => ended_at !== null,
    )
  }
  const read = async (path: string) =>
    (await platform.request('GET', `/api/agents/${agent}/files/download?path=${path}`)).text
  const undone = await restore({ run: id, when_busy: 'wait' })
  assert.deepEqual([undone.state, undone.conflict_count], ['restored', 0], JSON.stringify(undone))
  assert.equal(await read('by-hand.txt'), 'by hand')
  const reply = await platform.request('POST', `/api/agents/${agent}/task`, {
    message: '[[tool:Bash:cat note.txt; ls -d new link]] [[reply:ok]]',
  })
  assert.equal(reply.status, 200, reply.text)
  const again = await restore({ record: undone.undo_record, path: 'note.txt', when_busy: 'wait' })
  assert.deepEqual([again.state, again.changed], ['restored', 1], JSON.stringify(again))
  assert.equal(await read('note.txt'), 'lost\n')
})

test('a file that the agent can no longer read stays: it is not recorded, not listed as deleted, not restored', async () => {
  await recordsOf(await task('[[tool:Bash:echo first > closed.txt]] [[reply:ok]]'))
  const id = await task(
    '[[tool:Bash:echo precious > closed.txt; echo own > own.txt; chmod 000 closed.txt own.txt]] [[reply:ok]]',
  )
  const row = await recordsOf(id)
  const leftOut: Loose[] = JSON.parse(record(row.after_id).left_out)
  for (const path of ['closed.txt', 'own.txt'])
    assert.ok(
      leftOut.some((each) => each.path === path && each.reason === 'unreadable'),
      path,
    )
  assert.equal(record(row.after_id).deleted, 0)
  const { json: changes } = await platform.request('GET', `/api/executions/${id}/changes`)
  assert.equal(changes.counts.deleted, 0, JSON.stringify(changes))

  const restores = `/api/agents/${agent}/history/restores`
  const begun = await platform.request('POST', restores, { run: id, when_busy: 'wait' })
  assert.equal(begun.status, 202, begun.text)
  const ended = await eventually(
    async () => (await platform.request('GET', `${restores}/${begun.json.id}`)).json,
    ({ ended_at }) => ended_at !== null,
  )
  assert.ok(
    ended.conflicts.some(({ path, reason }: Loose) => path === 'closed.txt' && reason === 'left_out'),
    JSON.stringify(ended),
  )
  const reply = await platform.request('POST', `/api/agents/${agent}/task`, {
    message: '[[tool:Bash:chmod 644 closed.txt own.txt; cat closed.txt own.txt > both.txt]] [[reply:ok]]',
  })
  assert.equal(reply.status, 200, reply.text)
  const both = await platform.request('GET', `/api/agents/${agent}/files/download?path=both.txt`)
  assert.equal(both.text, 'precious\nown\n')
})

test('a restore that waits for a run is cancelled, and the workspace stays as it is', async () => {
  const restores = `/api/agents/${agent}/history/restores`
  const first = await recordsOf(await task('[[tool:Bash:echo kept > note.txt]] [[reply:ok]]'))
  const working = task('[[hold:cancel]] [[reply:ok]]')
  await eventually(
    async () => rows("select * from run_workspace_records where outcome = 'recording'"),
    (open) => open.length === 1,
  )
  const waiting = await platform.request('POST', restores, { record: first.before_id, when_busy: 'wait' })
  assert.deepEqual([waiting.status, waiting.json.state], [202, 'waiting'], waiting.text)
  const listed = (await platform.request('GET', restores)).json.restores
  assert.equal(listed[0].id, waiting.json.id)
  const cancelled = await platform.request('POST', `${restores}/${waiting.json.id}/cancel`)
  assert.deepEqual([cancelled.status, cancelled.json.reason], [200, 'cancelled'], cancelled.text)
  platform.model.release('cancel')
  await working
  assert.equal((await recordsOf(await task('[[tool:Bash:cat note.txt]] [[reply:ok]]'))).outcome, 'recorded')
  const address = `/api/agents/${agent}/files/download?path=note.txt`
  assert.equal((await platform.request('GET', address)).text, 'kept\n')
})

test('a run finds neither the store nor the index of its history', async () => {
  const search =
    'find / -name objects.git -o -name history-index 2>/dev/null | head; cat /var/lib/roost/*/history-index 2>&1 | head -1'
  const reply = await platform.request('POST', `/api/agents/${agent}/task`, {
    message: `[[tool:Bash:${search}]]`,
  })
  assert.equal(reply.status, 200, reply.text)
  assert.doesNotMatch(reply.json.response, /\/objects\.git|"record"/)
})
