import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { accept, linked, person, startRunPlatform } from '../../test/run-platform.ts'
import { insertRuns } from '../../test/run-rows.ts'
import { createAgentView } from './service.ts'

const toolLine = {
  type: 'assistant' as const,
  message: {
    role: 'assistant' as const,
    content: [{ type: 'tool_use' as const, id: 't1', name: 'Bash', input: { command: 'cat diary' } }],
  },
}

forEachDialect((_, open) => {
  /** A private turn of u1 that holds a slot and has called a tool. */
  async function privateTurn() {
    const db = await open()
    const platform = await startRunPlatform({ db })
    await accept(platform, { triggeredBy: 'chat', message: 'my secret plan' })
    const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 3 })
    const [run] = runs
    assert.ok(run)
    const { execution_id, claim_token } = run
    await platform.dispatch.handlers.started(linked, { t: 'started', execution_id, claim_token, pid: 1 })
    await platform.dispatch.handlers.lines(linked, {
      t: 'lines',
      execution_id,
      claim_token,
      from: 1,
      lines: [toolLine],
    })
    return { db, view: createAgentView({ db, clock: platform.clock, executions: platform.executions }) }
  }

  test('the person of a conversation sees the content of its run', async () => {
    const { db, view } = await privateTurn()
    await using _ = db
    assert.equal((await view.slotsOf('a1', person())).active[0]?.message_preview, 'my secret plan')
    assert.match((await view.activityOf('a1', person())).timeline[0]?.input_summary ?? '', /diary/)
  })

  test('other users see the slot and the tool, but no content', async () => {
    const { db, view } = await privateTurn()
    await using _ = db
    const other = person({ id: 'u2', username: 'bob' })
    const [slot] = (await view.slotsOf('a1', other)).active
    assert.equal(slot?.message_preview, '')
    const activity = await view.activityOf('a1', other)
    assert.equal(activity.busy, true)
    assert.equal(activity.timeline[0]?.tool, 'Bash')
    assert.equal(activity.timeline[0]?.input_summary, '')
  })

  test('the latest run of each agent gives its context; agents without runs are omitted', async () => {
    const { db, view } = await privateTurn()
    await using _ = db
    const uses = await view.contextOf(['a1', 'never'])
    assert.deepEqual([...uses.keys()], ['a1'])
    assert.equal(uses.get('a1')?.busy, true)
    assert.equal(await view.finishedExecutions('a1'), 0)
  })

  test('an agent is busy while any run is active; a queued run does not clear the context', async () => {
    await using db = await open()
    const at = (minute: number) => `2026-01-05T07:0${minute}:00.000Z`
    const full = { context_used: 90_000, context_max: 200_000 }
    await insertRuns(db, [
      { agent_id: 'a1', created_at: at(0), status: 'running' },
      { agent_id: 'a1', created_at: at(1), completed_at: at(3), ...full },
      { agent_id: 'a1', created_at: at(2), started_at: null, completed_at: null, status: 'queued' },
      { agent_id: 'a2', created_at: at(1), completed_at: at(2), context_used: 10, context_max: 100 },
      { agent_id: 'a2', created_at: at(1), completed_at: at(3), context_used: 20, context_max: 100 },
    ])
    const platform = await startRunPlatform({ db })
    const view = createAgentView({ db, clock: platform.clock, executions: platform.executions })
    const uses = await view.contextOf(['a1', 'a2', 'a3'])
    assert.deepEqual(Object.fromEntries(uses), {
      a1: { busy: true, ...full, last_activity_at: at(2) },
      a2: { busy: false, context_used: 20, context_max: 100, last_activity_at: at(3) },
    })
  })

  test('an agent works since the start of its oldest open run; idle agents are omitted', async () => {
    await using db = await open()
    const at = (minute: number) => `2026-01-05T07:0${minute}:00.000Z`
    await insertRuns(db, [
      { agent_id: 'a1', created_at: at(0), started_at: at(2), status: 'running' },
      { agent_id: 'a1', created_at: at(1), started_at: at(3), status: 'running' },
      { agent_id: 'a2', created_at: at(1), status: 'success' },
      { agent_id: 'a2', created_at: at(1), started_at: null, status: 'queued' },
      // A phone call, which the platform itself carries.
      { agent_id: 'a3', created_at: at(1), status: 'running', claim_token: null },
    ])
    const platform = await startRunPlatform({ db })
    const view = createAgentView({ db, clock: platform.clock, executions: platform.executions })
    assert.deepEqual(await view.runningSince(), new Map([['a1', at(2)]]))
  })

  test('the last use of a person is the newest of their own runs; runs of their agents do not count', async () => {
    await using db = await open()
    const at = (minute: number) => `2026-01-05T07:0${minute}:00.000Z`
    await insertRuns(db, [
      { created_at: at(1), source_user_id: 'u1' },
      { created_at: at(3), source_user_id: 'u1' },
      { created_at: at(4), source_user_id: 'u1', source_agent_id: 'a2' },
      { created_at: at(2), source_user_id: 'u2' },
      { created_at: at(5), source_user_id: 'u2', agent_id: 'a2' },
      { created_at: at(6), source_user_id: null },
    ])
    const platform = await startRunPlatform({ db })
    const view = createAgentView({ db, clock: platform.clock, executions: platform.executions })
    assert.deepEqual([...(await view.lastUseBy('a1'))].sort(), [
      ['u1', at(3)],
      ['u2', at(2)],
    ])
  })
})
