import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../agents/test/world.ts'
import { isFault } from '../../kit/fault.ts'
import { LinkDown, LinkFault } from '../../ports/agent-link/port.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { instruction, openSkills, type SkillsWorld } from '../test/world.ts'

const refused = (code: Parameters<typeof isFault>[1]) => (error: unknown) => isFault(error, code)
const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`)
async function withSkills(world: SkillsWorld, names = ['one', 'two']) {
  const files = Object.fromEntries(names.map((name) => [`skills/${name}/SKILL.md`, instruction(name)]))
  await world.host.commit('acme/lib', files)
  await world.sourced('acme/lib')
}

forEachDialect((_dialect, open) => {
  test('a skill reaches a running agent unchanged, once per version', async () => {
    await using world = await openSkills(await open())
    const { host, skills } = world
    const noise = randomBytes(600_000)
    const commit = await host.commit('acme/lib', {
      'skills/one/SKILL.md': instruction(
        'Does one',
        'requires: {binaries: [no-such-binary], env: [], packages: []}\n',
      ),
      'skills/one/data.bin': noise,
      'skills/one/run.sh': { script: '#!/bin/sh\n' },
      'skills/one/link': { link: '/etc/passwd' },
      'skills/one/.env': 'A=1',
    })
    const source = await world.sourced('acme/lib')
    const agent = await world.agent('helper')
    const version = await host.git('acme/lib', 'rev-parse', 'main:skills/one')
    const delivery = await agent.assign('one')
    const warnings = ['protected_name_skipped:.env', 'symlink_skipped:link', 'missing_binary:no-such-binary']
    assert.deepEqual(delivery, {
      status: 'injected',
      reason: null,
      skills_injected: 1,
      skills_failed: 0,
      results: { one: { status: 'injected', version, warnings, error: null } },
    })
    assert.ok(noise.equals(readFileSync(agent.at('one', 'data.bin'))))
    assert.equal(statSync(agent.at('one', 'run.sh')).mode & 0o111, 0o111)
    assert.deepEqual([agent.has('one', 'link'), agent.has('one', '.env')], [false, false])
    const { injected_at: _, ...manifest } = agent.manifest('one')
    assert.deepEqual(manifest, {
      ...{ name: 'one', version, commit, source_id: source.id, source_name: 'acme/lib' },
      files: ['SKILL.md', 'data.bin', 'run.sh'],
    })
    const [row] = await agent.rows()
    assert.deepEqual(
      [row?.version, row?.delivery_status, row?.source, row?.stale],
      [version.slice(0, 7), 'injected', 'acme/lib', false],
    )
    assert.equal((await agent.assign('one')).results.one?.status, 'unchanged')
    const again = await skills.delivery.inject(agent.id, true)
    assert.deepEqual([again.skills_injected, again.skills_skipped], [1, 0])
    assert.match((await world.area.runContexts.skillsBlock(agent.id)) ?? '', /- one: Does one/)
    assert.match(readFileSync(join(agent.home, '.gitignore'), 'utf8'), /\.claude\/skills\/one\//)
    assert.ok((await world.eventTypes()).includes('skills.changed'))
  })

  test('a stopped agent gets new skills, and loses removed ones, at its next start', async () => {
    await using world = await openSkills(await open())
    await withSkills(world)
    const agent = await world.agent('helper')
    await agent.assign('two')
    await agent.stop()
    const pending = await agent.assign('one')
    assert.deepEqual([pending.status, pending.reason], ['pending_start', 'agent_stopped'])
    const { removed, removal } = await agent.unassign('two')
    assert.deepEqual(
      [removed, removal?.status, removal?.reason, removal?.skills],
      [true, 'deferred', 'agent_stopped', ['two']],
    )
    assert.equal((await agent.rows())[0]?.delivery_status, 'pending')
    await assert.rejects(world.skills.delivery.inject(agent.id, false), refused('agent_stopped'))
    await agent.start()
    assert.deepEqual([agent.has('one'), agent.has('two')], [true, false])
    assert.equal((await agent.rows())[0]?.delivery_status, 'injected')
    assert.deepEqual(await agent.unassign('two'), { removed: false, removal: null })
  })

  test('an agent that connects during a delivery starts no run before its end', async () => {
    await using world = await openSkills(await open())
    await withSkills(world)
    const { skills } = world
    const agent = await world.agent('helper')
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { 'skills.install': install } = agent.answers
    agent.answers['skills.install'] = async (request) => {
      begun.resolve()
      await gate.promise
      return (await install?.(request)) ?? { outcome: null }
    }
    const assigned = agent.assign('one')
    await begun.promise
    agent.greet()
    // By then the worker of the connection has found the agent busy.
    for (const _ of [1, 2, 3])
      await assert.rejects(skills.delivery.inject(agent.id, false), refused('injection_in_progress'))
    assert.equal(skills.mayBegin(agent.id), false)
    gate.resolve()
    await assigned
    await skills.delivery.settled()
    assert.deepEqual([skills.mayBegin(agent.id), agent.has('one')], [true, true])
    assert.ok(world.link.calls.some(({ agentId, t }) => agentId === agent.id && t === 'wake'))
  })

  test('a busy agent is waited for up to 20 seconds, but not while the platform stops', async () => {
    await using world = await openSkills(await open())
    await withSkills(world)
    const { skills, clock } = world
    const agent = await world.agent('helper')
    await agent.stop()
    await agent.assign('one')
    const hold = () => world.leases.take(`skills.agent:${agent.id}`, 'another process', 120)
    const held = (await hold()) ?? assert.fail('it is held')
    await agent.rise()
    agent.greet()
    await clock.waitingFor(0.5)
    assert.equal(skills.mayBegin(agent.id), false)
    await world.leases.release(held)
    await clock.advance(0.5)
    await until(() => skills.mayBegin(agent.id), 'the skills are delivered')
    assert.equal(agent.has('one'), true)

    await hold()
    const assigned = agent.assign('two')
    await clock.waitingFor(3)
    await clock.advance(3)
    assert.equal((await assigned).reason, 'injection_in_progress')
    agent.greet()
    await clock.waitingFor(20)
    await clock.advance(20)
    await until(() => skills.mayBegin(agent.id), 'runs start without the skill')
    agent.greet()
    await clock.waitingFor(0.5)
    // The clock stands still from here on.
    await skills.close()
  })

  test("a template's skills are assigned at creation, with warnings about unknown ones", async () => {
    await using world = await openSkills(await open())
    await withSkills(world)
    const agent = await world.agent('helper')
    const row = await world.row('helper')
    const facts = await world.db.atomically((tx) =>
      world.area.hooks.created(tx, {
        agent: row,
        ownerId: world.owner.id,
        schedules: [],
        skills: ['one', 'nope'],
        credentialSetup: [],
        now: world.clock.now(),
      }),
    )
    assert.match(facts.warnings.join(), /"nope"/)
    assert.equal((await agent.rows())[0]?.delivery_status, 'pending')
    await agent.start()
    assert.equal(agent.has('one'), true)
  })

  test('a newer version deletes files by the manifest, and keeps those of the agent', async () => {
    await using world = await openSkills(await open())
    const { host, skills } = world
    await host.commit('acme/lib', { 'skills/one/SKILL.md': instruction('1'), 'skills/one/old/x.md': 'x' })
    const source = await world.sourced('acme/lib')
    const agent = await world.agent('helper')
    await agent.assign('one')
    writeFileSync(agent.at('one', 'mine.txt'), 'mine')
    await host.commit('acme/lib', { 'skills/one/SKILL.md': instruction('2'), 'skills/one/old/x.md': null })
    const synced = await skills.library.syncSource(source.id, 'test')
    assert.deepEqual([synced.commit_changed, synced.fleet_reinject_started], [true, false])
    assert.match(agent.read('one', 'SKILL.md'), /1/)
    await skills.delivery.inject(agent.id, false)
    assert.match(agent.read('one', 'SKILL.md'), /2/)
    assert.deepEqual([agent.has('one', 'old'), agent.has('one', 'mine.txt')], [false, true])
  })

  test('replacing removes omitted skills; an unknown name changes nothing', async () => {
    await using world = await openSkills(await open())
    await withSkills(world, ['one', 'two', 'three'])
    const agent = await world.agent('helper')
    const first = await agent.replace(['one', 'two', 'one'])
    assert.deepEqual([first.skills, first.delivery.status, first.removal], [['one', 'two'], 'injected', null])
    await assert.rejects(agent.replace(['three', 'nope']), (error) => {
      return isFault(error, 'skill_not_found') && /nope/.test(error.message)
    })
    await assert.rejects(agent.replace(['../x']), refused('invalid_skill_name'))
    const second = await agent.replace(['two', 'three'])
    assert.deepEqual([second.removal?.status, second.removal?.results.one?.status], ['completed', 'removed'])
    assert.deepEqual(
      (await agent.rows()).map(({ skill_name }) => skill_name),
      ['three', 'two'],
    )
    assert.deepEqual([agent.has('one'), agent.has('three')], [false, true])
  })

  test('an agent without room gets no further skills, and still loses some', async () => {
    await using world = await openSkills(await open())
    await withSkills(world)
    const agent = await world.agent('helper')
    await agent.replace(['one'])
    const { disk } = world.area
    await disk.setQuota(await world.row('helper'), 10_000_000)
    await disk.reported(agent.id, 10_000_000)
    const assigned = async () => (await agent.rows()).map(({ skill_name }) => skill_name)
    await assert.rejects(agent.replace(['one', 'two']), refused('disk_quota_reached'))
    await assert.rejects(agent.assign('two'), refused('disk_quota_reached'))
    assert.deepEqual(await assigned(), ['one'])
    await agent.replace(['one'])
    await agent.replace([])
    assert.deepEqual(await assigned(), [])
  })

  test("the agent's own folder is a conflict; too large skills fail by name and others arrive", async () => {
    await using world = await openSkills(await open())
    const big = Buffer.alloc(6 * 1024 * 1024)
    const parts = { a: randomBytes(16), b: randomBytes(16) }
    await world.host.commit('acme/lib', {
      'skills/own/SKILL.md': 'x',
      'skills/small/SKILL.md': 'x',
      'skills/huge/SKILL.md': 'x',
      'skills/huge/a.bin': Buffer.concat([parts.a, big]),
      'skills/huge/b.bin': Buffer.concat([parts.b, big]),
      ...Object.fromEntries(many(201).map((name) => [`skills/many/${name}`, name])),
      'skills/many/SKILL.md': 'x',
    })
    await world.sourced('acme/lib')
    const agent = await world.agent('helper')
    mkdirSync(agent.at('own'), { recursive: true })
    const { delivery } = await agent.replace(['own', 'small', 'huge', 'many'])
    assert.deepEqual(
      [delivery.status, delivery.reason, delivery.skills_injected, delivery.skills_failed],
      ['not_delivered', 'install_failed', 1, 3],
    )
    assert.equal(delivery.results.own?.status, 'conflict')
    assert.match(delivery.results.huge?.error ?? '', /10 MiB/)
    assert.match(delivery.results.many?.error ?? '', /200 files/)
    assert.equal(agent.has('small', 'SKILL.md'), true)
  })

  test('a delivery of more than 20 seconds continues, and the agent stays busy', async () => {
    await using world = await openSkills(await open())
    await withSkills(world)
    const agent = await world.agent('helper')
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { 'skills.install': install } = agent.answers
    agent.answers['skills.install'] = async (request) => {
      begun.resolve()
      await gate.promise
      return (await install?.(request)) ?? { outcome: null }
    }
    const slow = agent.assign('one')
    await begun.promise
    await assert.rejects(world.skills.delivery.inject(agent.id, false), refused('injection_in_progress'))
    const second = agent.assign('two')
    // It found the agent busy, and tries again.
    await world.clock.waitingFor(3)
    await world.clock.advance(3)
    const busy = await second
    assert.deepEqual([busy.status, busy.reason], ['not_delivered', 'injection_in_progress'])
    await world.clock.advance(17)
    assert.equal((await slow).status, 'in_progress')
    gate.resolve()
    await world.skills.delivery.settled()
    // The busy worker has delivered the new assignments.
    assert.deepEqual([agent.has('one'), agent.has('two')], [true, true])
  })

  test('the loop delivers to an agent that was unreachable', async () => {
    await using world = await openSkills(await open())
    await withSkills(world)
    const agent = await world.agent('helper')
    world.link.unlink(agent.id)
    const starting = agent.assign('one')
    // The wait polls for the link.
    await world.clock.waitingFor(0.05)
    await world.clock.advance(20)
    assert.equal((await starting).reason, 'agent_starting')
    await world.skills.delivery.settled()
    const patient = agent.assign('two')
    await world.clock.waitingFor(0.05)
    agent.greet()
    await world.clock.advance(1)
    assert.equal((await patient).status, 'injected', 'it connects while the caller waits')
    await agent.unassign('two')
    world.link.unlink(agent.id)
    await world.clock.advance(61)
    assert.equal((await agent.assign('one')).reason, 'agent_unreachable')
    world.engine.refuse(true)
    assert.equal((await agent.assign('one')).reason, 'container_state_unreadable')
    world.engine.refuse(false)
    const listing = (error: Error) => ({
      'skills.list': () => {
        throw error
      },
    })
    world.link.link(agent.id, listing(new LinkFault({ code: 'protected_path', message: 'It leads out.' })))
    assert.equal((await agent.assign('one')).reason, 'container_state_unreadable')
    assert.equal((await agent.unassign('one')).removal?.reason, 'removal_error')
    await agent.assign('one')
    world.link.link(agent.id, listing(new LinkDown()))
    assert.equal((await agent.assign('two')).reason, 'agent_unreachable')
    world.link.link(agent.id, agent.answers)
    const loop = world.skills.loops.find(({ name }) => name === 'skills.unfinished')
    await loop?.run(new AbortController().signal)
    assert.deepEqual([agent.has('one'), agent.has('two')], [true, true])
  })

  test('an unexpected removal of more than five and more than half is refused, with an alert', async () => {
    await using world = await openSkills(await open())
    await withSkills(world, many(8))
    const agent = await world.agent('helper')
    await agent.replace(many(8))
    await world.db.atomically(async (tx) => {
      await world.skills.assignments.agentDeleted(tx, agent.id)
    })
    await agent.start()
    assert.equal(agent.has('s0'), true)
    assert.deepEqual(world.alerts(), [{ kind: 'skills_removal_refused', agentId: agent.id }])
    const { removal } = await agent.replace(many(8)).then(() => agent.replace([]))
    assert.deepEqual([removal?.skills_removed, agent.has('s0')], [8, false])
  })

  test('a changed library updates the agents if enabled; removing a source keeps their skills', async () => {
    await using world = await openSkills(await open())
    const { host, skills, settings } = world
    await withSkills(world)
    const agents = [await world.agent('a'), await world.agent('b'), await world.agent('c')] as const
    for (const agent of agents) await agent.assign('one')
    await agents[1].stop()
    world.link.link(agents[2].id, {})
    await settings.putSkillsLibrary({ auto_reinject_enabled: true })
    const commit = await host.commit('acme/lib', { 'skills/one/SKILL.md': instruction('newer') })
    assert.equal((await skills.library.syncAll('sync')).fleet_reinject_started, true)
    const [source] = await skills.sources.list()
    await skills.close()
    assert.match(agents[0].read('one', 'SKILL.md'), /newer/)
    assert.deepEqual(world.alerts(), [{ kind: 'fleet_reinject_failed', agentId: null }])
    const report = (
      await world.db
        .withTables<{ skill_fleet_reports: { report: string } }>()
        .selectFrom('skill_fleet_reports')
        .select('report')
        .execute()
    )[0]
    assert.deepEqual(JSON.parse(report?.report ?? ''), {
      trigger: 'sync',
      commit_sha: commit,
      updated: ['a'],
      skipped: ['b'],
      failed: ['c'],
    })
    await skills.sources.remove(source?.id ?? '')
    assert.deepEqual(
      (await agents[0].rows()).map(({ stale }) => stale),
      [true],
    )
    await skills.delivery.inject(agents[0].id, false)
    assert.equal(agents[0].has('one'), true)
  })
})
