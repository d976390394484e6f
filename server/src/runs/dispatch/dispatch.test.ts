import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { runKey } from '../../test/agents-platform.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { accept, agentFact, linked, person, resultOf, startRunPlatform } from '../../test/run-platform.ts'
import type { ExecutionRow } from '../executions/index.ts'
import type { ExecutionTables } from '../executions/tables.ts'
import { maxDailyMebibytes, maxTranscriptBytes, transcriptStore } from '../transcripts/index.ts'
import { sourceOf } from './request.ts'
import { claim, claimOne, eventsOf, hello, hold, line, start as startOn } from './test/dispatch-world.ts'

forEachDialect((_, open) => {
  const start = (options: Parameters<typeof startOn>[1] = {}) => startOn(open, options)

  test('an accepted run is queued, has an event, and is claimed under a lease', async () => {
    const { platform, clock } = await start()
    const row = await accept(platform, { model: 'opus', timeoutSeconds: 60, systemPrompt: 'be brief' })
    assert.equal(row.status, 'queued')
    const run = await claimOne(platform)
    assert.equal(run.execution_id, row.id)
    assert.equal(run.kind, 'task')
    assert.equal(run.message, 'do it')
    assert.equal(run.model, 'opus')
    assert.equal(run.timeout_seconds, 60)
    assert.match(run.system_prompt, /be brief$/)
    assert.equal(run.broker.url, 'http://platform/broker')
    const claimed = await platform.row(row.id)
    assert.equal(claimed.status, 'running')
    assert.equal(claimed.spawned_at, null)
    assert.equal(claimed.lease_expires_at, new Date(clock.now().getTime() + 60_000).toISOString())
    assert.deepEqual(await eventsOf(platform), ['execution.created', 'execution.started'])
  })

  test('a claim sends the principal with the rights of that moment', async () => {
    const { platform } = await start()
    const { id } = await accept(platform)
    assert.equal((await platform.row(id)).principal, 'user:u1')
    platform.principals.set('user:u1', { id: 'user:u1', access: 'read', credentials: false })
    const { principal } = await claimOne(platform)
    assert.deepEqual(principal, { id: 'user:u1', access: 'read', credentials: false })
  })

  test('a run whose principal has lost its access is cancelled with the reason, and others start', async () => {
    const link = createFakeAgentLink()
    const platform = await startRunPlatform({ db: await open(), link })
    platform.agents.set('a1', agentFact({ effective_slots: 1 }))
    const ended = await accept(platform)
    const next = await accept(platform, { source: sourceOf(person({ id: 'u2' }), null) })
    platform.principals.set('user:u1', { ended: 'The share has ended.' })
    const wakes = () => link.calls.filter(({ t }) => t === 'wake').length
    const before = wakes()
    assert.deepEqual(await claim(platform, 1), [])
    const row = await platform.row(ended.id)
    assert.deepEqual([row.status, row.error, row.spawned_at], ['cancelled', 'The share has ended.', null])
    assert.equal(wakes(), before + 1, 'the agent claims the slot again')
    assert.equal((await claimOne(platform)).execution_id, next.id)
  })

  test('a program that cannot isolate people gets only runs of owners; the others wait for a newer one', async () => {
    const { alerts, raised, cleared } = createTestAlerts()
    const platform = await startRunPlatform({ db: await open(), alerts })
    platform.agents.set('a1', agentFact({ effective_slots: 3 }))
    const { abilities: _none, ...old } = hello()
    await platform.dispatch.handlers.hello(linked, old)
    const shared = await accept(platform)
    const own = await accept(platform, { source: sourceOf(person({ id: 'u2' }), null) })
    platform.principals.set('user:u1', { id: 'user:u1', access: 'write', credentials: true })
    platform.principals.set('user:u2', { id: 'user:u2', access: 'owner', credentials: true })
    const running = await claimOne(platform)
    assert.equal(running.execution_id, own.id)
    assert.deepEqual(await claim(platform), [])
    assert.equal((await platform.row(shared.id)).status, 'queued')
    assert.match(raised[0]?.title ?? '', /must be restarted: 1 run waits/)

    await platform.dispatch.handlers.hello(
      linked,
      hello([{ ...hold(running), state: 'spawned', last_line: 0 }]),
    )
    assert.deepEqual(cleared.at(-1), { agentId: 'a1', kind: 'program_outdated' })
    assert.deepEqual((await claimOne(platform)).execution_id, shared.id)
  })

  test('held runs do not stand in the way of later runs of the owner', async () => {
    const { alerts, raised } = createTestAlerts()
    const platform = await startRunPlatform({ db: await open(), alerts, queueDepth: 1000 })
    platform.agents.set('a1', agentFact({ effective_slots: 3 }))
    const { abilities: _none, ...old } = hello()
    await platform.dispatch.handlers.hello(linked, old)
    const { dispatch } = platform
    const request = {
      agentId: 'a1',
      kind: 'task' as const,
      triggeredBy: 'fan_out' as const,
      message: 'do it',
    }
    const source = sourceOf(person(), null)
    const agent = await dispatch.checkAgent('a1')
    const requests = Array.from({ length: 501 }, () => ({ ...request, source }))
    await dispatch.transaction((tx) => dispatch.enqueueAll(tx, agent, requests, requests.length))
    const own = await accept(platform, { source: sourceOf(person({ id: 'u2' }), null) })
    platform.principals.set('user:u2', { id: 'user:u2', access: 'owner', credentials: true })
    assert.equal((await claimOne(platform)).execution_id, own.id)
    assert.match(raised.at(-1)?.title ?? '', /501 runs wait/)
  })

  test('queued runs keep their order when the clock is set back', async () => {
    const { platform, clock } = await start({ slots: 20 })
    const { dispatch } = platform
    const agent = await dispatch.checkAgent('a1')
    const request = {
      agentId: 'a1',
      kind: 'task' as const,
      triggeredBy: 'fan_out' as const,
      message: 'do it',
    }
    const source = sourceOf(person(), null)
    const [first, held] = await dispatch.transaction((tx) =>
      dispatch.enqueueAll(
        tx,
        agent,
        [
          { ...request, source },
          { ...request, source },
        ],
        1,
      ),
    )
    clock.set('2026-01-05T07:00:00.000Z')
    const second = await accept(platform)
    await dispatch.transaction((tx) => dispatch.release(tx, 'a1', async () => [held?.id ?? '']))
    clock.set('2026-01-05T06:00:00.000Z')
    const last = await accept(platform)
    const handed = (await claim(platform, 20)).map((run) => run.execution_id)
    assert.deepEqual(handed, [first?.id, second.id, held?.id, last.id])
  })

  test('runs of one millisecond are claimed in the order of their requests', async () => {
    const { platform } = await start({ slots: 20 })
    const ids: string[] = []
    for (let number = 0; number < 20; number += 1) ids.push((await accept(platform)).id)
    const handed: string[] = []
    while (handed.length < 20) handed.push(...(await claim(platform, 20)).map((run) => run.execution_id))
    assert.deepEqual(handed, ids)
  })

  test('20 concurrent claims: no slot twice, no run twice, first in first out', async () => {
    const { platform, db } = await start({ slots: 5 })
    const ids: string[] = []
    for (let number = 0; number < 12; number += 1) ids.push((await accept(platform)).id)
    // A second process claims too, so nothing may depend on memory.
    await using again = await db.openAgain()
    const other = await startRunPlatform({ db: again, clock: platform.clock })
    other.agents.set('a1', agentFact({ effective_slots: 5 }))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => claim(index % 2 ? platform : other, 1 + (index % 3))),
    )
    const handed = answers.flat().map((run) => run.execution_id)
    assert.equal(handed.length, 5)
    assert.deepEqual(new Set(handed), new Set(ids.slice(0, 5)))
    const tokens = answers.filter((runs) => runs.length > 0).map((runs) => runs[0]?.claim_token)
    assert.equal(new Set(tokens).size, tokens.length, 'each claim has a token of its own')
  })

  test('queue_full for 13 of 20 concurrent requests when there is room for seven', async () => {
    const { platform } = await start({ queueDepth: 7 })
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => accept(platform)))
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason)
    assert.equal(refused.length, 13)
    assert.ok(refused.every((reason) => isFault(reason, 'queue_full')))
    assert.deepEqual(refused[0]?.fields, { agent_name: 'scout', queue_length: 7 })
    assert.equal((await eventsOf(platform)).length, 7)
    // Runs that the platform starts use the same queue and are not rejected.
    assert.equal((await accept(platform, { triggeredBy: 'schedule' })).status, 'queued')
  })

  test('turns of one conversation are claimed one after another', async () => {
    const { platform } = await start()
    platform.hooks.onTurn(async (_, row) => ({ message: row.message, resumeSessionId: null }))
    const turn = { kind: 'chat' as const, triggeredBy: 'chat' as const, sessionId: 's1' }
    const first = await accept(platform, turn)
    await accept(platform, turn)
    const task = await accept(platform)
    const runs = await claim(platform)
    assert.deepEqual(
      runs.map((run) => run.execution_id),
      [first.id, task.id],
    )
    assert.equal(runs[0]?.session_id, 's1')
    assert.deepEqual(await claim(platform), [])
    await platform.dispatch.handlers.result(linked, resultOf(runs[0] ?? assert.fail()))
    assert.equal((await claim(platform)).length, 1)
  })

  test('a stopped agent accepts no runs and gets none', async () => {
    const { platform } = await start()
    await accept(platform)
    platform.agents.set('a1', agentFact({ status: 'stopped' }))
    await assert.rejects(accept(platform), (error) => isFault(error, 'agent_not_running'))
    assert.deepEqual(await claim(platform), [])
  })

  test('lines are stored once by number; lines after a gap are not stored', async () => {
    const { platform, on } = await start()
    await accept(platform)
    const { execution_id, claim_token } = await claimOne(platform)
    const send = (from: number, ...texts: string[]) =>
      on.lines(linked, { t: 'lines', execution_id, claim_token, from, lines: texts.map(line) })
    assert.deepEqual(await send(1, 'a', 'b'), { acked: 2 })
    assert.deepEqual(await send(1, 'a', 'b'), { acked: 2 })
    assert.deepEqual(await send(2, 'b', 'c'), { acked: 3 })
    assert.deepEqual(await send(6, 'f'), { acked: 3 })
    const log = await transcriptStore(platform.db).all(execution_id)
    assert.deepEqual(
      log.map((stored) => [stored._n, 'message' in stored && stored.message]),
      [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ],
    )
  })

  test('ten concurrent senders of the same lines store them once', async () => {
    const { platform, on } = await start()
    await accept(platform)
    const { execution_id, claim_token } = await claimOne(platform)
    const message = {
      t: 'lines' as const,
      execution_id,
      claim_token,
      from: 1,
      lines: ['a', 'b', 'c'].map(line),
    }
    const answers = await Promise.all(Array.from({ length: 10 }, () => on.lines(linked, message)))
    assert.ok(answers.every((answer) => 'acked' in answer && answer.acked === 3))
    assert.equal((await transcriptStore(platform.db).all(execution_id)).length, 3)
  })

  test('a transcript ends with a notice at its limit, and the run continues', async () => {
    const { platform, on, clock } = await start()
    await accept(platform)
    const run = await claimOne(platform)
    const send = (from: number, ...texts: string[]) =>
      on.lines(linked, { t: 'lines', ...hold(run), from, lines: texts.map(line) })
    assert.deepEqual(await send(1, 'a', 'b'), { acked: 2 })
    const stored = { line_bytes: maxTranscriptBytes - 2500 }
    await platform.db.withTables<ExecutionTables>().updateTable('executions').set(stored).execute()
    assert.deepEqual(await send(3, 'c', 'd'), { acked: 4 })
    assert.deepEqual(await send(5, 'e'), { acked: 5 })
    await clock.advance(5)
    assert.deepEqual(await send(5, 'e', 'f', 'g'), { acked: 7 })
    const { left_out_lines, left_out_at } = await platform.row(run.execution_id)
    assert.deepEqual([left_out_lines, left_out_at], [3, timestamp(clock.now())])
    assert.deepEqual(await send(9, 'after a gap'), { acked: 7 })
    const { acked } = await on.hello(linked, hello([{ ...hold(run), state: 'spawned', last_line: 8 }]))
    assert.deepEqual(acked, { [run.execution_id]: 7 })
    const log = await transcriptStore(platform.db).all(run.execution_id)
    const notice =
      'The transcript ends here, because this run has reached its limit of 128 MiB. The run continues.'
    assert.deepEqual(
      log.map((each) => [each._n, 'message' in each && each.message]),
      ['a', 'b', 'c', 'd', notice].map((text, index) => [index + 1, text]),
    )
    assert.deepEqual((await on.result(linked, resultOf(run, { last_line: 7 }))).accepted, true)
    assert.equal((await platform.row(run.execution_id)).status, 'success')
  })

  test("the transcripts of an agent's runs of one day have a limit together", async () => {
    const { platform, on, clock } = await start()
    const table = platform.db.withTables<ExecutionTables>()
    const sendTwo = async () => {
      const run = await claimOne(platform)
      const texts = ['x', 'y'].map((text) => line(text.repeat(700 * 1024)))
      for (const [index, each] of texts.entries())
        await on.lines(linked, { t: 'lines', ...hold(run), from: index + 1, lines: [each] })
      const log = await transcriptStore(platform.db).all(run.execution_id)
      await on.result(linked, resultOf(run))
      return log.map((each) => ('message' in each ? `${each.message}`.slice(0, 21) : ''))
    }
    await accept(platform)
    assert.deepEqual(await sendTwo(), ['x'.repeat(21), 'y'.repeat(21)])
    const queues = () => table.selectFrom('agent_queues').selectAll().execute()
    const [counted] = await queues()
    assert.deepEqual([counted?.transcript_day, counted?.transcript_mebibytes], ['2026-01-05', 1])
    await table.updateTable('agent_queues').set({ transcript_mebibytes: maxDailyMebibytes }).execute()
    await accept(platform)
    assert.deepEqual(await sendTwo(), ['x'.repeat(21), 'The transcript ends h'])
    await clock.advance(24 * 3600)
    await accept(platform)
    assert.deepEqual(await sendTwo(), ['x'.repeat(21), 'y'.repeat(21)])
    const [next] = await queues()
    assert.deepEqual([next?.transcript_day, next?.transcript_mebibytes], ['2026-01-06', 1])
  })

  test("the agent's secrets, the run's key and its broker token are masked in lines and results", async () => {
    const { platform, on } = await start()
    platform.secrets.push('svc_mcp_very-secret-key')
    await accept(platform)
    const run = await claimOne(platform)
    const said = `svc_mcp_very-secret-key ${run.broker.token} ${run.key}`
    await on.lines(linked, { t: 'lines', ...hold(run), from: 1, lines: [line(said)] })
    await on.result(linked, resultOf(run, { response: said, status: 'failed', error: said }))
    const row = await platform.row(run.execution_id)
    const log = await transcriptStore(platform.db).all(run.execution_id)
    const stored = JSON.stringify([row.response, row.error, log])
    assert.doesNotMatch(stored, /very-secret-key|rbk_|svc_mcp_run_/)
    assert.match(stored, /\[secret\] \[secret\] \[secret\]/)
  })

  test('a result ends the run once; a second one is already_final', async () => {
    const { platform, on, clock } = await start()
    const row = await accept(platform)
    const run = await claimOne(platform)
    await on.started(linked, { t: 'started', ...hold(run), pid: 7 })
    await clock.advance(2)
    const metadata = {
      cost_usd: 0.25,
      input_tokens: 10,
      output_tokens: 20,
      num_turns: 1,
      model_used: 'claude-x',
    }
    assert.deepEqual(await on.result(linked, resultOf(run, { metadata, runtime_session_id: 'r1' })), {
      accepted: true,
    })
    assert.deepEqual(await on.result(linked, resultOf(run)), { accepted: false, reason: 'already_final' })
    const ended = await platform.row(row.id)
    assert.equal(ended.status, 'success')
    assert.equal(ended.response, 'done')
    assert.equal(ended.cost_micros, 250_000)
    assert.equal(ended.duration_ms, 2000)
    assert.equal(ended.lease_expires_at, null)
    assert.equal(ended.runtime_session_id, 'r1')
    assert.deepEqual((await eventsOf(platform)).at(-1), 'execution.finished')
    assert.equal((await transcriptStore(platform.db).all(row.id)).length, 0, 'no note for an equal result')
  })

  test('of ten concurrent results one counts', async () => {
    const { platform, on } = await start()
    await accept(platform)
    const run = await claimOne(platform)
    let ended = 0
    platform.hooks.onEnded(async (tx) => tx.onCommitted(() => (ended += 1)))
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => on.result(linked, resultOf(run, { response: `${index}` }))),
    )
    assert.equal(answers.filter(({ accepted }) => accepted).length, 1)
    assert.equal(ended, 1)
  })

  test('messages under a void claim or of another agent are stale', async () => {
    const { platform, on } = await start()
    await accept(platform)
    const run = await claimOne(platform)
    const void_ = { execution_id: run.execution_id, claim_token: run.claim_token + 1 }
    const foreign = { ...linked, agentId: 'a2' }
    const lines = { t: 'lines' as const, from: 1, lines: [line('x')] }
    assert.deepEqual(await on.started(linked, { t: 'started', ...void_, pid: 1 }), { stale: true })
    assert.deepEqual(await on.lines(linked, { ...lines, ...void_ }), { stale: true })
    assert.deepEqual(await on.lines(foreign, { ...lines, ...hold(run) }), { stale: true })
    assert.deepEqual(await on.result(linked, resultOf(void_)), { accepted: false, reason: 'stale_claim' })
    assert.deepEqual(await on.result(foreign, resultOf(run)), { accepted: false, reason: 'stale_claim' })
    assert.deepEqual(await on.result(linked, resultOf({ ...void_, execution_id: 'nope' })), {
      accepted: false,
      reason: 'stale_claim',
    })
    assert.equal((await platform.row(run.execution_id)).status, 'running')
  })

  test('a late result of a cancelled run is one note in its log', async () => {
    const { platform, on } = await start()
    const row = await accept(platform)
    const run = await claimOne(platform)
    const reader = { caller: person({ role: 'admin' }), agentId: 'a1', relation: 'admin' as const }
    await platform.executions.terminate(reader, row.id)
    for (let time = 0; time < 2; time += 1) {
      assert.deepEqual(await on.result(linked, resultOf(run, { response: 'too late' })), {
        accepted: false,
        reason: 'already_final',
      })
    }
    const log = await transcriptStore(platform.db).all(row.id)
    assert.equal(log.length, 1)
    assert.match(JSON.stringify(log), /ended as cancelled: success\. too late/)
    assert.equal((await platform.row(row.id)).status, 'cancelled')
  })

  test('a full agent takes runs, which wait, but no attachments', async () => {
    const { platform } = await start()
    platform.agents.set('a1', agentFact({ disk_state: 'full' }))
    const file = { name: 'a.txt', mimetype: 'text/plain', size: 2, data_base64: 'aGk=' }
    const isRefused = (error: unknown) => isFault(error, 'disk_quota_reached')
    await assert.rejects(accept(platform, { attachments: [file] }), isRefused)
    assert.equal((await accept(platform)).status, 'queued')
    platform.agents.set('a1', agentFact({ disk_state: 'low' }))
    assert.equal((await accept(platform, { attachments: [file] })).status, 'queued')
  })

  test('attachments are in the claim, large ones in pieces, and are deleted at the end', async () => {
    const { platform, on } = await start()
    const small = { name: 'a.txt', mimetype: 'text/plain', size: 2, data_base64: 'aGk=' }
    const bytes = Buffer.alloc(5 * 1024 * 1024, 'xyz')
    const large = {
      name: 'b.png',
      mimetype: 'image/png',
      size: bytes.length,
      data_base64: bytes.toString('base64'),
    }
    await accept(platform, { attachments: [small] })
    await accept(platform, { attachments: [small, large] })
    const [first, second] = await claim(platform)
    assert.deepEqual(
      first?.attachments.map((attachment) => ({ ...attachment })),
      [small],
    )
    assert.ok(second)
    assert.deepEqual(
      second.attachments.map(({ name, data_base64 }) => [name, data_base64]),
      [
        ['a.txt', null],
        ['b.png', null],
      ],
    )
    const pieces: Buffer[] = []
    for (let offset = 0; ; ) {
      const piece = await on.attachment(linked, {
        t: 'attachment',
        ...hold(second),
        index: 1,
        offset,
        length: 1_000_000,
      })
      assert.ok('data_base64' in piece)
      pieces.push(Buffer.from(piece.data_base64, 'base64'))
      offset += pieces.at(-1)?.length ?? 0
      if (piece.eof) break
    }
    assert.ok(Buffer.concat(pieces).equals(bytes))
    await on.result(linked, resultOf(second))
    const deleted = { t: 'attachment' as const, ...hold(second), index: 0, offset: 0, length: 9 }
    assert.deepEqual(await on.attachment(linked, deleted), { stale: true })
  })

  test('a chain of agent calls ends after eight hops', async () => {
    const { platform } = await start({ slots: 20 })
    const caller = { ...sourceOf(person(), null), agent: { id: 'a1', name: 'scout' } }
    for (let depth = 1; depth <= 8; depth += 1) {
      const row = await accept(platform, { triggeredBy: 'self_task', source: caller })
      assert.equal(row.chain_depth, depth)
      await claim(platform)
    }
    await assert.rejects(accept(platform, { triggeredBy: 'self_task', source: caller }), (error) =>
      isFault(error, 'inter_agent_depth_exceeded'),
    )
    assert.equal((await accept(platform)).chain_depth, 0)
  })

  test('a chain of calls with the keys of runs ends after eight hops, also of a system agent', async () => {
    const { platform } = await start({ slots: 20 })
    for (const scope of ['agent', 'system'] as const) {
      const callAs = (run: ExecutionRow) => {
        const caller = runKey(run)
        return accept(platform, { source: sourceOf({ ...caller, key: { ...caller.key, scope } }, 'scout') })
      }
      let run = await accept(platform)
      for (let depth = 1; depth <= 8; depth += 1) {
        run = await callAs(run)
        assert.equal(run.chain_depth, depth)
      }
      await assert.rejects(callAs(run), (error) => isFault(error, 'inter_agent_depth_exceeded'))
    }
  })

  test('runs that overlap do not deepen the chains of each other', async () => {
    const { platform } = await start({ slots: 20 })
    for (let turn = 1; turn <= 10; turn += 1) {
      const run = await accept(platform)
      await claim(platform)
      const task = await accept(platform, {
        triggeredBy: 'self_task',
        source: sourceOf(runKey(run), 'scout'),
      })
      assert.deepEqual([run.chain_depth, task.chain_depth], [0, 1])
      await claim(platform)
    }
  })

  test('the depth of a run that follows another is not raised by running ones', async () => {
    const { platform } = await start()
    const source = { ...sourceOf(person(), null), agent: { id: 'a1', name: 'scout' } }
    await accept(platform, { source, chainDepth: 7 })
    await claim(platform)
    assert.equal((await accept(platform, { source, chainDepth: 2 })).chain_depth, 2)
    assert.equal((await accept(platform, { source })).chain_depth, 8)
    await assert.rejects(accept(platform, { source, chainDepth: 9 }), (error) =>
      isFault(error, 'inter_agent_depth_exceeded'),
    )
  })

  test('the HTTP callback stores lines and result; lines sent before are not stored twice', async () => {
    const { platform, on } = await start()
    await accept(platform)
    const run = await claimOne(platform)
    await on.lines(linked, { t: 'lines', ...hold(run), from: 1, lines: [line('a')] })
    const { t: _, ...reported } = resultOf(run)
    assert.deepEqual(await platform.dispatch.report('a1', reported, [line('a'), line('b')]), {
      accepted: true,
    })
    const log = await transcriptStore(platform.db).all(run.execution_id)
    assert.deepEqual(
      log.map((stored) => stored._n),
      [1, 2],
    )
    assert.equal((await platform.row(run.execution_id)).status, 'success')
  })

  test('a turn that cannot be assembled fails and is not claimed again', async () => {
    const { platform } = await start()
    const row = await accept(platform, { kind: 'chat', triggeredBy: 'chat', sessionId: 'gone' })
    assert.deepEqual(await claim(platform), [])
    const failed = await platform.row(row.id)
    assert.deepEqual([failed.status, failed.error_code], ['failed', 'agent_error'])
  })
})
