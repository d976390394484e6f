import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FakeAnswers } from '../../ports/agent-link/fake.ts'
import { LinkDown, LinkFault } from '../../ports/agent-link/port.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { insertRunRecords } from '../../test/history.ts'
import { openAgents, until } from '../test/world.ts'
import { restoreStore } from './restore-store.ts'
import { storeName } from './rules.ts'
import { historyStore } from './store.ts'
import { linkWorkspace } from './test/linked-workspace.ts'

forEachDialect((_, open) => {
  async function openWorld(options: Parameters<typeof openAgents>[1] & { answers?: FakeAnswers } = {}) {
    const state = { running: [] as string[], stopped: [] as string[] }
    const { alerts, raised } = createTestAlerts()
    const world = await openAgents(await open(), {
      ...{ alerts, ...options },
      needs: {
        lockRuns: async () => state.running,
        async stopRuns(_, by) {
          state.stopped.push(by.user.username)
          state.running = []
        },
      },
    })
    const owner = await world.person('admin')
    await world.request(owner.key, 'POST', '/api/agents', { name: 'ada' })
    const { id } = await world.row('ada')
    const over: FakeAnswers = { ...options.answers }
    const workspace = linkWorkspace(world.link, id, over)
    const { history } = world.area
    const file = (name: string) => join(workspace.home, name)
    const write = (name: string, content: string) => {
      writeFileSync(file(name), content)
      workspace.wrote()
    }
    write('notes', 'first')
    write('kept', 'kept')
    const { record } = await history.make(id, { reason: () => 'after_run' })
    write('notes', 'second')
    write('more', 'more')
    const call = (method: string, path = '', body?: object, key = owner.key) =>
      world.request(key, method, `/api/agents/ada/history/restores${path}`, body)
    const state_ = async (restore: string) => (await call('GET', `/${restore}`)).json
    return {
      ...{ world, raised, owner, id, history, workspace, file, write, record, call, state, over },
      store: historyStore(world.db),
      restores: restoreStore(world.db),
      text: (name: string) => readFileSync(file(name), 'utf8'),
      start: (body: object = {}) => call('POST', '', { record: record.id, ...body }),
      stateOf: state_,
      async ended(restore: string) {
        await until(async () => (await state_(restore)).ended_at !== null, 'the restore ends')
        return state_(restore)
      },
      isClosed: () => world.db.atomically((tx) => world.area.runContexts.isClosedForRuns(tx, id)),
      async look() {
        const loop = world.area.loops.find(({ name }) => name === 'agents.restores')
        await loop?.run(new AbortController().signal)
      },
      wakes: () => world.link.calls.filter(({ t }) => t === 'wake').length,
      async [Symbol.asyncDispose]() {
        await history.restores.close()
        await workspace[Symbol.asyncDispose]()
        await world[Symbol.asyncDispose]()
      },
    }
  }

  test('a restore is shown before, recorded, and can be undone', async () => {
    await using t = await openWorld()
    const preview = await t.call('POST', '/preview', { record: t.record.id })
    const { changes, total, changed, deleted } = preview.json
    assert.deepEqual([total, changed, deleted], [2, 1, 1])
    assert.deepEqual(changes, [
      { path: 'more', kind: 'file', change: 'deleted' },
      { path: 'notes', kind: 'file', change: 'changed' },
    ])
    await insertRunRecords(t.world.db, {
      ...{ execution_id: 'run', agent_id: t.id, before_id: t.record.id, outcome: 'recording' },
    })
    const { status, json } = await t.start()
    assert.equal(status, 202)
    const end = await t.ended(json.id)
    assert.deepEqual([end.state, end.changed, end.deleted, end.message], ['restored', 1, 1, null])
    assert.deepEqual([t.text('notes'), t.text('kept'), existsSync(t.file('more'))], ['first', 'kept', false])
    const [after, before] = await t.store.list(t.id, { before: null, limit: 2 })
    assert.deepEqual([before?.id, before?.reason], [end.undo_record, 'before_restore'])
    assert.deepEqual(
      [after?.id, after?.reason, after?.source_id],
      [end.after_record, 'after_restore', t.record.id],
    )
    assert.deepEqual([after?.changed, after?.deleted], [1, 1])
    assert.equal((await t.store.runOf('run'))?.after_id, end.undo_record, 'the run before it has its record')

    const undo = await t.call('POST', '', { record: end.undo_record })
    const undone = await t.ended(undo.json.id)
    assert.deepEqual([undone.state, t.text('notes'), t.text('more')], ['restored', 'second', 'more'])
    assert.equal(undone.undo_record, end.after_record)
    const again = await t.ended((await t.call('POST', '', { record: end.undo_record })).json.id)
    assert.deepEqual([again.state, again.after_record], ['unchanged', null])
  })

  test('one file comes back alone', async () => {
    await using t = await openWorld()
    const { json } = await t.start({ path: 'notes' })
    assert.equal((await t.ended(json.id)).state, 'restored')
    assert.deepEqual([t.text('notes'), t.text('more')], ['first', 'more'])
  })

  test('while runs work it is refused, waits or stops them, and no new run starts', async () => {
    await using t = await openWorld()
    t.state.running = ['one']
    assert.equal((await t.start()).json.error, 'agent_busy')
    assert.equal(await t.isClosed(), false)
    const { json } = await t.start({ when_busy: 'wait' })
    assert.deepEqual([json.state, json.reason], ['waiting', 'runs_working'])
    assert.equal(await t.isClosed(), true)
    await t.look()
    assert.equal((await t.start({ when_busy: 'wait' })).json.error, 'conflict')
    assert.equal((await t.call('POST', '/preview', { record: t.record.id })).json.error, 'conflict')
    assert.equal(t.text('notes'), 'second')
    t.state.running = []
    await until(async () => {
      await t.look()
      return (await t.stateOf(json.id)).state === 'restored'
    }, 'the restore follows the runs')
    await until(async () => !(await t.isClosed()) && t.wakes() > 0, 'the agent is woken')

    t.write('notes', 'third')
    t.state.running = ['two']
    const stopping = await t.start({ when_busy: 'stop' })
    assert.equal(stopping.json.reason, 'stopping_runs')
    assert.equal((await t.ended(stopping.json.id)).state, 'restored')
    assert.deepEqual([t.state.stopped, t.text('notes')], [[t.owner.username], 'first'])
  })

  test('a restore that waits for too long fails', async () => {
    await using t = await openWorld()
    t.state.running = ['one']
    const { json } = await t.start({ when_busy: 'wait' })
    await t.world.clock.advance(3601)
    await t.look()
    const { state, reason } = await t.stateOf(json.id)
    assert.deepEqual([state, reason], ['failed', 'runs_working'])
  })

  test('a restore that waits can be cancelled, and the runs behind it start', async () => {
    await using t = await openWorld()
    t.state.running = ['one']
    const { json } = await t.start({ when_busy: 'wait' })
    assert.equal(await t.isClosed(), true)
    const { status, json: cancelled } = await t.call('POST', `/${json.id}/cancel`)
    assert.deepEqual([status, cancelled.state, cancelled.reason], [200, 'failed', 'cancelled'])
    assert.equal(await t.isClosed(), false)
    assert.ok(t.wakes() > 0)
    t.state.running = []
    await t.look()
    assert.deepEqual([await t.stateOf(json.id), t.text('notes')], [cancelled, 'second'])
    const again = await t.call('POST', `/${json.id}/cancel`)
    assert.deepEqual([again.status, again.json.error], [409, 'already_finished'])
    assert.equal((await t.call('POST', '/unknown/cancel')).json.error, 'not_found')
  })

  test('409 for the cancellation of a restore that has begun', async () => {
    await using t = await openWorld()
    const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { 'history.restore.compare': compare } = t.workspace.answers
    t.over['history.restore.compare'] = async (request) => {
      reached.resolve()
      await go.promise
      return compare?.(request) ?? assert.fail()
    }
    t.workspace.connect()
    const { json } = await t.start()
    await reached.promise
    const refused = await t.call('POST', `/${json.id}/cancel`)
    assert.deepEqual([refused.status, refused.json.error], [409, 'restore_begun'])
    go.resolve()
    assert.equal((await t.ended(json.id)).state, 'restored')
  })

  test('of a cancellation and the beginning, one wins', async () => {
    await using t = await openWorld()
    for (let round = 0; round < 10; round += 1) {
      t.write('notes', `round ${round}`)
      t.state.running = ['one']
      const { json } = await t.start({ when_busy: 'wait' })
      t.state.running = []
      const [{ status }] = await Promise.all([t.call('POST', `/${json.id}/cancel`), t.look()])
      const { state } = await t.ended(json.id)
      assert.deepEqual(
        [state, t.text('notes')],
        status === 200 ? ['failed', `round ${round}`] : ['restored', 'first'],
      )
      await until(async () => !(await t.isClosed()), 'the restore is over')
    }
  })

  test('a failed run with the rights of the owner is undone, unless others have worked since', async () => {
    await using t = await openWorld()
    const { id: record } = t.record
    const run = { agent_id: t.id, before_id: record, after_id: record, outcome: 'recorded' as const }
    const fail = (executionId: string, isRequested = false, validationId?: string) =>
      t.world.db.atomically((tx) =>
        t.history.restores.undoFailed(tx, {
          ...{ agentId: t.id, executionId, isRequested },
          ...(validationId === undefined ? {} : { validationId }),
        }),
      )
    await insertRunRecords(t.world.db, { ...run, execution_id: 'one' })
    await fail('one')
    assert.equal(await t.isClosed(), false, 'off by default')
    const settings = { undo_failed: true }
    const put = await t.world.request(t.owner.key, 'PUT', '/api/agents/ada/history/settings', settings)
    assert.equal(put.json.undo_failed, true)
    await insertRunRecords(t.world.db, { ...run, execution_id: 'shared', by_owner: 0 })
    await fail('shared', true)
    await fail('unknown', true)
    assert.equal(await t.isClosed(), false)
    assert.equal(t.raised.length, 0)

    const idOf = async () => (await t.restores.openOf(t.id))?.id ?? assert.fail('no restore is open')
    t.world.link.unlink(t.id)
    await fail('one')
    const late = await idOf()
    t.workspace.connect()
    await t.look()
    assert.deepEqual([(await t.ended(late)).reason, t.text('notes')], ['later_runs', 'second'])
    const told = t.raised.map(({ executionId, title, priority }) => [executionId, title, priority])
    assert.deepEqual(told, [['one', 'A failed run could not be undone', 'high']])
    assert.match(t.raised[0]?.question ?? '', /Other runs have worked since/)

    const second = { ...run, started_at: '2026-01-05T08:00:00.000Z' }
    await insertRunRecords(t.world.db, { ...second, execution_id: 'two' })
    await insertRunRecords(t.world.db, { ...second, execution_id: 'check' })
    t.world.link.unlink(t.id)
    await fail('two', false, 'check')
    await fail('two', true, 'check')
    const { id, run: undone } = await t.stateOf(await idOf())
    assert.equal(undone, 'two')
    assert.equal(await t.isClosed(), true, 'before any other run starts')
    t.workspace.connect()
    await t.look()
    assert.deepEqual([(await t.ended(id)).state, t.text('notes')], ['restored', 'first'])
    const { executionId, title, question } = t.raised[1] ?? {}
    assert.deepEqual([t.raised.length, executionId, title], [2, 'two', 'A failed run was undone'])
    const before = await t.store.record(t.id, (await t.stateOf(id)).undo_record)
    assert.match(
      question ?? '',
      new RegExp(`0 added, 1 changed, 1 deleted.*restore record ${before?.number}\\.`),
    )
  })

  test('a failed run without a record, or during another restore, is not undone, and the owner learns it', async () => {
    await using t = await openWorld()
    const run = { agent_id: t.id, outcome: 'recording' as const }
    const fail = (executionId: string) =>
      t.world.db.atomically((tx) =>
        t.history.restores.undoFailed(tx, { agentId: t.id, executionId, isRequested: true }),
      )
    await insertRunRecords(t.world.db, { ...run, execution_id: 'bare', before_id: null })
    const skipped = { ...run, outcome: 'skipped' as const, before_id: null }
    await insertRunRecords(t.world.db, { ...skipped, execution_id: 'reading', reason: 'run_may_not_write' })
    await insertRunRecords(t.world.db, { ...skipped, execution_id: 'off', reason: 'history_off' })
    await insertRunRecords(t.world.db, { ...run, execution_id: 'one', before_id: t.record.id })
    for (const each of ['reading', 'bare', 'off']) await fail(each)
    t.state.running = ['busy']
    const { json } = await t.start({ when_busy: 'wait' })
    await fail('one')
    assert.deepEqual(
      t.raised.map(({ executionId, context }) => [executionId, context.reason]),
      [
        ['bare', 'no_record'],
        ['off', 'no_record'],
        ['one', 'restore_open'],
      ],
    )
    await t.call('POST', `/${json.id}/cancel`)
    assert.equal(t.raised.length, 3, 'what a person asked for is no news')
  })

  test('a link that breaks after the restore began: the agent says how it ended', async () => {
    await using t = await openWorld()
    const apply = t.workspace.answers['history.restore.apply']
    t.over['history.restore.apply'] = async (request) => {
      const answer = await apply?.(request)
      t.world.link.unlink(t.id)
      return answer ?? assert.fail()
    }
    t.workspace.connect()
    const { json } = await t.start()
    await until(async () => (await t.stateOf(json.id)).state === 'applying', 'the end is open')
    assert.equal(await t.isClosed(), true)
    delete t.over['history.restore.apply']
    t.workspace.connect()
    await until(async () => {
      t.world.area.linkConnected(t.id)
      return (await t.stateOf(json.id)).ended_at !== null
    }, 'the end is known')
    const { state, undo_record, after_record } = await t.stateOf(json.id)
    assert.deepEqual([state, t.text('notes')], ['restored', 'first'])
    assert.ok(undo_record !== null && after_record !== null)
  })

  test('a restore of a platform that was killed has not begun, and fails', async () => {
    await using t = await openWorld()
    const row = {
      ...{ id: 'old', agent_id: t.id, record_id: t.record.id, paths: '[""]', asked_by: t.owner.id },
      ...{ run_id: null, validation_id: null },
      ...{ state: 'working' as const, reason: null, message: null, before_id: null, after_id: null },
      ...{ added: 0, changed: 0, attributes: 0, deleted: 0, conflicts: '[]', conflict_count: 0 },
      ...{ merge_base_id: null, overwrite: 0, fills_new: 0 },
      ...{ runner: 'gone', created_at: '2026-01-05T08:00:00.000Z', updated_at: '2026-01-05T08:00:00.000Z' },
    }
    await t.history.make(t.id, { reason: () => 'demand' })
    await t.restores.insert({ ...row, ended_at: null })
    assert.deepEqual(await t.store.removable({ agentId: t.id, limit: 10 }), [])
    await t.look()
    const { state, reason } = await t.ended('old')
    assert.deepEqual([state, reason, t.text('notes')], ['failed', 'platform_stopped', 'second'])
    assert.equal((await t.store.removable({ agentId: t.id, limit: 10 })).length, 1)
  })

  test('faults name their reason, and leave the workspace as it is', async () => {
    await using t = await openWorld({ historyQuota: 1_000_000 })
    const failure = async (body: object = {}) => {
      const { state, reason, message } = await t.ended((await t.start(body)).json.id)
      return [state, reason, message]
    }
    t.over['history.restore.compare'] = () => {
      throw new LinkDown()
    }
    t.workspace.connect()
    assert.deepEqual(await failure(), ['failed', 'agent_unresponsive', null])
    delete t.over['history.restore.compare']
    t.workspace.connect()
    t.over['history.scan'] = () => {
      throw new LinkFault({ code: 'unknown_message', message: 'There is no message "history.scan".' })
    }
    t.workspace.connect()
    assert.deepEqual(await failure(), ['failed', 'agent_program_outdated', null])
    delete t.over['history.scan']
    t.workspace.connect()
    t.write('large', randomText(3_000_000))
    assert.deepEqual(await failure(), [
      ...[
        'failed',
        'not_recorded',
        'The workspace could not be recorded before the restore. The quota of the history is used up.',
      ],
    ])
    rmSync(t.file('large'))
    t.workspace.wrote()
    await t.world.history.remove(storeName(t.id), [t.record.id])
    assert.deepEqual(await failure(), ['failed', 'record_removed', null])
    assert.equal((await t.call('POST', '/preview', { record: t.record.id })).json.error, 'record_not_found')
    assert.equal(t.text('notes'), 'second')
  })

  test('an agent without a link, or stopped, is named', async () => {
    await using t = await openWorld()
    t.world.link.unlink(t.id)
    assert.equal((await t.start()).json.error, 'agent_unresponsive')
    await t.world.request(t.owner.key, 'POST', '/api/agents/ada/stop')
    assert.equal((await t.start()).json.error, 'agent_stopped')
    assert.equal((await t.call('POST', '/preview', { record: t.record.id })).json.error, 'agent_stopped')
  })
})

function randomText(length: number): string {
  return Array.from({ length: length / 8 }, () => Math.random().toString(36).slice(2, 10).padEnd(8)).join('')
}
