import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Run } from '@roost/contracts/link/runs'
import type { Db } from '../../ports/database/port.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { accept, agentFact, linked, resultOf, startRunPlatform } from '../../test/run-platform.ts'

forEachDialect((_, open) => {
  async function start({ slots }: { slots: number }) {
    const db = await open()
    let transactions = 0
    const counted: Db = {
      ...db,
      atomically(work) {
        transactions += 1
        return db.atomically(work)
      },
      atomicallyShared(sharing, work) {
        transactions += 1
        return db.atomicallyShared(sharing, work)
      },
    }
    const platform = await startRunPlatform({ db: counted })
    platform.agents.set('a1', agentFact({ effective_slots: slots }))
    const { handlers } = platform.dispatch
    return {
      platform,
      transactions: () => transactions,
      claim: async (free: number) => (await handlers.claim(linked, { t: 'claim', free })).runs,
      result: (run: Run) => handlers.result(linked, resultOf(run)),
      spawn: (run: Run, claim_token = run.claim_token) =>
        handlers.started(linked, { t: 'started', execution_id: run.execution_id, claim_token, pid: 1 }),
    }
  }

  test('a claim right after a result gets the freed slot in the same transaction', async () => {
    const { platform, claim, result, transactions } = await start({ slots: 1 })
    await accept(platform)
    const second = await accept(platform)
    const [first] = await claim(1)
    const before = transactions()
    const [answer, runs] = await Promise.all([result(first ?? assert.fail()), claim(1)])
    assert.deepEqual(answer, { accepted: true })
    assert.deepEqual(
      runs.map((run) => run.execution_id),
      [second.id],
    )
    assert.equal(transactions() - before, 1)
  })

  test('an agent whose skills are being delivered gets no runs; they stay queued', async () => {
    const { platform, claim } = await start({ slots: 1 })
    const { id } = await accept(platform)
    platform.awaitsSkills.add('a1')
    assert.deepEqual(await claim(1), [])
    platform.awaitsSkills.delete('a1')
    assert.deepEqual(
      (await claim(1)).map((run) => run.execution_id),
      [id],
    )
  })

  test('the last of several concurrent results answers the claim and fills all their slots', async () => {
    const { platform, claim, result } = await start({ slots: 3 })
    for (let count = 0; count < 6; count += 1) await accept(platform)
    const runs = await claim(3)
    const [next] = await Promise.all([claim(3), ...runs.map(result)])
    const later = await claim(3)
    assert.equal(next.length + later.length, 3)
  })

  test('many concurrent results and claims: each run once, in order, within the slots', async () => {
    const { platform, claim, result } = await start({ slots: 3 })
    const accepted: string[] = []
    for (let count = 0; count < 40; count += 1) accepted.push((await accept(platform)).id)
    const handed: string[] = []
    let [held, most] = [0, 0]
    const take = async () => {
      for (const run of await claim(3 - held)) {
        handed.push(run.execution_id)
        held += 1
        most = Math.max(most, held)
        void end(run)
      }
    }
    const all = Promise.withResolvers<void>()
    const end = async (run: Run) => {
      held -= 1
      const response = result(run)
      const claimed = take()
      assert.deepEqual(await response, { accepted: true })
      await claimed
      if (handed.length === accepted.length) all.resolve()
      else if (held === 0) await take()
    }
    await take()
    await all.promise
    assert.deepEqual(handed, accepted)
    assert.ok(most <= 3)
  })

  test('an error in the next run does not lose the previous result', async () => {
    const { platform, claim, result } = await start({ slots: 1 })
    const before = await accept(platform)
    await accept(platform, { kind: 'chat', sessionId: 's1' })
    const [first] = await claim(1)
    platform.hooks.onTurn(async () => {
      throw new Error('the conversation cannot be read')
    })
    const [ended, claimed] = await Promise.allSettled([result(first ?? assert.fail()), claim(1)])
    assert.equal(ended.status, 'fulfilled')
    assert.equal(claimed.status, 'rejected')
    assert.equal((await platform.row(before.id)).status, 'success')
  })

  test('concurrent spawn reports are each answered, and void claims are rejected', async () => {
    const { platform, claim, spawn } = await start({ slots: 3 })
    for (let count = 0; count < 3; count += 1) await accept(platform)
    const [one, two, three] = await claim(3)
    if (!one || !two || !three) assert.fail()
    const answers = await Promise.all([spawn(one), spawn(two), spawn(three, 1_000), spawn(one)])
    assert.deepEqual(answers, [{ ok: true }, { ok: true }, { stale: true }, { ok: true }])
    assert.equal((await platform.row(three.execution_id)).spawned_at, null)
  })
})
