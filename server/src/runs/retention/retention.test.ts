import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOutbox } from '../../foundation/outbox/index.ts'
import { openSettings } from '../../foundation/settings/index.ts'
import { createThrowawayVault } from '../../foundation/vault/index.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { insertRuns } from '../../test/run-rows.ts'
import {
  createRunHooks,
  type ExecutionRow,
  executionStore,
  type ModelCallRow,
  modelCallStore,
} from '../executions/index.ts'
import { type FanOutRow, fanOutStore } from '../fan-out/store.ts'
import { type LoopRow, loopStore } from '../loops/store.ts'
import { numberLine, transcriptStore } from '../transcripts/index.ts'
import { logRetention, runRetention } from './index.ts'

const never = new AbortController().signal
const noKeys = { anthropic: null, google: null, openai: null, github: null, voice: null }
/** With the default windows, transcripts end on 2 May and runs on 3 March. */
const now = '2026-06-01T00:00:00.000Z'
const edges = {
  log: { due: '2026-05-01T23:59:59.999Z', young: '2026-05-02T00:00:00.000Z' },
  row: { due: '2026-03-02T23:59:59.999Z', young: '2026-03-03T00:00:00.000Z' },
}
const old = '2026-01-05T07:00:00.000Z'

/** Retention with the real settings. Runs end at the time that they were created. */
async function start(open: OpenTestDb) {
  const db = await open()
  const clock = createTestClock(now)
  const ephemeral = memoryEphemeral({ clock, log: silentLog })
  const settings = await openSettings({
    ...{ db, clock, ephemeral, log: silentLog, vault: createThrowawayVault() },
    installed: { mail: false, voip: false, paidChat: false, dispatchBreaker: false, providerKeys: noKeys },
  })
  const { alerts, raised } = createTestAlerts()
  const events = createOutbox({ db, clock, ephemeral, log: silentLog })
  const hooks = createRunHooks()
  const deps = { db, clock, log: silentLog, settings, alerts, events, hooks }
  const [logs, runs] = [logRetention(deps), runRetention(deps)]

  async function addLines(rows: readonly ExecutionRow[], count: number): Promise<void> {
    for (const row of rows) {
      const lines = Array.from({ length: count }, (_, index) =>
        numberLine(
          { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'x' }] } },
          index + 1,
          old,
          [],
        ),
      )
      const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } } as const
      const tool = numberLine(
        { type: 'assistant', message: { role: 'assistant', content: [call] } },
        count + 1,
        old,
        [],
      )
      await transcriptStore(db).add(row, [...lines, tool])
    }
  }

  return {
    ...{ db, clock, settings, raised, events, hooks },
    sweepLogs: () => logs.run(never),
    sweepRuns: () => runs.run(never),
    /** Inserts runs; those with `last_line` get that many lines. */
    async add(...overs: Partial<ExecutionRow>[]): Promise<ExecutionRow[]> {
      const rows = await insertRuns(db, overs)
      for (const row of rows) if (row.last_line > 0) await addLines([row], row.last_line - 1)
      return rows
    },
    lines: async (id: string) => (await transcriptStore(db).all(id)).length,
    tools: (id: string) => transcriptStore(db).countTools(id),
    row: async (id: string) => ({ ...(await executionStore(db).byId(id)) }),
    async left(): Promise<string[]> {
      const rows = await db
        .withTables<{ executions: { id: string } }>()
        .selectFrom('executions')
        .select('id')
        .execute()
      return rows.map(({ id }) => id).toSorted()
    },
    [Symbol.asyncDispose]: () => db.close(),
  }
}

function loopRow(over: Partial<LoopRow>): LoopRow {
  return {
    ...{
      id: 'loop_1',
      agent_id: 'a1',
      status: 'completed',
      stop_reason: null,
      error: null,
      message: 'again',
    },
    ...{ max_runs: 1, on_failure: 'abort', max_consecutive_failures: 3, stop_signal: null, delay_seconds: 0 },
    ...{ timeout_per_run: null, max_duration_seconds: null, max_cost_micros: null, no_progress_threshold: 3 },
    ...{ model: null, allowed_tools: null, runs_completed: 1, open_execution_id: null, next_run_at: null },
    ...{ stop_requested_at: null, created_at: old, completed_at: old, source: '{}', started_by: 'ann' },
    ...{ source_user_id: null, source_mcp_key_id: null, chain_depth: 0 },
    ...over,
  }
}

function modelCallRow(execution_id: string): ModelCallRow {
  return {
    ...{ execution_id, id: 'c1', provider: 'anthropic', model: null, status: 200, started_at: old },
    ...{ first_token_ms: null, duration_ms: 1, input_tokens: 1, output_tokens: 1 },
    ...{ cache_creation_tokens: 0, cache_read_tokens: 0, cost_micros: 1, cost_estimated: 0 },
  }
}

function fanOutRow(over: Partial<FanOutRow>): FanOutRow {
  return {
    ...{ id: 'fo_1', agent_id: 'a1', max_concurrency: 1, source_mcp_key_id: null, created_at: old },
    ...{ completed_at: old },
    ...over,
  }
}

forEachDialect((_name, open) => {
  test('transcripts of runs that ended before the window are removed; the rows stay unchanged', async () => {
    await using it = await start(open)
    const { due, young } = edges.log
    const result = { response: 'done', error: 'e', cost_micros: 5, tool_count: 7, num_turns: 2, last_line: 3 }
    const [ended, recent, running, silent] = await it.add(
      { id: 'ended', completed_at: due, ...result },
      { id: 'recent', completed_at: young, last_line: 3 },
      { id: 'running', status: 'running', last_line: 3 },
      { id: 'silent', status: 'skipped', completed_at: due },
    )
    await it.sweepLogs()
    assert.deepEqual([await it.lines('ended'), await it.tools('ended')], [0, 0])
    assert.deepEqual([await it.lines('recent'), await it.tools('recent')], [3, 1])
    assert.equal(await it.lines('running'), 3)
    assert.deepEqual(await it.row('ended'), { ...ended, log_removed_at: now })
    assert.deepEqual(await it.row('silent'), { ...silent, log_removed_at: now })
    assert.deepEqual([await it.row('recent'), await it.row('running')], [recent, running])
  })

  test('a long transcript is removed in several transactions, and a second sweep changes nothing', async () => {
    await using it = await start(open)
    const before = edges.log.due
    await it.add(
      { id: 'long', completed_at: before, last_line: 750 },
      { id: 'next', completed_at: before, last_line: 20 },
    )
    const aborted = new AbortController()
    const log = logRetention({
      ...it,
      alerts: createTestAlerts().alerts,
      log: silentLog,
      settings: {
        value: () => 30,
        retention: { admit: async () => ({ isAdmitted: true, isNew: false }) },
      },
      db: {
        ...it.db,
        atomically: async (work) => {
          aborted.abort()
          return it.db.atomically(work)
        },
      },
    })
    await log.run(aborted.signal)
    assert.deepEqual([await it.lines('long'), await it.lines('next')], [250, 20])
    assert.equal((await it.row('long')).log_removed_at, null, 'partly removed')
    await it.sweepLogs()
    assert.deepEqual([await it.lines('long'), await it.lines('next')], [0, 0])
    await it.clock.advance(3600)
    await it.sweepLogs()
    assert.equal((await it.row('long')).log_removed_at, now)
  })

  test('lines are removed up to a number of bytes per transaction', async () => {
    await using it = await start(open)
    await it.add({ id: 'a', completed_at: old, last_line: 6 }, { id: 'b', completed_at: old, last_line: 2 })
    const remove = (maxBytes: number) =>
      it.db.atomically((tx) => transcriptStore(tx).removeLines(['a', 'b'], { maxLines: 100, maxBytes }))
    assert.deepEqual(await remove(1), { removed: 1, emptied: [] }, 'at least one line')
    assert.deepEqual(await remove(1_000_000), { removed: 7, emptied: ['a', 'b'] })
  })

  test('runs that ended before the window are deleted with their lines and tool calls', async () => {
    await using it = await start(open)
    const { due, young } = edges.row
    await it.add(
      { id: 'ended', completed_at: due, last_line: 5 },
      { id: 'failed', status: 'failed', completed_at: due },
      { id: 'recent', completed_at: young, last_line: 5 },
      { id: 'queued', status: 'queued', created_at: old, completed_at: null },
      { id: 'running', status: 'running', created_at: old, completed_at: null },
      { id: 'retry', status: 'pending_retry', created_at: old, completed_at: null },
    )
    await it.sweepRuns()
    assert.deepEqual(await it.left(), ['queued', 'recent', 'retry', 'running'])
    assert.deepEqual([await it.lines('ended'), await it.tools('ended')], [0, 0])
    assert.equal(await it.lines('recent'), 5)
    await it.sweepRuns()
    assert.deepEqual(await it.left(), ['queued', 'recent', 'retry', 'running'], 'the second sweep')
  })

  test('model calls stay without their transcript, and are deleted with their run', async () => {
    await using it = await start(open)
    const calls = modelCallStore(it.db)
    const { due, young } = edges.row
    await it.add({ id: 'ended', completed_at: due, last_line: 2 }, { id: 'recent', completed_at: young })
    for (const id of ['ended', 'recent']) await calls.put(modelCallRow(id))
    await it.sweepLogs()
    assert.equal((await calls.of('ended')).length, 1)
    await it.sweepRuns()
    assert.deepEqual([(await calls.of('ended')).length, (await calls.of('recent')).length], [0, 1])
  })

  test('more runs than one transaction deletes are all deleted', async () => {
    await using it = await start(open)
    await it.add(...Array.from({ length: 250 }, () => ({ completed_at: old, last_line: 0 })), { id: 'x' })
    await it.sweepRuns()
    assert.deepEqual(await it.left(), [])
  })

  test('a window of 0 days keeps transcripts and runs', async () => {
    await using it = await start(open)
    await it.settings.putOps({ execution_log_retention_days: 0, execution_row_retention_days: 0 })
    await it.add({ id: 'ended', completed_at: old, last_line: 2 })
    await it.sweepLogs()
    await it.sweepRuns()
    assert.deepEqual([await it.left(), await it.lines('ended')], [['ended'], 2])
  })

  test('a run stays while a retry, a validation or a called run that has not ended refers to it', async () => {
    await using it = await start(open)
    const unfinished = { status: 'queued', completed_at: null } as const
    await it.add(
      { id: 'first', status: 'failed', completed_at: old },
      { id: 'validated', completed_at: old },
      { id: 'parent', completed_at: old },
      { id: 'unvalidated', completed_at: old, business_status: 'pending_validation' },
      { id: 'free', completed_at: old, business_status: 'validated' },
      { id: 'r', ...unfinished, status: 'pending_retry', retry_of_execution_id: 'first' },
      { id: 'v', ...unfinished, validates_execution_id: 'validated' },
      { id: 'c', ...unfinished, parent_execution_id: 'parent' },
    )
    await it.sweepRuns()
    assert.deepEqual(await it.left(), ['c', 'first', 'parent', 'r', 'unvalidated', 'v', 'validated'])
    await it.db
      .withTables<{ executions: ExecutionRow }>()
      .updateTable('executions')
      .set({ status: 'success', completed_at: now })
      .where('completed_at', 'is', null)
      .execute()
    await it.sweepRuns()
    assert.deepEqual(await it.left(), ['c', 'r', 'unvalidated', 'v'])
  })

  test('runs of a loop or fan-out stay until it has ended before the window, and then go with it', async () => {
    await using it = await start(open)
    const [loops, fanOuts] = [loopStore(it.db), fanOutStore(it.db)]
    const { young } = edges.row
    await loops.insert(loopRow({ id: 'loop_open', status: 'open', completed_at: null }))
    await loops.insert(loopRow({ id: 'loop_recent', completed_at: young }))
    await loops.insert(loopRow({ id: 'loop_old' }))
    await fanOuts.insert(fanOutRow({ id: 'fo_open', completed_at: null }))
    await fanOuts.insert(fanOutRow({ id: 'fo_recent', completed_at: young }))
    await fanOuts.insert(fanOutRow({ id: 'fo_old' }))
    await it.add(
      ...['loop_open', 'loop_recent', 'loop_old'].map((id) => ({
        id: `of ${id}`,
        loop_id: id,
        completed_at: old,
      })),
      ...['fo_open', 'fo_recent', 'fo_old'].map((id) => ({
        id: `of ${id}`,
        fan_out_id: id,
        completed_at: old,
      })),
    )
    await it.sweepRuns()
    assert.deepEqual(await it.left(), ['of fo_open', 'of fo_recent', 'of loop_open', 'of loop_recent'])
    const left = (await loops.list({ agentId: 'a1' }, 10)).map(({ id }) => id).toSorted()
    assert.deepEqual(left, ['loop_open', 'loop_recent'])
    assert.equal(await fanOuts.find('fo_old'), null)
    assert.ok((await fanOuts.find('fo_open')) && (await fanOuts.find('fo_recent')))
  })

  test('other features remove their rows in the transaction that deletes the runs', async () => {
    await using it = await start(open)
    const seen: string[][] = []
    it.hooks.onRemoving(async (tx, ids) => {
      const stored = await executionStore(tx).byId(ids[0] ?? '')
      assert.ok(stored)
      seen.push([...ids])
    })
    await it.add({ id: 'a', completed_at: old }, { id: 'b', completed_at: edges.row.young })
    await it.sweepRuns()
    assert.deepEqual(seen, [['a']])
  })

  test('events from before the window go with the runs, and later events keep their positions', async () => {
    await using it = await start(open)
    const append = async (at: string, id: string) => {
      const event = { type: 'execution.finished', agent_names: ['scout'], agent_ids: ['a1'] }
      await it.db.atomically((tx) =>
        it.events.append(tx, { ...event, fields: { execution_id: id, status: 'success' } }, new Date(at)),
      )
      await it.events.relaying.pass()
    }
    const stored = async () => (await it.events.after(0, 100)).map(({ fields }) => fields.execution_id)
    await it.add({ id: 'old', completed_at: old })
    await append(old, 'old')
    await it.sweepRuns()
    assert.deepEqual(await stored(), [])
    await append(edges.row.young, 'young')
    assert.deepEqual(await it.events.storedRange(), { oldest: 2, newest: 2 })
    await it.add({ id: 'older', completed_at: old })
    await it.sweepRuns()
    assert.deepEqual(await stored(), ['young'])
  })

  test('the first sweeps of an upgraded installation are held until they are acknowledged', async () => {
    await using it = await start(open)
    const overs = Array.from({ length: 1_001 }, (_, n) => ({ id: `run ${n}`, completed_at: old }))
    await it.add(...overs)
    await it.add({ id: 'long', completed_at: old, last_line: 1_001 })
    await it.sweepLogs()
    await it.sweepRuns()
    await it.sweepRuns()
    assert.deepEqual([(await it.left()).length, await it.lines('long')], [1_002, 1_001])
    assert.deepEqual(
      it.raised.map(({ kind, context }) => ({ kind, ...context })),
      [
        { kind: 'retention_held', key: 'execution_log_retention_days', rows: 1_001, days: 30 },
        { kind: 'retention_held', key: 'execution_row_retention_days', rows: 1_002, days: 90 },
      ],
    )
    const held = (await it.settings.retention.windows()).filter((window) => window.held !== null)
    assert.deepEqual(
      held.map(({ key, held }) => [key, held?.rows, held?.share]),
      [
        ['execution_log_retention_days', 1_001, 1],
        ['execution_row_retention_days', 1_002, 1],
      ],
    )
    assert.equal(await it.settings.retention.acknowledge('execution_log_retention_days', 30), 1_001)
    await it.sweepLogs()
    await it.sweepRuns()
    assert.deepEqual([(await it.left()).length, await it.lines('long')], [1_002, 0])
    assert.equal(await it.settings.retention.acknowledge('execution_row_retention_days', 90), 1_002)
    await it.sweepRuns()
    assert.deepEqual(await it.left(), [])
    await it.sweepRuns()
    assert.ok((await it.settings.retention.windows()).every((window) => window.held === null))
    assert.equal(it.raised.length, 2)
  })
})
