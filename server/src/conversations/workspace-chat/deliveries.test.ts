import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { insertRuns } from '../../test/run-rows.ts'
import { type Loose, openWorkspaceWorld } from './test/world.ts'

const sam = 'sam@example.org'
const contents = (history: Loose) => history.messages.map(({ content, source }: Loose) => [content, source])

forEachDialect((_name, open) => {
  test('one message for each fire, even if delivered repeatedly; it can be rated', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const [run] = await insertRuns(world.db, [{ id: 'x1', agent_id: world.agentId }])
    const results = await Promise.all(
      Array.from({ length: 20 }, () => world.deliver({ executionId: run?.id })),
    )
    assert.ok(results.every(({ status }) => status !== 'failed'))
    const token = await world.signIn(sam)
    const history = await world.history(token)
    assert.deepEqual(contents(history), [['the report', 'schedule']])
    const target = { target_kind: 'message', target_id: history.messages[0].id, rating: 'down' }
    assert.equal((await world.request(token, 'POST', '/agents/scout/ratings', target)).status, 200)
    const { delivery } = await world.runs.row('x1')
    assert.deepEqual(JSON.parse(delivery ?? 'null'), {
      email: sam,
      status: 'delivered',
      message_id: history.messages[0].id,
    })
  })

  test('a delivery is deleted with its run; its message stays', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    await insertRuns(world.db, [{ id: 'x1', agent_id: world.agentId }])
    await world.deliver({ executionId: 'x1' })
    await world.db.atomically(async (tx) => {
      for (const hook of world.runs.hooks.registered.removing) await hook(tx, ['x1'])
    })
    const rows = await world.db
      .withTables<{ workspace_deliveries: Loose }>()
      .selectFrom('workspace_deliveries')
      .selectAll()
      .execute()
    assert.deepEqual(rows, [])
    assert.deepEqual(contents(await world.history(await world.signIn(sam))), [['the report', 'schedule']])
  })

  test('a delivery waits for the turn in progress and follows its answer', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const reply = world.request(token, 'POST', '/agents/scout/chat', { message: 'hi' })
    await world.waiting()
    const run = await world.claim()
    assert.equal((await world.deliver()).status, 'pending')
    await world.finish(run)
    await reply
    assert.deepEqual(contents(await world.history(token)), [
      ['hi', 'text'],
      ['hello', 'text'],
      ['the report', 'schedule'],
    ])
  })

  test('a delivery waits at most two minutes', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const reply = world.request(token, 'POST', '/agents/scout/chat', { message: 'hi' })
    await world.waiting()
    const run = await world.claim()
    await world.deliver()
    const flush = world.workspace.loops.find(({ name }) => name === 'workspace.deliveries')
    await world.clock.advance(119)
    await flush?.run(AbortSignal.any([]))
    assert.equal((await world.history(token)).messages.length, 1)
    await world.clock.advance(2)
    await Promise.all([flush?.run(AbortSignal.any([])), flush?.run(AbortSignal.any([]))])
    assert.deepEqual(contents(await world.history(token)).at(-1), ['the report', 'schedule'])
    await world.finish(run)
    await reply
    assert.equal((await world.history(token)).messages.length, 3)
  })

  test('recipient_unreachable for an address without access, immediately or after the turn; the owner has access', async () => {
    await using world = await openWorkspaceWorld(open)
    await insertRuns(world.db, [{ id: 'x1', agent_id: world.agentId }])
    assert.deepEqual(await world.deliver(), {
      status: 'failed',
      message_id: null,
      error: 'recipient_unreachable',
    })
    assert.match((await world.runs.row('x1')).delivery ?? '', /recipient_unreachable/)
    await world.share(sam)
    const token = await world.signIn(sam)
    const reply = world.request(token, 'POST', '/agents/scout/chat', { message: 'hi' })
    await world.waiting()
    const run = await world.claim()
    assert.equal((await world.deliver()).status, 'pending')
    await world.unshare(sam)
    await world.finish(run)
    await reply
    assert.match((await world.runs.row('x1')).delivery ?? '', /"failed".*recipient_unreachable/)
    const owners = await world.deliver({ to: { email: 'ANN@example.org' }, key: 'fire-2' })
    assert.equal(owners.status, 'delivered')
    const owner = await world.session(world.owner.id)
    assert.deepEqual(contents(await world.history(owner)), [['the report', 'schedule']])
  })
})
