import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { LinkDown } from '../../ports/agent-link/port.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { historyStore } from '../history/index.ts'
import { linkWorkspace } from '../history/test/linked-workspace.ts'
import { volumesOf } from '../lifecycle/index.ts'
import { openAgents, until } from '../test/world.ts'

forEachDialect((dialect, open) => {
  /** An agent with a record of one file, and with what it wrote later. */
  async function openWorld() {
    const { alerts, raised, cleared } = createTestAlerts()
    const world = await openAgents(await open(), { alerts })
    const owner = await world.person('creator')
    await world.request(owner.key, 'POST', '/api/agents', { name: 'ada' })
    const agent = await world.row('ada')
    const workspace = linkWorkspace(world.link, agent.id)
    writeFileSync(join(workspace.home, 'notes'), 'recorded')
    workspace.wrote()
    const { record } = await world.area.history.make(agent.id, { reason: () => 'after_run' })
    const call = (method: string, path: string, body?: object, key = owner.key) =>
      world.request(key, method, `/api/agents/ada${path}`, body)
    const allow = (start_from_record: boolean) => call('PUT', '/history/settings', { start_from_record })
    const statusOf = async (id: string) => (await world.containers.inspect(id))?.status ?? null
    return {
      ...{ world, owner, agent, workspace, record, call, allow, statusOf, raised, cleared },
      container: agent.container_id ?? '',
      listed: async () => (await call('GET', '/former-workspaces')).json,
      async lose(container = agent.container_id ?? '') {
        await world.area.health.beat(agent.id, {})
        world.link.unlink(agent.id)
        world.engine.lose(container, 'Node n2 is not ready.')
        await until(async () => (await world.row('ada')).waiting?.state === 'lost', 'it is seen')
      },
      async startedElsewhere() {
        await world.clock.waitingFor(60)
        await world.clock.advance(60)
        await until(async () => (await world.row('ada')).status === 'running', 'it runs elsewhere')
        return world.row('ada')
      },
      async look() {
        const loop = world.area.loops.find(({ name }) => name === 'agents.restores')
        await loop?.run(new AbortController().signal)
      },
      mayRun: async () =>
        !(await world.db.atomically((tx) => world.area.runContexts.isClosedForRuns(tx, agent.id))),
      async [Symbol.asyncDispose]() {
        await world.area.history.restores.close()
        await workspace[Symbol.asyncDispose]()
        await world[Symbol.asyncDispose]()
      },
    }
  }

  test('an agent of a lost node continues from its latest record; its owner decides what stays', async () => {
    await using t = await openWorld()
    await t.allow(true)
    const oldKey = await t.world.agentKey(t.agent.id)
    await t.lose()
    const moved = await t.startedElsewhere()
    assert.notEqual(moved.volume_base, t.agent.volume_base)
    const [current] = (await t.world.containers.list()).filter(({ id }) => id === moved.container_id)
    assert.deepEqual(current?.volumes.toSorted(), Object.values(volumesOf(moved)).toSorted())
    assert.equal(await t.statusOf(t.container), 'lost')
    assert.notEqual(await t.world.agentKey(t.agent.id), oldKey)
    const refused = await t.world.request(oldKey, 'GET', '/api/agents/ada')
    assert.equal(refused.status, 401, 'the lost container can do nothing here')
    assert.ok(t.world.link.calls.some((call) => call.t === 'disconnect' && call.agentId === t.agent.id))
    assert.deepEqual(
      t.raised.map(({ kind, agentId }) => [kind, agentId]),
      [['workspace_replaced', t.agent.id]],
    )

    // The new workspace is filled before any run.
    const before = await t.listed()
    assert.deepEqual([before.filling.state, before.filling.record], ['waiting', t.record.id])
    assert.equal(await t.mayRun(), false)
    writeFileSync(join(t.workspace.home, 'notes'), 'from the image')
    t.workspace.wrote()
    t.workspace.connect()
    await until(async () => {
      t.world.area.linkConnected(t.agent.id)
      return (await t.listed()).filling === null
    }, 'the workspace is filled')
    assert.equal(readFileSync(join(t.workspace.home, 'notes'), 'utf8'), 'recorded')
    assert.equal(await t.mayRun(), true)

    const [former] = (await t.listed()).workspaces
    assert.deepEqual([former.record, former.available], [t.record.id, false])
    const use = () => t.call('POST', `/former-workspaces/${former.id}/use`)
    assert.equal((await use()).json.error, 'conflict')
    await t.call('POST', '/stop')
    const writing = await use()
    assert.match(writing.json.detail, /may still write/)

    // The node is back.
    t.world.engine.lose(t.container, null)
    await t.world.area.lifecycle.repair()
    assert.equal(await t.statusOf(t.container), null)
    const used = await use()
    assert.equal(used.status, 200, JSON.stringify(used.json))
    assert.deepEqual(t.cleared.at(-1), { agentId: t.agent.id, kind: 'workspace_replaced' })
    assert.equal((await t.world.row('ada')).volume_base, t.agent.volume_base)
    const [left] = used.json.workspaces
    assert.deepEqual([used.json.workspaces.length, left.record, left.available], [1, null, true])
    await t.call('POST', '/start')
    const back = await t.world.containers.inspect((await t.world.row('ada')).container_id ?? '')
    assert.ok(back?.volumes.includes(volumesOf(t.agent).workspace))

    const discarded = await t.call('DELETE', `/former-workspaces/${left.id}`)
    assert.deepEqual(discarded.json.workspaces, [])
    assert.deepEqual(t.cleared.at(-1), { agentId: t.agent.id, kind: 'workspace_replaced' })
    await t.world.area.lifecycle.repair()
    const volumes = await t.world.containers.listVolumes()
    assert.equal(volumes.includes(volumesOf(moved).workspace), false)
    assert.ok(volumes.includes(volumesOf(t.agent).workspace))
    assert.equal((await t.world.row('ada')).status, 'running', 'only the discarded one is removed')
    assert.equal(existsSync(join(t.workspace.home, 'notes')), true)
  })

  test('without leave, without a record or with the history off it waits for its node', async () => {
    for (const prepare of ['leave', 'record', 'history'] as const) {
      await using t = await openWorld()
      if (prepare !== 'leave') await t.allow(true)
      if (prepare === 'record') await historyStore(t.world.db).remove([t.record.id])
      if (prepare === 'history') await t.call('PUT', '/history/settings', { enabled: false })
      await t.lose()
      await t.world.clock.advance(3600)
      await t.world.area.lifecycle.repair()
      assert.deepEqual(
        (await t.world.containers.list()).map(({ id, status }) => [id, status]),
        [[t.container, 'lost']],
        prepare,
      )
      assert.equal((await t.world.row('ada')).volume_base, t.agent.volume_base)
    }
  })

  test('a workspace that cannot be filled gets no run, and is tried again', async () => {
    await using t = await openWorld()
    await t.allow(true)
    await t.lose()
    await t.startedElsewhere()
    await historyStore(t.world.db).remove([t.record.id])
    t.workspace.connect()
    t.world.area.linkConnected(t.agent.id)
    await until(async () => (await t.listed()).filling?.reason === 'record_removed', 'it is named')
    await t.look()
    const { filling } = await t.listed()
    assert.deepEqual([filling.state, filling.ended_at, await t.mayRun()], ['waiting', null, false])
    // The owner takes the former workspace instead.
    t.world.engine.lose(t.container, null)
    await t.world.area.lifecycle.repair()
    await t.call('POST', '/stop')
    const [former] = (await t.listed()).workspaces
    assert.equal((await t.call('POST', `/former-workspaces/${former.id}/use`)).status, 200)
    assert.equal((await t.listed()).filling, null)
  })

  test('a second lost node leaves the filling with its record, until the workspace has it', async () => {
    await using t = await openWorld()
    await t.allow(true)
    await t.lose()
    await t.startedElsewhere()
    // The link breaks while the empty workspace is compared.
    let isComparing = false
    await using empty = linkWorkspace(t.world.link, t.agent.id, {
      'history.restore.compare': async () => {
        isComparing = true
        t.world.link.unlink(t.agent.id)
        throw new LinkDown()
      },
    })
    t.world.area.linkConnected(t.agent.id)
    await until(async () => isComparing, 'it is compared')
    await until(async () => (await t.listed()).filling?.reason === 'agent_unresponsive', 'it waits')
    const records = await historyStore(t.world.db).list(t.agent.id, { before: null, limit: 10 })
    assert.deepEqual(
      records.map(({ id }) => id),
      [t.record.id],
      'the empty workspace is not recorded',
    )
    // Somebody records the empty workspace meanwhile.
    empty.connect()
    const { record: later } = await t.world.area.history.make(t.agent.id, { reason: () => 'demand' })
    assert.notEqual(later.id, t.record.id)
    await t.lose((await t.world.row('ada')).container_id ?? '')
    await t.startedElsewhere()
    const { filling } = await t.listed()
    assert.deepEqual([filling.record, filling.state], [t.record.id, 'waiting'])
    assert.equal(await t.mayRun(), false)
    await using third = linkWorkspace(t.world.link, t.agent.id)
    await until(async () => {
      t.world.area.linkConnected(t.agent.id)
      return (await t.listed()).filling === null
    }, 'the workspace is filled')
    assert.equal(readFileSync(join(third.home, 'notes'), 'utf8'), 'recorded')
    assert.equal(await t.mayRun(), true)
  })

  test('a former workspace that is discarded meanwhile cannot be used', async () => {
    await using t = await openWorld()
    await t.allow(true)
    await t.lose()
    await t.startedElsewhere()
    t.world.engine.lose(t.container, null)
    await t.world.area.lifecycle.repair()
    await t.call('POST', '/stop')
    const before = await t.world.row('ada')
    const { workspaces } = await t.listed()
    // As if another transaction had removed the row after it was read.
    const db = t.world.db.withTables<object>()
    await (dialect === 'sqlite'
      ? sql`create trigger removed before delete on agent_former_workspaces begin select raise(ignore); end`
      : sql`create rule removed as on delete to agent_former_workspaces do instead nothing`
    ).execute(db)
    const used = await t.call('POST', `/former-workspaces/${workspaces[0].id}/use`)
    assert.deepEqual([used.status, used.json.error], [404, 'not_found'])
    assert.equal((await t.world.row('ada')).volume_base, before.volume_base)
    const now = await t.listed()
    assert.deepEqual([now.workspaces, now.filling.state], [workspaces, 'waiting'])
  })

  test('a deleted agent leaves neither of its workspaces', async () => {
    await using t = await openWorld()
    await t.allow(true)
    await t.lose()
    await t.startedElsewhere()
    assert.equal((await t.call('DELETE', '')).status, 200)
    t.world.engine.lose(t.container, null)
    await t.world.area.lifecycle.repair()
    await t.world.assertNothingLeft()
  })

  test('only the owner and admins see and decide', async () => {
    await using t = await openWorld()
    const other = await t.world.person('creator')
    await t.call('POST', '/share', { email: other.email })
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/x/use'],
      ['DELETE', '/x'],
    ] as const) {
      assert.equal((await t.call(method, `/former-workspaces${path}`, undefined, other.key)).status, 403)
      const admin = await t.world.person('admin')
      const expected = method === 'GET' ? 200 : 404
      assert.equal((await t.call(method, `/former-workspaces${path}`, undefined, admin.key)).status, expected)
    }
    assert.equal((await t.allow(true)).json.can_lose_node, false, 'the engine of the tests is no cluster')
  })
})
