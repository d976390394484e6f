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
  test('a start waits for the skills and tells of them; nothing is begun before they are there', async () => {
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
    agent.answers['skills.install'] = async (asked) => {
      await gate.promise
      return (await install?.(asked)) ?? { outcome: null }
    }
    const starting = start()
    await until(async () => (await world.row('helper')).status === 'running', 'it runs')
    agent.greet()
    assert.equal(skills.mayBegin(agent.id), false)
    gate.resolve()
    await world.skills.delivery.settled()
    assert.equal(skills.mayBegin(agent.id), true)
    assert.ok(world.link.asked.some(({ agentId, t }) => agentId === agent.id && t === 'wake'))
    await clock.advance(1)
    const { skills_injection: told } = (await starting).json
    assert.deepEqual([told.status, told.skills_injected, agent.has('one')], ['injected', 1, true])
    assert.equal((await start()).json.skills_injection, null, 'it runs already')
  })

  test('a start with a stale assignment delivers the rest and fails nothing', async () => {
    await using world = await openSkills(await open())
    await withSkills(world, ['two'])
    await world.host.commit('acme/gone', {
      'skills/one/SKILL.md': instruction('one'),
      'skills/never/SKILL.md': instruction('never'),
    })
    const source = await world.sourced('acme/gone')
    const agent = await world.agent('helper')
    await agent.assign('one')
    await agent.assign('two')
    await agent.stop()
    await agent.assign('never')
    await world.skills.sources.remove(source.id)
    for (const _ of ['first start', 'second start']) {
      const since = world.clock.now()
      await agent.start()
      const told = await world.skills.atStart(agent.id, since)
      assert.deepEqual(
        [told?.status, told?.reason, told?.skills_failed, Object.keys(told?.results ?? {})],
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
    assert.equal(agent.has('one'), true, 'it stays in the workspace')
    assert.deepEqual(world.alerts, [])
  })

  test('a start answers after 20 seconds: delivery goes on, or the agent has not dialled in', async () => {
    await using world = await openSkills(await open())
    await withSkills(world)
    const agent = await world.agent('helper')
    await agent.assign('one')
    await agent.stop()
    const late = world.skills.atStart(agent.id, world.clock.now())
    await world.clock.waitingFor(20)
    await world.clock.advance(21)
    const told = await late
    assert.deepEqual([told?.status, told?.reason], ['not_delivered', 'agent_starting'])
    // Its last attempt must not find the agent that comes now.
    await world.skills.delivery.settled()
    const gate = Promise.withResolvers<{ skills: [] }>()
    await agent.rise()
    agent.greet({ ...agent.answers, 'skills.list': () => gate.promise })
    assert.equal(world.skills.mayBegin(agent.id), false)
    const slow = world.skills.atStart(agent.id, world.clock.now())
    // Whoever waits for the answer, and what holds the agent meanwhile.
    await world.clock.waitingFor(20, 2)
    await world.clock.advance(20)
    assert.equal((await slow)?.status, 'in_progress')
    await until(() => world.skills.mayBegin(agent.id), 'a run without a skill is better than none')
    gate.resolve({ skills: [] })
  })

  test('what no source has any more may stay in a set that is replaced, and is not given to another agent', async () => {
    await using world = await openSkills(await open())
    await withSkills(world, ['two'])
    await world.host.commit('acme/gone', { 'skills/one/SKILL.md': instruction('one') })
    const source = await world.sourced('acme/gone')
    const [agent, other] = [await world.agent('helper'), await world.agent('other')]
    await agent.assign('one')
    await world.skills.sources.remove(source.id)
    const kept = await agent.replace(['one', 'two'])
    assert.deepEqual(
      [kept.skills, kept.delivery.status, Object.keys(kept.delivery.results), kept.removal],
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
