import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OciRuntimes } from '../../ports/containers/port.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { createShared, openAgents } from '../test/world.ts'

const engineRuntimes: OciRuntimes = { listed: ['kata', 'runc', 'runsc', 'special'], default: 'runc' }

forEachDialect((_name, open) => {
  /** A world with one agent; `used` has the runtime of each container that started. */
  async function withAgent(options: { containerRuntime?: string; runtimes?: OciRuntimes } = {}) {
    const used: (string | undefined)[] = []
    const shared = createShared({
      runtimes: options.runtimes ?? engineRuntimes,
      program(spec) {
        used.push(spec.runtime)
        return { output: [] }
      },
    })
    const world = await openAgents(await open(), { shared, ...options })
    const admin = await world.person('admin')
    const owner = await world.person()
    await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
    const path = '/api/agents/helper/isolation'
    return {
      ...{ world, admin, owner, used },
      get: async () => (await world.request(owner.key, 'GET', path)).json,
      put: (runtime: unknown, key = admin.key) => world.request(key, 'PUT', path, { runtime }),
      details: async () => (await world.request(owner.key, 'GET', '/api/agents/helper')).json,
      restart: async () => {
        await world.request(owner.key, 'POST', '/api/agents/helper/stop')
        return (await world.request(owner.key, 'POST', '/api/agents/helper/start')).json
      },
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    }
  }

  test('an admin sets the OCI runtime, which the next container uses; null restores the default', async () => {
    await using agent = await withAgent()
    const changed = await agent.put('runsc')
    assert.deepEqual(
      [changed.status, changed.json],
      [
        200,
        {
          agent_name: 'helper',
          runtime: 'runsc',
          effective_runtime: 'runsc',
          current_runtime: 'runc',
          installation_runtime: 'runc',
          available_runtimes: ['kata', 'runc', 'runsc', 'special'],
          restart_needed: true,
        },
      ],
    )
    assert.deepEqual(await agent.world.lastEvent('agent.settings_changed'), { setting: 'isolation' })
    assert.equal((await agent.details()).isolation.runtime, 'runc')
    assert.equal((await agent.restart()).recreate_reason, 'isolation')
    assert.equal((await agent.details()).isolation.runtime, 'runsc')
    assert.equal((await agent.get()).restart_needed, false)
    await agent.put(null)
    await agent.restart()
    assert.deepEqual(agent.used, [undefined, 'runsc', undefined])
  })

  test('403 for the owner, 404 for an unknown agent', async () => {
    await using agent = await withAgent()
    const refused = await agent.put('runsc', agent.owner.key)
    assert.deepEqual([refused.status, refused.json.error], [403, 'admin_required'])
    const body = { runtime: 'runsc' }
    const missing = await agent.world.request(agent.admin.key, 'PUT', '/api/agents/nobody/isolation', body)
    assert.equal(missing.status, 404)
  })

  test('422 for a runtime that the engine does not list, with the field and the listed ones', async () => {
    await using agent = await withAgent()
    const { status, json } = await agent.put('youki')
    assert.deepEqual([status, json.detail[0].loc], [422, ['body', 'runtime']])
    assert.match(json.detail[0].msg, /lists: kata, runc, runsc, special$/)
    for (const bad of ['', '../runc', 'a b', 1, undefined]) assert.equal((await agent.put(bad)).status, 422)
    assert.equal((await agent.get()).runtime, null)
  })

  test('an engine without runtimes, such as the sandbox, accepts only null', async () => {
    await using agent = await withAgent({ runtimes: { listed: [], default: null } })
    const { status, json } = await agent.put('runc')
    assert.deepEqual([status, json.detail[0].msg], [422, 'must be null: this engine has no OCI runtimes'])
    assert.equal((await agent.put(null)).status, 200)
    const { effective_runtime, current_runtime, available_runtimes } = await agent.get()
    assert.deepEqual([effective_runtime, current_runtime, available_runtimes], [null, null, []])
    assert.equal((await agent.restart()).recreated, false)
  })

  test('an agent cannot be weaker than the installation, whatever is stored', async () => {
    await using agent = await withAgent({ containerRuntime: 'runsc' })
    assert.deepEqual((await agent.get()).available_runtimes, ['kata', 'runsc'])
    for (const weaker of ['runc', 'special']) {
      const { status, json } = await agent.put(weaker)
      assert.deepEqual([status, json.detail[0].loc], [422, ['body', 'runtime']])
      assert.match(json.detail[0].msg, /weaker than runsc.*allowed: kata, runsc$/)
    }
    assert.equal((await agent.put('kata')).status, 200)
    // As stored before the installation set its runtime.
    await agent.world.area.settings.change(await agent.world.row('helper'), 'isolation', {
      container_runtime: 'runc',
    })
    assert.equal((await agent.get()).effective_runtime, 'runsc')
    await agent.world.request(agent.owner.key, 'POST', '/api/agents/helper/restart')
    assert.deepEqual(new Set(agent.used), new Set(['runsc']))
  })

  test('an agent whose runtime the engine no longer lists does not start with another one', async () => {
    const listed = [...engineRuntimes.listed]
    await using agent = await withAgent({ runtimes: { ...engineRuntimes, listed } })
    await agent.put('runsc')
    await agent.world.request(agent.owner.key, 'POST', '/api/agents/helper/stop')
    listed.splice(listed.indexOf('runsc'), 1)
    const refused = await agent.world.request(agent.owner.key, 'POST', '/api/agents/helper/start')
    assert.equal(refused.json.error, 'container_engine_error')
    assert.match(refused.json.detail, /does not list the agent's OCI runtime/)
    assert.deepEqual(agent.used, [undefined])
  })
})
