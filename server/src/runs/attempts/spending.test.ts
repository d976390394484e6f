import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAgentsPlatform } from '../../test/agents-platform.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { accept } from '../../test/run-platform.ts'
import { executionStore } from '../executions/index.ts'
import { type AttemptRow, attemptStore, type SetRow } from './store.ts'

const usage = {
  ...{ requests: 1, input_tokens: 0, output_tokens: 0, cache_creation_tokens: 0, cache_read_tokens: 0 },
  ...{ context_used: 0, context_max: 0, model: null, is_cost_estimated: false },
}
const at = '2026-01-05T08:00:00.000Z'

forEachDialect((_, open) => {
  /** `a1` is a fork of `src`; another fork of the set has been removed. */
  async function start({ maxUsd, removedUsd }: { maxUsd: number; removedUsd: number }) {
    const agents = { src: { name: 'src' }, other: { name: 'other' } }
    const platform = await startAgentsPlatform({ db: await open() }, agents)
    const set: SetRow = {
      ...{ id: 's1', agent_id: 'src', status: 'working', message: null, max_cost_micros: maxUsd * 1_000_000 },
      ...{ check_command: null, check_seconds: null, pick: 'manual', run_options: '{}', source: '{}' },
      ...{ base_record_id: null, kept_number: null, restore_id: null, created_by: null },
      ...{ created_at: at, updated_at: at, done_at: null, ended_at: null },
    }
    const attempt = (number: number, over: Partial<AttemptRow>): AttemptRow => ({
      ...{ set_id: 's1', number, status: 'running', runtime: null, model: null, message: 'x' },
      ...{ agent_name: null, agent_id: null, execution_id: null, record_id: null, changes: null },
      ...{ error: null, check_result: null, cost_micros: null, cost_estimated: 0, updated_at: at },
      ...over,
    })
    const removed = { status: 'done' as const, agent_id: 'gone', cost_micros: removedUsd * 1_000_000 }
    await attemptStore(platform.db).insert(set, [attempt(1, { agent_id: 'a1' }), attempt(2, removed)])
    const { id } = await accept(platform)
    return {
      platform,
      spend: (usd: number) =>
        executionStore(platform.db).addUsage(id, { ...usage, cost_micros: usd * 1_000_000 }),
      refusal: (agentId = 'a1') => platform.spendCaps.refusal({ agentId, executionId: id }),
    }
  }

  test('the cap of a set counts the runs of all its forks, also of removed ones', async () => {
    const t = await start({ maxUsd: 1, removedUsd: 0.6 })
    assert.equal(await t.refusal(), null)
    await t.spend(0.3)
    assert.equal(await t.refusal(), null)
    await t.spend(0.1)
    assert.match((await t.refusal()) ?? '', /reached their cost cap together: 1 of 1 USD/)
    assert.equal(await t.refusal('other'), null)
  })

  test('the daily cap of the source counts its forks, and limits them', async () => {
    const t = await start({ maxUsd: 100, removedUsd: 0 })
    const source = { id: 'src', name: 'src' }
    await t.platform.spendCaps.change(source, { daily_usd: 2 })
    await t.spend(1.5)
    assert.equal((await t.platform.spendCaps.view(source)).spent_today_usd, 1.5)
    assert.equal(await t.refusal(), null)
    await t.spend(0.5)
    assert.match((await t.refusal()) ?? '', /daily spend cap: 2 of 2 USD/)
    assert.match((await t.refusal('src')) ?? '', /daily spend cap/)
    const [daily] = await t.platform.spendCaps.daily([source])
    assert.equal(daily?.spent_today_usd, 2)
  })
})
