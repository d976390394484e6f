import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { treeOf } from '@roost/test-support/git/packs'
import { innerHosts, startTrap } from '@roost/test-support/inward'
import { isFault } from '../../kit/fault.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { instruction, openSkills, type SkillsWorld } from '../test/world.ts'

test('200 skills in five sources: the lower priority wins a name, then the older source', async () => {
  await using world = await openSkills(await openTestDatabase())
  const priorities = [100, 50, 100, 200, 50]
  const sources = priorities.map((priority, index) => ({
    name: `acme/lib${index}`,
    priority,
    names: Array.from({ length: 60 }, (_, n) => `skill-${index * 35 + n}`),
  }))
  for (const { name, priority, names } of sources) {
    const files = names.map((each) => [`skills/${each}/SKILL.md`, instruction(`${each} of ${name}`)])
    await world.host.commit(name, Object.fromEntries(files))
    await world.source(name, { priority })
  }
  const { skills_count, sources: results } = await world.skills.library.syncAll('test')
  assert.deepEqual([skills_count, results.every(({ status }) => status === 'ok')], [200, true])
  const inOrder = sources.toSorted((a, b) => a.priority - b.priority)
  const expected = Array.from({ length: 200 }, (_, n) => {
    const name = `skill-${n}`
    const [first, ...others] = inOrder
      .filter(({ names }) => names.includes(name))
      .map((source) => source.name)
    return { name, source: first, shadowed_by: others, description: `${name} of ${first}` }
  })
  const found = (await world.skills.library.list()).map(({ name, source, shadowed_by, description }) => {
    return { name, source, shadowed_by, description }
  })
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
  assert.deepEqual(found, expected.toSorted(byName))
})

test('a source that hangs, is huge, a bomb or only links is reported by name; others are read', async () => {
  const bounds = { fetchSeconds: 5, fetchBytes: 2_000_000 }
  await using world = await openSkills(await openTestDatabase(), { bounds })
  const { host, skills } = world
  const good = { 'skills/good/SKILL.md': instruction('good') }
  await host.commit('acme/hangs', good)
  host.behave('hang', 'acme/hangs')
  await host.commit('acme/huge', { ...good, 'x.bin': randomBytes(3_000_000) })
  await host.commit('acme/links', {
    'skills/a': { link: '/etc' },
    'skills/b/SKILL.md': { link: '/etc/passwd' },
    'skills/c/SKILL.md': { link: '../../../.env' },
  })
  await plantTreeBomb(world, 'acme/bomb')
  await plantNames(world, 'acme/names')
  await plantGigabytes(world, 'acme/gigabytes')
  await host.commit('acme/zeros', {
    'skills/zeros/SKILL.md': instruction('zeros'),
    'skills/zeros/data.bin': Buffer.alloc(12 * 1024 * 1024),
  })
  await host.commit('acme/fine', { 'skills/fine/SKILL.md': instruction('fine') })
  const names = ['hangs', 'huge', 'links', 'bomb', 'names', 'zeros', 'fine', 'gigabytes']
  for (const name of names) await world.source(`acme/${name}`)
  const before = process.memoryUsage().rss
  const { sources } = await skills.library.syncAll('test')
  assert.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024, 'refused content is not kept in memory')
  assert.deepEqual(
    sources.map(({ name, status }) => `${name.slice(5)} ${status}`),
    [
      'hangs failed',
      'huge failed',
      'links failed',
      'bomb failed',
      'names ok',
      'zeros ok',
      'fine ok',
      'gigabytes failed',
    ],
  )
  const errors = sources.map(({ error }) => error ?? '')
  assert.match(errors[0] ?? '', /longer than 5 seconds/)
  for (const index of [1, 3, 7]) assert.match(errors[index] ?? '', /exceeds the size limit/)
  assert.match(errors[2] ?? '', /no skills/)
  assert.deepEqual(await world.names(), ['fine', 'named', 'zeros'])

  const agent = await world.agent('hostile-helper')
  const { delivery } = await agent.replace(['fine', 'named', 'zeros'])
  const { fine, named, zeros } = delivery.results
  assert.deepEqual([fine?.status, named?.status, zeros?.status], ['injected', 'injected', 'failed'])
  assert.match(zeros?.error ?? '', /larger than 10 MiB/)
  const dropped = ['..', '.env', 'a?b', 'a\\b'].map((name) =>
    named?.warnings.some((each) => each.endsWith(`:${name}`)),
  )
  assert.deepEqual(dropped, [true, true, true, true])
  assert.deepEqual(agent.manifest('named').files, ['SKILL.md'])
})

test('422 invalid_skill_source for an internal address, without a connection', async () => {
  await using world = await openSkills(await openTestDatabase())
  using trap = await startTrap()
  for (const host of innerHosts) {
    const url = `http://${host}:${trap.port}/acme/skills`
    const refused = (error: unknown) => isFault(error, 'invalid_skill_source')
    await assert.rejects(world.source('acme/inner', { name: 'inner', url }), refused, url)
    await assert.rejects(world.source('acme/inner', { name: 'inner', url: `ext::${url}` }), refused, url)
  }
  assert.deepEqual([trap.connections(), await world.skills.sources.list()], [0, []])
})

/** Ten nested levels of ten folders: a few objects that list as ten billion files. */
async function plantTreeBomb({ host }: SkillsWorld, repository: string): Promise<void> {
  await host.commit(repository, { 'skills/x/SKILL.md': instruction('x') })
  const blob = await host.git(repository, 'rev-parse', 'main:skills/x/SKILL.md')
  let entry = `100644 blob ${blob}`
  for (let depth = 0; depth < 10; depth += 1) {
    const lines = Array.from({ length: 10 }, (_, index) => `${entry}\td${index}`)
    entry = `040000 tree ${await host.plant(repository, lines)}`
  }
  await host.point(repository, entry.split(' ')[2] ?? '')
}

/** A skill with a file of four gigabytes in a pack of a few kilobytes. */
function plantGigabytes({ host }: SkillsWorld, repository: string): Promise<void> {
  return host.plantPack(repository, (pack) => {
    const beginning = Buffer.alloc(64 * 1024, 'x')
    const base = pack.add('blob', beginning)
    const skill = treeOf([
      { name: 'SKILL.md', sha: pack.add('blob', Buffer.from(instruction('gigabytes'))) },
      { name: 'base.bin', sha: base },
      { name: 'data.bin', sha: pack.addCopies({ sha: base, bytes: beginning.length }, 4095) },
    ])
    const skills = treeOf([{ name: 'gigabytes', sha: pack.add('tree', skill), isFolder: true }])
    return pack.add('tree', treeOf([{ name: 'skills', sha: pack.add('tree', skills), isFolder: true }]))
  })
}

/** A skill with files whose names must not reach a file system. */
async function plantNames({ host }: SkillsWorld, repository: string): Promise<void> {
  await host.commit(repository, { 'skills/x/SKILL.md': instruction('named') })
  const blob = await host.git(repository, 'rev-parse', 'main:skills/x/SKILL.md')
  const files = ['SKILL.md', '..', '.env', '.git', 'a\nb', 'a\\b'].map(
    (name) => `100644 blob ${blob}\t${name}`,
  )
  const skill = await host.plant(repository, files)
  const folder = (name: string, sha: string) => `040000 tree ${sha}\t${name}`
  const skills = await host.plant(repository, [
    folder('named', skill),
    folder('..', skill),
    folder('-x', skill),
  ])
  await host.point(repository, await host.plant(repository, [folder('skills', skills)]))
}
