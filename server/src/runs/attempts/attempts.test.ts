import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { maxAttempts } from '@roost/contracts/runs/attempts'
import { historyStore } from '../../agents/history/index.ts'
import { agentStore } from '../../agents/records/index.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { executionStore } from '../executions/index.ts'
import { maxWorkingAttempts } from './service.ts'
import { openAttempts } from './test/attempts-world.ts'

const check = 'npm test'

forEachDialect((_, open) => {
  const openWorld = async () => openAttempts(await open())

  test('202 three attempts run on forks, and the kept one becomes the workspace', async () => {
    await using t = await openWorld()
    const { world } = t
    t.write('notes', 'before')
    t.state.checks = async (number) => ({
      ...{ state: 'ended', exit_code: number === 2 ? 0 : 1, timed_out: false, truncated: false },
      ...{ output: `check ${number} hunter2-hunter2`, duration_ms: 3 },
    })
    const id = await t.begin({ repeats: 3, check })
    await t.finish(id, 1, { notes: 'one' }, { cost: 0.25 })
    await t.finish(id, 2, { notes: 'two', 'src/new': 'file' }, { cost: 0.5 })
    await t.finish(id, 3, { other: 'three' }, { error_code: 'agent_error' })
    const done = await t.until(id, ({ status }) => status === 'done')
    assert.deepEqual(
      done.attempts.map(({ status, check: result, changes, cost }) => [
        status,
        result?.exit_code,
        changes?.added,
        changes?.changed,
        cost,
      ]),
      [
        ['done', 1, 0, 1, 0.25],
        ['done', 0, 1, 1, 0.5],
        ['failed', undefined, 1, 0, 0],
      ],
    )
    assert.equal(done.attempts[1]?.check?.output, 'check 2 [secret]')
    assert.equal(done.attempts[1]?.result, 'Result 2')
    assert.deepEqual([done.cost, done.passed, done.ended], [0.75, 1, 3])
    assert.equal(await t.containers(), 1, 'the forks are gone')

    const record = done.attempts[1]?.record
    const url = `/api/agents/ada/history/records/${record}/changes?since=${done.base_record}`
    const changes = await world.request(t.owner.key, 'GET', url)
    assert.deepEqual(
      changes.json.changes.map(({ path }: { path: string }) => path),
      ['notes', 'src/new'],
    )
    const listed = await world.request(t.owner.key, 'GET', '/api/agents/ada/history')
    assert.ok(listed.json.records.every(({ reason }: { reason: string }) => reason !== 'attempt'))

    const kept = await world.request(t.owner.key, 'POST', t.path(id, '/keep'), { attempt: 2 })
    assert.equal(kept.status, 202, JSON.stringify(kept.json))
    const ended = await t.until(id, ({ ended_at }) => ended_at !== null)
    assert.deepEqual([ended.status, ended.kept, ended.keep?.state], ['kept', 2, 'kept'])
    assert.equal(readFileSync(join(t.home, 'notes'), 'utf8'), 'two')
    assert.equal(readFileSync(join(t.home, 'src/new'), 'utf8'), 'file')
    assert.equal(existsSync(join(t.home, 'other')), false)
    const stored = await world.history.records()
    const rows = await historyStore(t.db).list(t.source.id, { before: null, limit: 100 })
    assert.deepEqual(stored.map((each) => each.record).sort(), rows.map((row) => row.id).sort())
    assert.ok(rows.every(({ attempt_set_id }) => attempt_set_id === null))

    const undo = { record: ended.keep?.undo_record ?? '' }
    const begun = await world.request(t.owner.key, 'POST', '/api/agents/ada/history/restores', undo)
    assert.equal(begun.status, 202, JSON.stringify([begun.json, ended.keep]))
    await t.eventually(async () => readFileSync(join(t.home, 'notes'), 'utf8') === 'before', 'undone')
  })

  test('409 for simultaneous starts above the limit of the account, on whichever agents', async () => {
    await using t = await openWorld()
    const names = ['ada', 'bob', 'cleo', 'dan', 'eve', 'fay']
    for (const name of names.slice(1)) await t.world.request(t.owner.key, 'POST', '/api/agents', { name })
    // What is accepted stays at work.
    await t.state.attempts?.close()
    const replies = await Promise.all(
      names.map((name) =>
        t.world.request(t.owner.key, 'POST', `/api/agents/${name}/attempts`, {
          messages: ['Do it'],
          repeats: maxAttempts - 1,
        }),
      ),
    )
    const fitting = Math.floor(maxWorkingAttempts / (maxAttempts - 1))
    const expected = names.map((_, index) => (index < fitting ? 202 : 409))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), expected)
    assert.equal(await t.store.countWorking(t.owner.id), fitting * (maxAttempts - 1))
  })

  test('the runs of attempts belong to the source afterwards, and forks are hidden before', async () => {
    await using t = await openWorld()
    const { world } = t
    const admin = await world.person('admin')
    const id = await t.begin({ repeats: 2 })
    await t.until(id, ({ attempts }) => attempts.every(({ status }) => status === 'running'))
    const forks = (await agentStore(t.db).all()).filter(({ attempt_set_id }) => attempt_set_id === id)
    assert.equal(forks.length, 2)
    for (const { key } of [t.owner, admin]) {
      const listed = await world.request(key, 'GET', '/api/agents')
      const names = listed.json.map(({ name }: { name: string }) => name)
      assert.ok(names.includes('ada') && !forks.some(({ name }) => names.includes(name)))
      const fork = await world.request(key, 'GET', `/api/agents/${forks[0]?.name}`)
      assert.equal(fork.status, 404)
    }
    await t.finish(id, 1)
    await t.finish(id, 2)
    const done = await t.until(id, ({ status }) => status === 'done')
    for (const { execution_id } of done.attempts) {
      const run = await executionStore(t.db).byId(execution_id ?? '')
      assert.deepEqual([run?.agent_id, run?.agent_name, run?.agent_deleted], [t.source.id, 'ada', 0])
    }
  })

  test('files that changed meanwhile: others stay, the same ones are named until they may be overwritten', async () => {
    await using t = await openWorld()
    const { world } = t
    t.write('both', 'before')
    t.write('theirs', 'before')
    t.write('ours', 'before')
    const id = await t.begin()
    await t.finish(id, 1, { both: 'attempt', theirs: 'attempt', 'new/file': 'attempt' })
    await t.until(id, ({ status }) => status === 'done')
    t.write('both', 'agent')
    t.write('ours', 'agent')
    t.write('new/own', 'agent')
    const read = (name: string) => readFileSync(join(t.home, name), 'utf8')
    await world.request(t.owner.key, 'POST', t.path(id, '/keep'), { attempt: 1 })
    const refused = await t.until(id, ({ keep }) => keep?.state === 'failed')
    assert.deepEqual([refused.status, refused.keep?.reason], ['done', 'changed_meanwhile'])
    assert.deepEqual(refused.keep?.conflicts, [{ path: 'both', reason: 'changed_meanwhile' }])
    assert.deepEqual([read('both'), read('theirs')], ['agent', 'before'])

    const body = { attempt: 1, on_conflict: 'overwrite' }
    await world.request(t.owner.key, 'POST', t.path(id, '/keep'), body)
    const kept = await t.until(id, ({ ended_at }) => ended_at !== null)
    assert.equal(kept.status, 'kept', JSON.stringify(kept.keep))
    assert.deepEqual(['both', 'theirs', 'ours', 'new/file', 'new/own'].map(read), [
      'attempt',
      'attempt',
      'agent',
      'attempt',
      'agent',
    ])
  })

  test('what the base left out stays, whatever else has changed', async () => {
    for (const change of ['none', 'rotated', 'other'] as const) {
      await using t = await openWorld()
      const rules = JSON.stringify({ patterns: [], max_file_bytes: 1000 })
      await historyStore(t.db).putSettings({
        ...{ agent_id: t.source.id, is_on: 1, undo_failed: 0, start_from_record: 0 },
        ...{ rules, quota_bytes: null, updated_at: '' },
      })
      for (const name of ['log', 'folder/log', 'large']) t.write(name, 'x'.repeat(2000))
      for (const name of ['folder/file', 'other', 'closed/file']) t.write(name, 'before')
      // The source cannot read these.
      for (const name of ['secret', 'closed/secret']) t.write(name, 'secret')
      const source = t.workspaces.get(t.source.id) ?? assert.fail()
      const { 'history.read': read } = source.answers
      source.answers['history.read'] = async (request) => {
        const { parts } = (await read?.(request)) ?? assert.fail()
        const isSecret = (data: string) => Buffer.from(data, 'base64').toString() === 'secret'
        return {
          parts: parts.map((part) =>
            isSecret(part.data_base64) ? { ...part, state: 'failed', data_base64: '' } : part,
          ),
        }
      }
      source.connect()
      const id = await t.begin()
      const { attempts } = await t.until(id, (set) =>
        set.attempts.every(({ status }) => status === 'running'),
      )
      const { agent_id } = (await t.store.attempts([id]))[0] ?? assert.fail()
      const fork = t.workspaces.get(agent_id ?? '') ?? assert.fail(JSON.stringify(attempts))
      chmodSync(join(fork.home, 'closed'), 0o700)
      const log = change === 'rotated' ? 'agent' : 'xxxxxxx'
      await t.finish(id, 1, {
        ...{ new: 'attempt', 'folder/file': 'attempt' },
        ...(change === 'rotated' ? { log: 'attempt' } : {}),
      })
      await t.until(id, ({ status }) => status === 'done')
      if (change === 'rotated') for (const name of ['log', 'folder/log']) t.write(name, 'agent')
      if (change === 'other') t.write('other', 'agent')
      await t.world.request(t.owner.key, 'POST', t.path(id, '/keep'), { attempt: 1 })
      await t.until(id, ({ ended_at }) => ended_at !== null)
      const contents = Object.fromEntries(
        ['new', 'folder/file', 'log', 'folder/log', 'other', 'large', 'secret', 'closed/secret'].map(
          (name) => [
            name,
            existsSync(join(t.home, name)) ? readFileSync(join(t.home, name), 'utf8').slice(0, 7) : null,
          ],
        ),
      )
      assert.deepEqual(contents, {
        ...{ new: 'attempt', 'folder/file': 'attempt', log, 'folder/log': log, large: 'xxxxxxx' },
        ...{ other: change === 'other' ? 'agent' : 'before', secret: 'secret', 'closed/secret': 'secret' },
      })
      assert.equal(statSync(join(t.home, 'closed')).mode & 0o777, 0o700)
    }
  })

  test('an attempt stays while a path of it could not be written', async () => {
    await using t = await openWorld()
    const id = await t.begin()
    await t.finish(id, 1, { pipe: 'a file', other: 'written' })
    await t.until(id, ({ status }) => status === 'done')
    // Records leave it out, so a restore does not replace it.
    execFileSync('mkfifo', [join(t.home, 'pipe')])
    t.workspaces.get(t.source.id)?.wrote()
    const kept = await t.world.request(t.owner.key, 'POST', t.path(id, '/keep'), { attempt: 1 })
    assert.equal(kept.status, 202, JSON.stringify(kept.json))
    const set = await t.until(id, ({ status, message }) => status === 'done' && message !== null)
    assert.match(set.message ?? '', /^One path of the attempt could not be written/)
    assert.equal(readFileSync(join(t.home, 'other'), 'utf8'), 'written')
    const record = set.attempts[0]?.record ?? ''
    assert.notEqual(await historyStore(t.db).record(t.source.id, record), null)
    // It ends with the set, so a pin would be a promise that is not kept.
    const pin = `/api/agents/ada/history/records/${record}/pin`
    assert.equal((await t.world.request(t.owner.key, 'PUT', pin, { pinned: true })).status, 409)
  })

  test('the best check is kept without asking, and none if none passed', async () => {
    await using t = await openWorld()
    const exitCodes = [1, 0, 0]
    t.state.checks = async (number) => ({
      ...{ state: 'ended', exit_code: exitCodes[number - 1] ?? 1, timed_out: false },
      ...{ output: '', truncated: false, duration_ms: 1 },
    })
    const body = { repeats: 3, check, pick: 'best_check' }
    const first = await t.begin(body)
    await t.finish(first, 1, { result: '1' }, { cost: 0.1 })
    await t.finish(first, 2, { result: '2' }, { cost: 0.3 })
    await t.finish(first, 3, { result: '3' }, { cost: 0.2 })
    const kept = await t.until(first, ({ ended_at }) => ended_at !== null)
    assert.deepEqual([kept.status, kept.kept], ['kept', 3])
    assert.equal(readFileSync(join(t.home, 'result'), 'utf8'), '3')

    exitCodes.fill(1)
    const second = await t.begin({ ...body, repeats: 1 })
    await t.finish(second, 1, { result: 'worse' })
    const left = await t.until(second, ({ message }) => message !== null)
    assert.deepEqual([left.status, left.kept], ['done', null])
  })

  test('a process that was killed before it chose leaves that to the next one', async () => {
    await using t = await openWorld()
    const id = await t.begin()
    await t.finish(id, 1, { result: 'one' })
    await t.until(id, ({ status }) => status === 'done')
    await t.takeOver()
    const set = (await t.store.find(id)) ?? assert.fail()
    await t.store.changeSet(set, { pick: 'best_check', updated_at: set.updated_at })
    const kept = await t.until(id, ({ ended_at }) => ended_at !== null)
    assert.deepEqual([kept.status, kept.kept], ['kept', 1])
    assert.equal(readFileSync(join(t.home, 'result'), 'utf8'), 'one')
  })

  test('nothing is kept for an admin who was demoted meanwhile', async () => {
    await using t = await openWorld()
    const admin = await t.world.person('admin')
    const id = await t.begin({}, admin.key)
    await t.finish(id, 1, { result: 'one' })
    const { status } = await t.until(id, (set) => set.status === 'done')
    await t.world.identity.changeUser(admin.id, { role: 'user' })
    const set = (await t.store.find(id)) ?? assert.fail()
    await t.store.changeSet(set, { pick: 'best_check', updated_at: set.updated_at })
    const left = await t.until(id, ({ message }) => message !== null)
    assert.deepEqual([left.status, left.kept], [status, null])
    assert.match(left.message ?? '', /no longer has access/)
  })

  test('a choice that cannot be kept changes nothing, and the platform does not choose instead', async () => {
    await using t = await openWorld()
    t.state.checks = async () => ({
      ...{ state: 'ended', exit_code: 1, timed_out: false, output: '', truncated: false, duration_ms: 1 },
    })
    const id = await t.begin({ check, pick: 'best_check' })
    await t.finish(id, 1, { result: 'one' })
    const { message } = await t.until(id, (set) => set.message !== null)
    t.running.ids = ['run']
    const refused = await t.world.request(t.owner.key, 'POST', t.path(id, '/keep'), { attempt: 1 })
    assert.deepEqual([refused.status, refused.json.error], [409, 'agent_busy'])
    const left = await t.get(id)
    assert.deepEqual([left.status, left.message, left.keep], ['done', message, null])
  })

  test('a process that was killed leaves every step to the next one', async () => {
    await using t = await openWorld()
    const id = await t.begin({ repeats: 2, check })
    await t.until(id, ({ attempts }) => attempts.some(({ status }) => status === 'forking'))
    await t.takeOver()
    await t.until(id, ({ attempts }) => attempts.every(({ status }) => status === 'running'))
    await t.takeOver()
    let isChecked = false
    t.state.checks = async () => ({
      ...{ state: isChecked ? 'ended' : 'running', exit_code: isChecked ? 0 : null, timed_out: false },
      ...{ output: '', truncated: false, duration_ms: 1 },
    })
    await t.finish(id, 1, { result: 'one' })
    await t.takeOver()
    await t.finish(id, 2, { result: 'two' })
    await t.until(id, ({ attempts }) => attempts.every(({ status }) => status === 'checking'))
    await t.takeOver()
    isChecked = true
    await t.until(id, ({ status }) => status === 'done')
    assert.equal(await t.containers(), 1)
    await t.world.request(t.owner.key, 'POST', t.path(id, '/keep'), { attempt: 2 })
    await t.takeOver()
    const kept = await t.until(id, ({ ended_at }) => ended_at !== null)
    assert.deepEqual([kept.status, readFileSync(join(t.home, 'result'), 'utf8')], ['kept', 'two'])
  })

  test('of several machines, the one that the agent is connected to drives a set', async () => {
    await using t = await openWorld()
    t.state.isElsewhere = true
    const id = await t.begin()
    for (let pass = 0; pass < 3; pass += 1) await t.tick()
    await t.state.attempts?.settled()
    assert.equal((await t.get(id)).status, 'recording')
    assert.equal(await t.containers(), 1)
    t.state.isElsewhere = false
    await t.until(id, ({ attempts }) => attempts.every(({ status }) => status === 'running'))
  })

  test('a set that is discarded while an attempt is recorded keeps no record', async () => {
    await using t = await openWorld()
    const { history } = t.world
    const [isInside, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { changes } = history
    const ofSource = Buffer.from(t.source.id).toString('hex')
    const id = await t.begin()
    // Compared with the base before its row is stored.
    history.changes = async (from, to) => {
      if (from.agent === ofSource && (await historyStore(t.db).record(t.source.id, to.record)) === null) {
        isInside.resolve()
        await mayGoOn.promise
      }
      return changes(from, to)
    }
    await t.finish(id, 1, { result: 'one' })
    let isRecording = false
    void isInside.promise.then(() => {
      isRecording = true
    })
    await t.eventually(async () => isRecording, 'the attempt is recorded')
    assert.equal((await t.world.request(t.owner.key, 'POST', t.path(id, '/discard'))).status, 200)
    await t.until(id, ({ ended_at }) => ended_at !== null)
    mayGoOn.resolve()
    await t.state.attempts?.settled()
    const stored = await history.records()
    const rows = await historyStore(t.db).list(t.source.id, { before: null, limit: 100 })
    assert.deepEqual(stored.map(({ record }) => record).sort(), rows.map((row) => row.id).sort())
    assert.equal(await historyStore(t.db).countAll(), rows.length)
    assert.ok(rows.every(({ attempt_set_id }) => attempt_set_id === null))
  })

  test('a set that another process ends while its base is recorded does not hold it', async () => {
    await using t = await openWorld()
    const { history } = t.world
    const [isInside, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { open: openDraft } = history
    history.open = async (options) => {
      isInside.resolve()
      await mayGoOn.promise
      return openDraft(options)
    }
    const id = await t.begin()
    await isInside.promise
    const first = t.state.attempts
    assert.equal((await t.world.request(t.owner.key, 'POST', t.path(id, '/discard'))).status, 200)
    await t.takeOver()
    await t.until(id, ({ ended_at }) => ended_at !== null)
    mayGoOn.resolve()
    await first?.settled()
    const [base] = await historyStore(t.db).list(t.source.id, { before: null, limit: 1 })
    assert.deepEqual([base?.reason, base?.attempt_set_id], ['demand', null])
  })

  test('a cancelled set keeps what has ended, a discarded one keeps nothing', async () => {
    await using t = await openWorld()
    const { world } = t
    const id = await t.begin({ repeats: 2, check: 'true', pick: 'best_check' })
    await t.finish(id, 1, { result: 'one' })
    await t.until(id, ({ ended }) => ended === 1)
    assert.equal((await world.request(t.owner.key, 'POST', t.path(id, '/cancel'))).status, 200)
    const done = await t.until(id, ({ status }) => status === 'done')
    assert.equal(done.message, 'The attempts were cancelled, so none was kept.')
    assert.deepEqual(
      done.attempts.map(({ status }) => status),
      ['done', 'cancelled'],
    )
    assert.equal((await world.request(t.owner.key, 'DELETE', t.path(id))).status, 409)
    await world.request(t.owner.key, 'POST', t.path(id, '/discard'))
    await t.until(id, ({ ended_at }) => ended_at !== null)
    assert.equal((await world.request(t.owner.key, 'POST', t.path(id, '/keep'), { attempt: 1 })).status, 409)
    assert.equal((await world.request(t.owner.key, 'DELETE', t.path(id))).status, 200)
    assert.equal((await world.request(t.owner.key, 'GET', t.path(id))).status, 404)

    const running = await t.begin({ repeats: 2 })
    await t.until(running, ({ attempts }) => attempts.every(({ status }) => status === 'running'))
    await world.request(t.owner.key, 'POST', t.path(running, '/discard'))
    await t.until(running, ({ ended_at }) => ended_at !== null)
    assert.equal(await t.containers(), 1)
    const stored = await world.history.records()
    const rows = await historyStore(t.db).list(t.source.id, { before: null, limit: 100 })
    assert.deepEqual(stored.map((each) => each.record).sort(), rows.map((row) => row.id).sort())
  })

  test('a set that nobody chooses from expires, and a deleted source takes its forks along', async () => {
    await using t = await openWorld()
    const { world } = t
    const id = await t.begin()
    await t.finish(id, 1, { result: 'one' })
    await t.until(id, ({ status }) => status === 'done')
    world.clock.set(new Date(world.clock.now().getTime() + 7 * 86_400_000 + 60_000))
    const expired = await t.until(id, ({ ended_at }) => ended_at !== null)
    assert.equal(expired.status, 'discarded')

    const next = await t.begin()
    await t.until(next, ({ attempts }) => attempts.every(({ status }) => status === 'running'))
    await world.request(t.owner.key, 'DELETE', '/api/agents/ada')
    for (const { name, run } of t.state.attempts?.loops ?? [])
      if (name === 'runs.attempts-cleanup') await run(new AbortController().signal)
    await t.eventually(async () => (await t.containers()) === 0, 'no container')
    await world.assertNothingLeft()
  })

  test('403 and 404: only the owner, with a session or a user key', async () => {
    await using t = await openWorld()
    const { world } = t
    const id = await t.begin()
    const [other, sharer] = [await world.person(), await world.person()]
    await world.request(t.owner.key, 'POST', '/api/agents/ada/share', {
      email: sharer.email,
      access: 'write',
    })
    const agentKey = await world.agentKey(t.source.id)
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['POST', '/keep', { attempt: 1 }],
      ['POST', '/cancel'],
      ['POST', '/discard'],
      ['DELETE', ''],
    ]
    for (const [method, rest, body] of calls) {
      const statusOf = async (key: string) =>
        (await world.request(key, method, t.path(id, rest), body)).status
      assert.deepEqual(
        [await statusOf(other.key), await statusOf(sharer.key), await statusOf(agentKey)],
        [404, 403, 403],
        `${method} ${rest}`,
      )
    }
    assert.equal((await t.start({}, other.key)).status, 404)
    assert.equal((await t.start({}, sharer.key)).status, 403)
    await world.request(other.key, 'POST', '/api/agents', { name: 'eve' })
    const foreign = await world.request(other.key, 'GET', `/api/agents/eve/attempts/${id}`)
    assert.equal(foreign.status, 404)
  })

  test('409 and 422: one set at work, ten attempts, a valid model', async () => {
    await using t = await openWorld()
    await t.begin()
    assert.equal((await t.start()).status, 409)
    const over = { repeats: maxAttempts, messages: ['a', 'b'] }
    assert.equal((await t.start(over)).status, 422)
    assert.equal((await t.start({ max_cost_usd: 0 })).status, 422)
    assert.equal((await t.start({ variants: [{ model: 'no-model' }] })).status, 422)
    assert.equal((await t.start({ check: ' ' })).status, 422)
  })

  test('a fork that cannot be made and a check that never ends do not block the others', async () => {
    await using t = await openWorld()
    t.state.checks = async (number) => ({
      ...{ state: number === 1 ? 'running' : 'ended', exit_code: number === 1 ? null : 0, timed_out: false },
      ...{ output: '', truncated: false, duration_ms: 1 },
    })
    const id = await t.begin({ repeats: 2, check: 'sleep 1000', check_timeout_seconds: 1 })
    await t.finish(id, 1, { result: 'one' })
    await t.finish(id, 2, { result: 'two' })
    await t.until(id, ({ attempts: [one, two] }) => one?.status === 'checking' && two?.status === 'done')
    await t.world.clock.advance(130)
    const done = await t.until(id, ({ status }) => status === 'done')
    assert.deepEqual(
      done.attempts.map(({ check: result }) => [result?.exit_code, result?.timed_out]),
      [
        [null, true],
        [0, false],
      ],
    )
  })
})
