import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentSettings } from '@roost/contracts/link/messages'
import { LinkDown, LinkTimeout } from '../../ports/agent-link/port.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { type AgentsWorld, openAgents, until } from '../test/world.ts'

async function withAgent(world: AgentsWorld) {
  const owner = await world.person()
  const reply = await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  assert.equal(reply.status, 200, JSON.stringify(reply.json))
  const agent = await world.row('helper')
  const get = async (path: string) =>
    (await world.request(owner.key, 'GET', `/api/agents/helper/${path}`)).json
  const put = (path: string, body: object) =>
    world.request(owner.key, 'PUT', `/api/agents/helper/${path}`, body)
  return { owner, agent, get, put }
}

forEachDialect((_name, open) => {
  test('autonomy, operator-resume and mcp-exposed can be switched; each change stores an event', async () => {
    await using world = await openAgents(await open(), {
      needs: { schedulesOf: async () => [{ id: 's', name: 'daily', enabled: true }] },
    })
    const { get, put } = await withAgent(world)
    assert.equal((await get('autonomy')).enabled, true)
    const autonomy = (await put('autonomy', { enabled: false })).json
    assert.deepEqual(
      [autonomy.autonomy_enabled, autonomy.total_schedules, autonomy.enabled_schedules],
      [false, 1, 1],
    )
    assert.equal((await put('operator-resume', { enabled: true })).json.enabled, true)
    assert.equal((await get('operator-resume')).enabled, true)
    const exposed = (await put('mcp-exposed', { enabled: true })).json
    assert.deepEqual([exposed.enabled, exposed.tool_name], [true, 'chat_with_helper'])
    assert.deepEqual(await world.lastEvent('agent.settings_changed'), { setting: 'mcp-exposed' })
    assert.equal((await put('autonomy', { enabled: 'yes' })).status, 422)
  })

  test('timeout: its range, and 400 if active schedules need more', async () => {
    await using world = await openAgents(await open(), {
      needs: {
        schedulesAbove: async (_tx, _id, seconds) =>
          seconds < 900 ? [{ id: 's', name: 'long', timeout_seconds: 900 }] : [],
      },
    })
    const { get, put } = await withAgent(world)
    assert.deepEqual((await get('timeout')).execution_timeout_minutes, 60)
    assert.equal((await put('timeout', { execution_timeout_seconds: 7200 })).status, 200)
    for (const bad of [59, 7201, 60.5, '60', null]) {
      assert.equal((await put('timeout', { execution_timeout_seconds: bad })).status, 422)
    }
    const refused = await put('timeout', { execution_timeout_seconds: 600 })
    assert.equal(refused.status, 400)
    assert.deepEqual(
      [refused.json.error, refused.json.max_schedule_timeout_seconds, refused.json.blocking_schedules.length],
      ['agent_timeout_below_active_schedules', 900, 1],
    )
    assert.equal((await get('timeout')).execution_timeout_seconds, 7200)
  })

  test('capacity: up to the ceiling; a lowered ceiling clamps but keeps the stored value', async () => {
    const slot = { execution_id: 'e', started_at: 'now', message_preview: 'm', duration_seconds: 1 }
    await using world = await openAgents(await open(), {
      needs: { slotsOf: async () => ({ active: [slot, slot], queued: 4 }) },
    })
    const { get, put } = await withAgent(world)
    assert.equal((await put('capacity', { max_parallel_tasks: 8 })).json.effective_max_parallel_tasks, 8)
    assert.equal((await put('capacity', { max_parallel_tasks: 11 })).status, 422)
    assert.equal((await put('capacity', { max_parallel_tasks: 0 })).status, 422)
    world.platform.ceiling = 1
    const capacity = await get('capacity')
    assert.deepEqual(
      [capacity.max_parallel_tasks, capacity.effective_max_parallel_tasks, capacity.available_slots],
      [8, 1, 0],
    )
    assert.deepEqual([capacity.active_slots, capacity.queued], [2, 4])
  })

  test("resources and capabilities show the container's values and whether a restart is needed", async () => {
    await using world = await openAgents(await open())
    const { get, put } = await withAgent(world)
    const changed = (await put('resources', { memory: '8g' })).json
    assert.deepEqual(
      [changed.cpu, changed.memory, changed.current_memory, changed.restart_needed],
      ['2', '8g', '4g', true],
    )
    assert.equal((await put('resources', { memory: '4g' })).json.restart_needed, false)
    for (const bad of [
      {},
      { cpu: 2 },
      { cpu: '3' },
      { memory: '33g' },
      { memory: '0g' },
      { memory: '1.5g' },
    ]) {
      assert.equal((await put('resources', bad)).status, 422, JSON.stringify(bad))
    }
    assert.equal((await put('capabilities', { full_capabilities: true })).json.restart_needed, true)
    assert.equal((await get('capabilities')).current_full_capabilities, false)
    assert.equal((await put('runtime', { runtime: 'codex' })).status, 422)
  })

  test('model: the rule, its source, null clears', async () => {
    await using world = await openAgents(await open())
    const { get, put } = await withAgent(world)
    world.platform.model = 'sonnet'
    assert.deepEqual(
      [(await get('model')).resolved_model, (await get('model')).source],
      ['sonnet', 'platform'],
    )
    assert.deepEqual((await put('model', { model: ' opus[1m] ' })).json.resolved_model, 'opus[1m]')
    const refused = await put('model', { model: 'llama' })
    assert.deepEqual(
      [refused.status, refused.json.error, refused.json.value],
      [422, 'invalid_model', 'llama'],
    )
    assert.equal((await put('model', { modle: 'haiku' })).status, 422)
    assert.equal((await get('model')).model, 'opus[1m]')
    assert.equal((await put('model', { model: null })).json.source, 'platform')
  })

  test('instructions: the owner can read and write them; blank clears; at most 32 KiB', async () => {
    await using world = await openAgents(await open())
    const { get, put } = await withAgent(world)
    assert.equal((await put('instructions', { custom_instructions: 'be kind' })).status, 200)
    assert.equal((await get('instructions')).custom_instructions, 'be kind')
    assert.equal((await put('instructions', { custom_instructions: ' ' })).json.custom_instructions, null)
    assert.equal((await put('instructions', { custom_instructions: 'é'.repeat(16_385) })).status, 422)
    assert.equal((await put('instructions', { custom_instructions: 'é'.repeat(16_384) })).status, 200)
  })

  test('read-only: default patterns; a connected agent gets changes now, others at the next start', async () => {
    await using world = await openAgents(await open())
    const { get, put, agent } = await withAgent(world)
    assert.ok((await get('read-only')).config.blocked_patterns.includes('*.py'))
    assert.equal((await put('read-only', { enabled: true })).json.applied, 'next_start')
    const received: AgentSettings[] = []
    world.link.link(agent.id, {
      settings: ({ settings }) => {
        received.push(settings)
        return { ok: true }
      },
    })
    const changed = await put('read-only', { enabled: true, config: { allowed_patterns: ['out/**'] } })
    assert.equal(changed.json.applied, 'now')
    assert.deepEqual(changed.json.config.allowed_patterns, ['out/**'])
    assert.ok(changed.json.config.blocked_patterns.includes('*.py'))
    assert.equal(received[0]?.read_only.enabled, true)
    assert.deepEqual(received[0]?.read_only.allowed_patterns, ['out/**'])
    world.link.link(agent.id, {
      settings: () => {
        throw new LinkTimeout()
      },
    })
    assert.equal((await put('read-only', { enabled: false })).json.applied, 'next_start')
    assert.equal((await world.area.settings.forLink(await world.row('helper'))).read_only.enabled, false)
  })

  test('the settings for the link: name, limit, model', async () => {
    await using world = await openAgents(await open())
    const { put, agent } = await withAgent(world)
    await put('capacity', { max_parallel_tasks: 7 })
    await put('model', { model: 'haiku' })
    world.platform.ceiling = 5
    const { agent_name, parallel_limit, model, stall_seconds } = await world.area.settings.forLink(
      await world.row('helper'),
    )
    assert.deepEqual([agent_name, parallel_limit, model, stall_seconds], ['helper', 5, 'haiku', 900])
    const context = await world.area.runContexts.find(agent.id)
    assert.deepEqual([context?.effective_slots, context?.model, context?.status], [5, 'haiku', 'running'])
    assert.equal(await world.area.runContexts.find('nobody'), null)
  })

  test('SSH: a key pair is created, shown once and sent to the agent; it is removed when it expires', async () => {
    await using world = await openAgents(await open())
    const { owner, agent } = await withAgent(world)
    const sent: string[][] = []
    const answers = {
      'ssh.keys': ({ keys }: { keys: string[] }) => {
        sent.push(keys)
        return { ok: true as const, host_keys: ['ssh-ed25519 AAAA'] }
      },
    }
    world.link.link(agent.id, answers)
    const grant = (body?: object) => world.request(owner.key, 'POST', '/api/agents/helper/ssh-access', body)
    const reply = await grant()
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    assert.match(reply.json.private_key, /^-----BEGIN OPENSSH PRIVATE KEY-----/)
    assert.deepEqual(reply.json.connection.port, agent.port)
    assert.equal(reply.json.expires_in_hours, 4)
    assert.deepEqual(reply.json.host_keys, ['ssh-ed25519 AAAA'])
    assert.match(sent[0]?.[0] ?? '', /^ssh-ed25519 \S+ roost-helper$/)

    const own = sent[0]?.[0] ?? ''
    const second = await grant({ ttl_hours: 0.1, public_key: own })
    assert.equal('private_key' in second.json, false)
    assert.equal(sent[1]?.length, 2)
    for (const bad of [{ ttl_hours: 25 }, { ttl_hours: 0 }, { public_key: 'ssh-ed25519 x' }]) {
      assert.equal((await grant(bad)).status, 422, JSON.stringify(bad))
    }

    const expiry = world.area.loops.find((loop) => loop.name === 'agents.ssh-expiry')
    await world.clock.advance(361)
    await expiry?.run(AbortSignal.timeout(10_000))
    assert.equal(sent.at(-1)?.length, 1)
    world.link.unlink(agent.id)
    await world.clock.advance(4 * 3600)
    await expiry?.run(AbortSignal.timeout(10_000))
    world.link.link(agent.id, answers)
    world.area.linkConnected(agent.id)
    await until(() => sent.at(-1)?.length === 0, 'the last key to be removed')
  })

  test('SSH: 403 ssh_disabled, 409 agent_stopped, 409 without a port, 504 leaves no key', async () => {
    await using world = await openAgents(await open(), { sshPorts: { first: 2222, last: 2222 } })
    const { owner, agent } = await withAgent(world)
    await world.request(owner.key, 'POST', '/api/agents', { name: 'portless' })
    const grant = (name: string) => world.request(owner.key, 'POST', `/api/agents/${name}/ssh-access`, {})
    assert.deepEqual((await grant('portless')).json.error, 'conflict')
    let refuses = true
    const sent: string[][] = []
    world.link.link(agent.id, {
      'ssh.keys': ({ keys }) => {
        if (refuses) throw new LinkDown()
        sent.push(keys)
        return { ok: true }
      },
    })
    const silent = await grant('helper')
    assert.deepEqual([silent.status, silent.json.error], [504, 'agent_unresponsive'])
    refuses = false
    const granted = await grant('helper')
    assert.deepEqual([granted.status, granted.json.host_keys], [200, []], 'an earlier agent program has none')
    assert.equal(sent[0]?.length, 1, 'the key of the failed attempt is not sent')
    await world.request(owner.key, 'POST', '/api/agents/helper/stop')
    assert.deepEqual((await grant('helper')).json.error, 'agent_stopped')
  })

  test('SSH: 403 ssh_disabled when switched off in the platform settings', async () => {
    await using world = await openAgents(await open(), { sshEnabled: false })
    const { owner } = await withAgent(world)
    const reply = await world.request(owner.key, 'POST', '/api/agents/helper/ssh-access', {})
    assert.deepEqual([reply.status, reply.json.error], [403, 'ssh_disabled'])
  })
})
