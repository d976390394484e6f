import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../../kit/fault.ts'
import { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { accept, linked, person } from '../../test/run-platform.ts'
import { queueStore } from '../executions/index.ts'
import { sourceOf } from './index.ts'
import { createAgentEnd } from './service.ts'
import { claim, claimOne, hello, hold, line, start as startOn } from './test/dispatch-world.ts'

forEachDialect((_, open) => {
  const start = (options: Parameters<typeof startOn>[1] = {}) => startOn(open, options)

  test('hello: held runs continue after their last line, others are dropped, spawned ones are marked', async () => {
    const { platform, on, clock } = await start()
    await accept(platform)
    await accept(platform)
    const [stored, cancelled] = await claim(platform)
    assert.ok(stored && cancelled)
    await on.lines(linked, { t: 'lines', ...hold(stored), from: 1, lines: [line('a'), line('b')] })
    const reader = { caller: person({ role: 'admin' }), agentId: 'a1', relation: 'admin' as const }
    await platform.executions.terminate(reader, cancelled.execution_id)
    await clock.advance(300)
    const answer = await on.hello(
      linked,
      hello([
        { ...hold(stored), state: 'spawned', last_line: 9 },
        { ...hold(cancelled), state: 'spawned', last_line: 3 },
        { execution_id: 'unknown', claim_token: 1, state: 'accepted', last_line: 0 },
      ]),
    )
    assert.deepEqual(answer.acked, { [stored.execution_id]: 2 })
    assert.deepEqual(answer.drop, [cancelled.execution_id, 'unknown'])
    const row = await platform.row(stored.execution_id)
    assert.equal(row.spawned_at, clock.now().toISOString())
    assert.ok((row.lease_expires_at ?? '') > clock.now().toISOString(), 'the lease is renewed')
  })

  test('hello without a run: it is queued again if it was never spawned, else lost', async () => {
    const { platform, on } = await start({ slots: 2 })
    const parked = await accept(platform)
    const spawned = await accept(platform)
    const later = await accept(platform)
    const [first, second] = await claim(platform)
    assert.ok(first && second)
    await on.started(linked, { t: 'started', ...hold(second), pid: 1 })
    const answer = await on.hello(linked, hello())
    assert.deepEqual([answer.acked, answer.drop], [{}, []])
    assert.equal((await platform.row(parked.id)).status, 'queued')
    const lost = await platform.row(spawned.id)
    assert.deepEqual([lost.status, lost.error_code], ['failed', 'agent_lost'])
    const again = await claim(platform)
    assert.deepEqual(
      again.map((run) => run.execution_id),
      [parked.id, later.id],
    )
    assert.ok((again[0]?.claim_token ?? 0) > first.claim_token, 'the claim token has grown')
    assert.deepEqual(await on.started(linked, { t: 'started', ...hold(first), pid: 2 }), { stale: true })
  })

  test('hello with another protocol version is rejected', async () => {
    const { on } = await start()
    await assert.rejects(on.hello(linked, { ...hello(), protocol: 2 }), /protocol 1/)
  })

  test('stopping an agent cancels running runs only; deleting it cancels queued ones too', async () => {
    const { platform, db } = await start({ slots: 1 })
    const running = await accept(platform)
    const waiting = await accept(platform)
    await claimOne(platform)
    await db.atomically((tx) => platform.dispatch.agentStopped(tx, 'a1'))
    assert.deepEqual(
      [(await platform.row(running.id)).error_code, (await platform.row(waiting.id)).status],
      ['agent_stopped', 'queued'],
    )
    await db.atomically((tx) => platform.dispatch.agentDeleted(tx, 'a1'))
    const deleted = await platform.row(waiting.id)
    assert.deepEqual(
      [deleted.status, deleted.error_code, deleted.agent_deleted],
      ['cancelled', 'agent_deleted', 1],
    )
  })

  test('a run that waits for the deletion of its agent is refused', async () => {
    const { platform, db } = await start()
    const agent = await platform.dispatch.checkAgent('a1')
    await db.atomically((tx) => platform.dispatch.agentDeleted(tx, 'a1'))
    platform.agents.delete('a1')
    const source = sourceOf(person(), null)
    const request = { agentId: 'a1', kind: 'task', triggeredBy: 'manual', message: 'late', source } as const
    await assert.rejects(
      platform.dispatch.transaction((tx) => platform.dispatch.enqueue(tx, agent, request)),
      (error) => error instanceof Fault && error.code === 'agent_not_found',
    )
  })

  test('a run that is claimed while its access ends is cancelled, too', async () => {
    const { platform, db } = await start()
    const source = { ...sourceOf(person(), null), principal: 'user:p' }
    const { id } = await accept(platform, { source })
    const { settle } = platform.executions
    const { accessEnded } = createAgentEnd({
      link: createFakeAgentLink(),
      async settle(tx, row, ...rest) {
        if (row.status === 'queued') {
          const at = new Date().toISOString()
          await queueStore(tx).claim([id], { token: 1, at, leaseExpiresAt: at })
        }
        return settle(tx, row, ...rest)
      },
    })
    await db.atomically((tx) =>
      accessEnded(tx, {
        agent: { id: 'a1', name: 'scout' },
        isOf: (principal) => principal === 'user:p',
        reason: 'No longer shared.',
        now: new Date(),
      }),
    )
    const { status, error_code } = await platform.row(id)
    assert.deepEqual([status, error_code], ['cancelled', 'access_ended'])
  })

  test('queued runs are not claimed after a stop request, even with a stale cache', async () => {
    const { platform } = await start({ slots: 1 })
    const waiting = await accept(platform)
    platform.stopRequested.add('a1')
    assert.deepEqual(await claim(platform, 1), [])
    assert.equal((await platform.row(waiting.id)).status, 'queued')
    platform.stopRequested.delete('a1')
    await claimOne(platform)
  })
})
