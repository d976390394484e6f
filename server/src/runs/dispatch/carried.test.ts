import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { accept, agentFact, linked, person, startRunPlatform } from '../../test/run-platform.ts'
import { queueStore } from '../executions/index.ts'
import { sourceOf } from './request.ts'

forEachDialect((_, open) => {
  async function startCarried() {
    const platform = await startRunPlatform({ db: await open() })
    platform.agents.set('a1', agentFact({ effective_slots: 1 }))
    const row = await platform.db.atomically((tx) =>
      platform.dispatch.recordRunning(tx, agentFact(), {
        agentId: 'a1',
        kind: 'task',
        triggeredBy: 'voip',
        message: 'Call to +15550100',
        source: sourceOf(person(), null),
      }),
    )
    return { platform, row }
  }

  test('a run carried by the platform is running and takes no slot of the agent', async () => {
    const { platform, row } = await startCarried()
    assert.deepEqual([row.status, row.claim_token, row.lease_expires_at], ['running', null, null])
    const { id } = await accept(platform)
    const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 3 })
    assert.deepEqual(
      runs.map(({ execution_id }) => execution_id),
      [id],
    )
    assert.deepEqual(
      (await queueStore(platform.db).runningOf('a1')).map((each) => each.id),
      [id],
    )
    assert.equal((await platform.row(row.id)).status, 'running')
  })

  test('terminate ends a carried run immediately, without a call to the agent', async () => {
    const { platform, row } = await startCarried()
    const reader = { caller: person({ role: 'admin' }), agentId: 'a1', relation: 'admin' as const }
    assert.deepEqual(await platform.executions.terminate(reader, row.id), {
      status: 'terminated',
      execution_id: row.id,
    })
    const ended = await platform.row(row.id)
    assert.deepEqual([ended.status, ended.error_code], ['cancelled', 'user_cancelled'])
  })
})
