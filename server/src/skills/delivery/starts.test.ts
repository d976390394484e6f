import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../agents/test/world.ts'
import { isFault } from '../../kit/fault.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { instruction, openSkills, type SkillsWorld } from '../test/world.ts'

const refused = (code: Parameters<typeof isFault>[1]) => (error: unknown) => isFault(error, code)
async function withSkills(world: SkillsWorld, names = ['one', 'two']) {
  const files = Object.fromEntries(names.map((name) => [`skills/${name}/SKILL.md`, instruction(name)]))
  await world.host.commit('acme/lib', files)
  await world.sourced('acme/lib')
}

forEachDialect((_dialect, open) => {
  test('a start waits for the skills and reports them; no run starts before the delivery ends', async () => {
    await using world = await openSkills(await open())
    await withSkills(world)
    const { skills, clock } = world
    const agent = await world.agent('helper')
    const start = () => world.request(world.owner.key, 'POST', '/api/agents/helper/start')
    const stop = async () => {
      world.link.unlink(agent.id)
      assert.equal((await world.request(world.owner.key, 'POST', '/api/agents/helper/stop')).status, 200)
    }
    await stop()
    assert.equal((await start()).json.skills_injection, null)
    await stop()
    await agent.assign('one')
    const gate = Promise.withResolvers<void>()
    const { 'skills.install': install } = agent.answers
    agent.answers['skills.install'] = async (request) => {
      await gate.promise
      return (await install?.(request)) ?? { outcome: null }
    }
    const starting = start()
    await until(async () => (await world.row('helper')).status === 'running', 'it runs')
    agent.greet()
    assert.equal(skills.mayBegin(agent.id), false)
    gate.resolve()
    await world.skills.delivery.settled()
    assert.equal(skills.mayBegin(agent.id), true)
    assert.ok(world.link.calls.some(({ agentId, t }) => agentId === agent.id && t === 'wake'))
    await clock.advance(1)
    const { skills_injection: injection } = (await starting).json
    assert.deepEqual([injection.status, injection.skills_injected, agent.has('one')], ['injected', 1, true])
    assert.equal((await start()).json.skills_injection, null, 'it runs already')
  })

  test('a start with a stale assignment delivers the others and does not fail', async () => {
    await using world = await openSkills(await open())
    await withSkills(world, ['two'])
    await world.host.commit('acme/removed', {
      'skills/one/SKILL.md': instruction('one'),
      'skills/never/SKILL.md': instruction('never'),
    })
    const source = await world.sourced('acme/removed')
    const agent = await world.agent('helper')
    await agent.assign('one')
    await agent.assign('two')
    await agent.stop()
    await agent.assign('never')
    await world.skills.sources.remove(source.id)
    for (const _ of ['first start', 'second start']) {
      const since = world.clock.now()
      await agent.start()
      const delivery = await world.skills.atStart(agent.id, since)
      assert.deepEqual(
        [delivery?.status, delivery?.reason, delivery?.skills_failed, Object.keys(delivery?.results ?? {})],
        ['injected', null, 0, ['two']],
      )
      await agent.stop()
      await world.clock.advance(1)
    }
    const rows = (await agent.rows()).map(({ skill_name, stale, delivery_status, last_delivery }) => [
      skill_name,
      stale,
      delivery_status,
      last_delivery?.error,
    ])
    assert.deepEqual(rows, [
      ['never', true, 'failed', 'The library has no skill of this name any more.'],
      ['one', true, 'unchanged', null],
      ['two', false, 'unchanged', null],
    ])
    assert.equal(agent.has('one'), true, 'the stale skill stays in the workspace')
    assert.deepEqual(world.alerts(), [])
  })

  test('a start returns after 20 seconds, during a delivery or without a connection', async () => {
    await using world = await openSkills(await open())
    await withSkills(world)
    const agent = await world.agent('helper')
    await agent.assign('one')
    await agent.stop()
    const late = world.skills.atStart(agent.id, world.clock.now())
    await world.clock.waitingFor(20)
    await world.clock.advance(21)
    const delivery = await late
    assert.deepEqual([delivery?.status, delivery?.reason], ['not_delivered', 'agent_starting'])
    // Its last attempt must not find the agent that connects now.
    await world.skills.delivery.settled()
    const gate = Promise.withResolvers<{ skills: [] }>()
    await agent.rise()
    agent.greet({ ...agent.answers, 'skills.list': () => gate.promise })
    assert.equal(world.skills.mayBegin(agent.id), false)
    const slow = world.skills.atStart(agent.id, world.clock.now())
    // Ends the wait of the caller and of the hold on runs.
    await world.clock.waitingFor(20, 2)
    await world.clock.advance(20)
    assert.equal((await slow)?.status, 'in_progress')
    await until(() => world.skills.mayBegin(agent.id), 'runs start without the skill')
    gate.resolve({ skills: [] })
  })

  test('a stale skill may stay in a replaced set, and cannot be assigned to another agent', async () => {
    await using world = await openSkills(await open())
    await withSkills(world, ['two'])
    await world.host.commit('acme/removed', { 'skills/one/SKILL.md': instruction('one') })
    const source = await world.sourced('acme/removed')
    const [agent, other] = [await world.agent('helper'), await world.agent('other')]
    await agent.assign('one')
    await world.skills.sources.remove(source.id)
    const replaced = await agent.replace(['one', 'two'])
    assert.deepEqual(
      [replaced.skills, replaced.delivery.status, Object.keys(replaced.delivery.results), replaced.removal],
      [['one', 'two'], 'injected', ['two'], null],
    )
    assert.deepEqual([agent.has('one'), agent.has('two')], [true, true])
    assert.deepEqual(
      (await agent.rows()).map(({ stale }) => stale),
      [true, false],
    )
    await assert.rejects(other.replace(['one', 'two']), refused('skill_not_found'))
    await agent.replace(['two'])
    await assert.rejects(agent.replace(['one', 'two']), refused('skill_not_found'))
  })
})
