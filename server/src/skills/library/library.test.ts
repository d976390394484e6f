import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { sourceStore } from '../sources/index.ts'
import { instruction, openSkills } from '../test/world.ts'

const refused = (code: Parameters<typeof isFault>[1]) => (error: unknown) => isFault(error, code)

forEachDialect((_dialect, open) => {
  test('the skills of a repository are read with their metadata', async () => {
    await using world = await openSkills(await open())
    const { host, skills } = world
    const head =
      'automation: gated\nuser-invocable: false\nallowed-tools: [Read, "Bash(git *)"]\nargument-hint: "[x]"\nrequires: {binaries: [jq], env: [TOKEN], packages: []}\n'
    await host.commit('acme/one', {
      'skills/alpha/SKILL.md': instruction('Does alpha', head),
      'skills/alpha/run.sh': { script: '#!/bin/sh\n' },
      'skills/alpha/elsewhere': { link: '/etc/passwd' },
      'skills/beta/SKILL.md': '# Beta\n\nFirst words\nof it.\n\nMore.\n',
      'skills/broken/SKILL.md': '---\na: &x [1]\nb: *x\n: {\n---\nWords.\n',
      'skills/-bad name/SKILL.md': 'x',
      'skills/empty/README.md': 'x',
    })
    const source = await world.sourced('acme/one')
    assert.deepEqual(await world.names(), ['alpha', 'beta', 'broken'])
    const { content, ...alpha } = await skills.library.detail('alpha')
    assert.match(content, /# Do it/)
    assert.deepEqual(alpha, {
      name: 'alpha',
      description: 'Does alpha',
      source: 'acme/one',
      source_name: 'acme/one',
      source_id: source.id,
      shadowed_by: [],
      path: 'skills/alpha',
      version: await host.git('acme/one', 'rev-parse', 'main:skills/alpha'),
      automation: 'gated',
      user_invocable: false,
      allowed_tools: ['Read', 'Bash(git *)'],
      argument_hint: '[x]',
      requires: { binaries: ['jq'], env: ['TOKEN'], packages: [] },
      multi_file: true,
      file_count: 2,
      size_bytes: Buffer.byteLength(content) + 10,
      files: [
        { path: 'SKILL.md', size_bytes: Buffer.byteLength(content), executable: false },
        { path: 'run.sh', size_bytes: 10, executable: true },
      ],
      warnings: ['symlink_skipped:elsewhere'],
    })
    assert.equal((await skills.library.detail('beta')).description, 'First words of it.')
    const broken = await skills.library.detail('broken')
    assert.deepEqual([broken.description, broken.warnings], ['Words.', ['frontmatter_invalid']])
    await assert.rejects(skills.library.detail('nope'), refused('skill_not_found'))
    await assert.rejects(skills.library.detail('../x'), refused('invalid_skill_name'))
    const fields = await world.lastEvent('skills.library_synced')
    assert.deepEqual(fields, { skills_count: 3, sources: [{ name: 'acme/one', status: 'ok' }] })
  })

  test('three layouts are tried in order; a repository with several is marked', async () => {
    await using world = await openSkills(await open())
    const { host, skills } = world
    const file = instruction('x')
    await host.commit('acme/legacy', { '.claude/skills/c/SKILL.md': file })
    await host.commit('acme/plain', { '.claude/skills/c2/SKILL.md': file, 'skills/b/SKILL.md': file })
    await host.commit('acme/catalog', {
      'catalog.yaml': 'skills_root: ./packs/all/\n',
      'skills/b2/SKILL.md': file,
      'packs/all/a/SKILL.md': file,
      'packs/all/deep/er/SKILL.md': file,
    })
    await host.commit('acme/nothing', { 'README.md': 'x', 'skills/README.md': 'x' })
    for (const name of ['legacy', 'plain', 'catalog']) await world.sourced(`acme/${name}`)
    assert.deepEqual(await world.names(), ['a', 'b', 'c'])
    const view = (await skills.sources.list()).map((each) => [
      each.skills_root,
      each.layout_conflict,
      each.skill_count,
    ])
    assert.deepEqual(view, [
      ['.claude/skills', false, 1],
      ['skills', true, 1],
      ['packs/all', true, 1],
    ])
    const empty = await world.source('acme/nothing')
    await assert.rejects(skills.library.syncSource(empty.id, 'test'), refused('sync_failed'))
  })

  test('the lower priority wins a name, then the older source; a disabled source does not count', async () => {
    await using world = await openSkills(await open())
    const { host, skills, clock } = world
    for (const name of ['old', 'new', 'first']) {
      await host.commit(`acme/${name}`, { 'skills/same/SKILL.md': instruction(name) })
      await world.sourced(`acme/${name}`, name === 'first' ? { priority: 5 } : {})
      await clock.advance(1)
    }
    const winner = async () => {
      const [same] = await skills.library.list()
      return [same?.description, same?.shadowed_by]
    }
    assert.deepEqual(await winner(), ['first', ['acme/old', 'acme/new']])
    const [first] = await skills.sources.list()
    await skills.sources.update(first?.id ?? '', { enabled: false })
    assert.deepEqual(await winner(), ['old', ['acme/new']])
    await skills.sources.remove(first?.id ?? '')
    assert.deepEqual((await skills.library.status(true)).shadowed_count, 1)
  })

  test('a sync, its event and the status count each name of enabled sources once', async () => {
    await using world = await openSkills(await open())
    const { host, skills } = world
    await host.commit('acme/one', {
      'skills/same/SKILL.md': instruction('x'),
      'skills/a/SKILL.md': instruction('x'),
    })
    await host.commit('acme/two', {
      'skills/same/SKILL.md': instruction('x'),
      'skills/b/SKILL.md': instruction('x'),
    })
    await host.commit('acme/off', { 'skills/c/SKILL.md': instruction('x') })
    for (const name of ['one', 'two', 'off']) await world.sourced(`acme/${name}`)
    const off = (await skills.sources.list()).find(({ name }) => name === 'acme/off')
    await skills.sources.update(off?.id ?? '', { enabled: false })
    const { skills_count } = await skills.library.syncAll('test')
    const { skill_count, shadowed_count } = await skills.library.status(true)
    assert.deepEqual([skills_count, skill_count, shadowed_count], [3, 3, 1])
    assert.equal((await skills.library.list()).length, 3)
    assert.equal((await world.lastEvent('skills.library_synced')).skills_count, 3)
  })

  test('a moved tag changes nothing until the source tracks another tag', async () => {
    await using world = await openSkills(await open())
    const { host, skills } = world
    const first = await host.commit('acme/pinned', { 'skills/a/SKILL.md': instruction('one') })
    await host.tag('acme/pinned', 'v1', { message: 'one' })
    const source = await world.sourced('acme/pinned', { ref: 'v1', ref_type: 'tag' })
    // A new tag at the same commit is not a move.
    await host.tag('acme/pinned', 'v1', { message: 'again' })
    assert.equal((await skills.library.syncSource(source.id, 'test')).commit_changed, false)
    await host.commit('acme/pinned', { 'skills/a/SKILL.md': instruction('two') })
    await host.tag('acme/pinned', 'v1', { message: 'moved' })
    const moved = await skills.library.syncSource(source.id, 'test')
    assert.deepEqual(
      [moved.success, moved.sources[0]?.status, moved.commit_changed],
      [false, 'moved_tag', false],
    )
    assert.equal((await skills.library.detail('a')).description, 'one')
    const [view] = await skills.sources.list()
    assert.deepEqual([view?.last_sync_status, view?.last_commit_sha], ['moved_tag', first])
    await host.tag('acme/pinned', 'v2')
    await skills.sources.update(source.id, { ref: 'v2' })
    assert.equal((await skills.library.syncSource(source.id, 'test')).commit_changed, true)
    assert.equal((await skills.library.detail('a')).description, 'two')
  })

  test('one worker at a time reads a source; a failed read does not change the library', async () => {
    await using world = await openSkills(await open())
    const { host, skills, leases } = world
    await host.commit('acme/one', { 'skills/a/SKILL.md': instruction('x') })
    await host.commit('acme/two', { 'skills/b/SKILL.md': instruction('x') })
    const one = await world.sourced('acme/one')
    await world.sourced('acme/two')
    const lease = await leases.take(`skills.source:${one.id}`, 'other', 60)
    const mixed = await skills.library.syncAll('test')
    assert.deepEqual(
      mixed.sources.map(({ status }) => status),
      ['busy', 'ok'],
    )
    await assert.rejects(skills.library.syncSource(one.id, 'test'), refused('sync_in_progress'))
    if (lease) await leases.release(lease)
    host.behave('redirect')
    await assert.rejects(skills.library.syncAll('test'), refused('sync_failed'))
    host.behave('well')
    assert.deepEqual(await world.names(), ['a', 'b'])
    const [view] = (await skills.library.status(false)).sources
    assert.deepEqual([view?.url, view?.last_error, view?.last_sync_status], [null, 'unreachable', 'failed'])
    await assert.rejects(skills.library.syncSource('none', 'test'), refused('source_not_found'))
  })

  test('sources are on the configured host and have unique names', async () => {
    await using world = await openSkills(await open())
    const { host, skills } = world
    for (const over of [
      { url: 'https://example.org/a/b' },
      { url: `${host.url.replace('http://', 'http://user:pw@')}/a/b` },
      { url: 'file:///etc' },
      { url: 'ext::sh -c id' },
      { ref: '--upload-pack=id' },
      { ref: 'a..b' },
      { ref: 'f'.repeat(40) },
    ])
      await assert.rejects(
        world.source('acme/x', over),
        refused('invalid_skill_source'),
        JSON.stringify(over),
      )
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => world.source('acme/x')))
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1)
    const [made] = await skills.sources.list()
    const other = await world.source('acme/y')
    await assert.rejects(skills.sources.update(other.id, { name: made?.name }), refused('already_exists'))
    await assert.rejects(skills.sources.remove('none'), refused('source_not_found'))
  })

  test('the bundled skills are read without a network', async () => {
    await using world = await openSkills(await open(), { defaultSource: { url: 'bundled', ref: 'v1.2.0' } })
    await world.skills.ready()
    const names = await world.names()
    assert.ok(names.length >= 5, names.join())
    assert.equal(world.host.requests.length, 0)
    const [community, ...others] = await world.skills.sources.list()
    assert.deepEqual(
      [community?.is_default, community?.priority, community?.ref_type, community?.ref, others],
      [true, 1000, 'tag', 'v1.2.0', []],
    )
    for (const skill of await world.skills.library.list()) assert.ok((skill.description ?? '').length > 30)
    const id = community?.id ?? ''
    await assert.rejects(world.skills.sources.update(id, { ref: 'v2' }), refused('invalid_skill_source'))
    assert.equal((await world.skills.sources.update(id, { enabled: false })).enabled, false)
  })

  test('bundled skills under an older tag get the tag of this release', async () => {
    const db = await open()
    await using world = await openSkills(db, { defaultSource: { url: 'bundled', ref: 'v1.2.0' } })
    await world.skills.ready()
    const [before] = await world.skills.sources.list()
    await world.skills.sources.update(before?.id ?? '', { enabled: false, priority: 7 })
    await sourceStore(db).update(before?.id ?? '', { ref: 'v1' })
    await world.skills.sources.ensureDefault()
    const [after, ...others] = await world.skills.sources.list()
    assert.deepEqual(
      [after?.id, after?.ref, after?.ref_type, after?.enabled, after?.priority, others],
      [before?.id, 'v1.2.0', 'tag', false, 7, []],
    )
    assert.equal((await world.names()).length, 0, 'it stays disabled')
    await world.skills.sources.update(after?.id ?? '', { enabled: true })
    assert.ok((await world.names()).length >= 5, 'its skills are present')
  })

  test('a custom community source needs a release tag; otherwise operators get an alert', async () => {
    for (const [ref, isTaken] of [
      ['v1', false],
      ['main', false],
      ['v1.2', false],
      ['v01.2.3', false],
      ['v1.2.3', true],
    ] as const) {
      const defaultSource = (host: string) => ({ url: `${host}/acme/community`, ref })
      await using world = await openSkills(await open(), { defaultSource })
      await world.skills.ready()
      assert.equal((await world.skills.sources.list()).length, isTaken ? 1 : 0, ref)
      assert.equal(world.alerts().length, isTaken ? 0 : 1, ref)
    }
  })

  test('the sync of a killed process is repeated by the next one after the lease expires', async () => {
    await using world = await openSkills(await open(), { defaultSource: { url: 'bundled', ref: 'v1.2.0' } })
    const { skills, clock, leases } = world
    await skills.ready()
    const synced = async () =>
      (await skills.sources.list()).map(({ id, last_sync_at }) => ({ id, last_sync_at }))
    const [before] = await synced()
    await leases.take(`skills.source:${before?.id}`, 'killed', 300)
    await skills.open()
    await clock.waitingFor(15)
    assert.deepEqual(await synced(), [before])
    await clock.advance(300)
    await skills.ready()
    assert.ok(((await synced())[0]?.last_sync_at ?? '') > (before?.last_sync_at ?? ''))
  })

  test('sources are synced automatically when enabled and due', async () => {
    await using world = await openSkills(await open())
    const { host, skills, settings, clock } = world
    await host.commit('acme/one', { 'skills/a/SKILL.md': instruction('x') })
    await world.sourced('acme/one')
    await host.commit('acme/one', { 'skills/b/SKILL.md': instruction('x') })
    const look = () => skills.library.loops[0]?.run(new AbortController().signal)
    await clock.advance(4000)
    await look()
    assert.deepEqual(await world.names(), ['a'])
    await settings.putSkillsLibrary({ auto_sync_enabled: true, auto_sync_interval_seconds: 5000 })
    await look()
    assert.deepEqual(await world.names(), ['a'])
    await clock.advance(1000)
    await look()
    assert.deepEqual(await world.names(), ['a', 'b'])
  })

  test('a configured library on another host or with an invalid ref is refused, with an alert', async () => {
    for (const defaultSource of [
      { url: 'https://elsewhere.example.org/a/b', ref: 'v1.0.0' },
      { url: 'bundled', ref: 'v1.0.0' },
    ]) {
      await using world = await openSkills(await open(), { defaultSource })
      await world.skills.ready()
      const isRefused = defaultSource.url !== 'bundled'
      const alert = { kind: 'legacy_library_refused', agentId: null }
      assert.deepEqual(world.alerts(), isRefused ? [alert] : [])
      assert.equal((await world.skills.sources.list()).length, isRefused ? 0 : 1)
    }
  })
})
