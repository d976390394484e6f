import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RuntimeName } from '@roost/contracts/link/messages'
import { createFakeClock } from '../kit/fake-clock.ts'
import { LinkFault } from '../link/link.ts'
import { makeTestHome } from '../test/home.ts'
import { createPaths } from '../workspace/paths.ts'
import { manifestOf } from './manifest.ts'
import { createSkills } from './skills.ts'

async function setUp(runtime: RuntimeName = 'claude-code') {
  const place = makeTestHome()
  const { home, root } = place
  const paths = await createPaths(home)
  const bin = join(root, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'jq'), '')
  chmodSync(join(bin, 'jq'), 0o755)
  const environment = async () => ({ PATH: bin, KNOWN: 'canary-value' })
  const parts = join(root, 'parts')
  const skills = createSkills({ paths, runtime, clock: createFakeClock(), parts, environment })
  let uploads = 0
  /** File contents by path; a leading `!` makes a file executable. */
  const install = async (name: string, files: Record<string, string>, version = 'v1', chunk = 1 << 20) => {
    const bytes = Buffer.from(Object.values(files).join(''))
    const manifest = manifestOf({
      ...{ name, version, commit: 'c', source_id: 's', source_name: 'S' },
      files: Object.entries(files).map(([path, text]) => ({
        path: path.replace(/^!/, ''),
        size: Buffer.byteLength(text),
        executable: path.startsWith('!'),
      })),
    })
    const uploadId = `u${++uploads}`
    for (let offset = 0; ; offset += chunk) {
      const last = offset + chunk >= bytes.length
      const part = { uploadId, offset, bytes: bytes.subarray(offset, offset + chunk) }
      const answer = await skills.install({ ...part, manifest: last ? manifest : null })
      if (last) return answer.outcome
      assert.equal(answer.outcome, null)
    }
  }
  const at = (...names: string[]) => join(home, '.claude', 'skills', ...names)
  const read = (...names: string[]) => readFileSync(at(...names), 'utf8')
  return { home, root, parts, skills, install, at, read, [Symbol.dispose]: place[Symbol.dispose] }
}

test('a skill sent in chunks is installed unchanged, with executable bits and manifest', async () => {
  using t = await setUp()
  const files = { 'SKILL.md': '# ünï\n', '!bin/run.sh': '#!/bin/sh\n', 'empty.txt': '' }
  assert.equal(await t.install('one', files, 'v1', 5), 'injected')
  assert.deepEqual([t.read('one', 'SKILL.md'), t.read('one', 'empty.txt')], ['# ünï\n', ''])
  assert.equal(statSync(t.at('one', 'bin/run.sh')).mode & 0o777, 0o755)
  const manifest = JSON.parse(t.read('one', '.roost-skill.json'))
  assert.deepEqual(Object.keys(manifest), [
    'name',
    'version',
    'commit',
    'source_id',
    'source_name',
    'files',
    'injected_at',
  ])
  assert.deepEqual(manifest.files, ['SKILL.md', 'bin/run.sh', 'empty.txt'])
  assert.deepEqual(await t.skills.list(), { skills: [{ name: 'one', managed: true, version: 'v1' }] })
  for (const folder of [t.parts, join(t.home, '.claude', '.roost-skills')])
    assert.deepEqual(readdirSync(folder), [])
})

test('chunks of an upload are out of reach of those who write the workspace', async () => {
  using t = await setUp()
  const bytes = Buffer.from('# Skill')
  const files = [{ path: 'SKILL.md', size: bytes.length, executable: false }]
  const facts = { name: 'one', version: 'v1', commit: 'c', source_id: 's', source_name: 'S' }
  const upload = { uploadId: 'u', manifest: null }
  await t.skills.install({ ...upload, offset: 0, bytes: bytes.subarray(0, 3) })
  for (const entry of readdirSync(t.home, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) writeFileSync(join(entry.parentPath, entry.name), 'own')
  }
  const manifest = manifestOf({ ...facts, files })
  await t.skills.install({ ...upload, offset: 3, bytes: bytes.subarray(3), manifest })
  assert.equal(t.read('one', 'SKILL.md'), '# Skill')
  assert.equal(statSync(t.parts).mode & 0o777, 0o700)
})

test('a newer version replaces the listed files; files of the agent stay', async () => {
  using t = await setUp()
  await t.install('one', { 'SKILL.md': '1', 'old/deep/x.md': 'x', data: 'file' })
  writeFileSync(t.at('one', 'notes.txt'), 'own notes')
  assert.equal(await t.install('one', { 'SKILL.md': '2', 'data/now-a-folder.md': 'y' }, 'v2'), 'injected')
  assert.deepEqual(readdirSync(t.at('one')).sort(), ['.roost-skill.json', 'SKILL.md', 'data', 'notes.txt'])
  assert.equal(t.read('one', 'SKILL.md'), '2')
  assert.equal(t.read('one', 'data', 'now-a-folder.md'), 'y')
  const { results } = await t.skills.remove(['one', 'none'])
  assert.deepEqual(results, [
    { name: 'one', outcome: 'removed' },
    { name: 'none', outcome: 'absent' },
  ])
  assert.deepEqual(readdirSync(t.at('one')), ['notes.txt'])
})

test('a folder of the agent is neither replaced nor removed', async () => {
  using t = await setUp()
  mkdirSync(t.at('own'), { recursive: true })
  writeFileSync(t.at('own', 'SKILL.md'), 'mine')
  assert.equal(await t.install('own', { 'SKILL.md': 'theirs' }), 'conflict')
  assert.equal((await t.skills.remove(['own'])).results[0]?.outcome, 'foreign')
  assert.equal(t.read('own', 'SKILL.md'), 'mine')
  assert.deepEqual(await t.skills.list(), { skills: [{ name: 'own', managed: false, version: null }] })
})

test('a skill with a missing file counts as not installed', async () => {
  using t = await setUp()
  await t.install('one', { 'SKILL.md': '1', 'a.md': 'a' })
  rmSync(t.at('one', 'a.md'))
  assert.equal((await t.skills.list()).skills[0]?.version, null)
  await t.install('one', { 'SKILL.md': '1', 'a.md': 'a' })
  assert.equal((await t.skills.list()).skills[0]?.version, 'v1')
})

test('unsafe paths are refused, and symbolic links are not followed', async () => {
  using t = await setUp()
  for (const path of ['../x', '/x', 'a/../../x', 'a//b', '.', '', 'a\\b', '.roost-skill.json'])
    await assert.rejects(t.install('one', { [path]: 'x' }), LinkFault, path)
  await assert.rejects(t.install('../one', { 'SKILL.md': 'x' }), LinkFault)
  const outside = join(t.root, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'keep.md'), 'keep')
  await t.install('one', { 'SKILL.md': '1', 'sub/keep.md': 'x' })
  rmSync(t.at('one', 'sub'), { recursive: true })
  symlinkSync(outside, t.at('one', 'sub'))
  assert.equal(await t.install('one', { 'SKILL.md': '2', 'sub/new.md': 'n' }, 'v2'), 'injected')
  assert.deepEqual(readdirSync(outside), ['keep.md'])
  assert.equal(t.read('one', 'sub', 'new.md'), 'n')
  writeFileSync(
    t.at('one', '.roost-skill.json'),
    JSON.stringify({ version: 'v', files: ['../../../.env', 'SKILL.md'] }),
  )
  writeFileSync(join(t.home, '.env'), 'A=1')
  await t.skills.remove(['one'])
  assert.ok(existsSync(join(t.home, '.env')))
})

test('a skills folder that links out of the workspace is refused', async () => {
  using t = await setUp()
  mkdirSync(join(t.home, '.claude'))
  symlinkSync('/tmp', join(t.home, '.claude', 'skills'))
  await assert.rejects(
    t.install('one', { 'SKILL.md': 'x' }),
    (error) => error instanceof LinkFault && error.code === 'protected_path',
  )
})

test('a skill above the size limit is refused', async () => {
  using t = await setUp()
  await assert.rejects(t.install('big', { 'SKILL.md': 'x'.repeat(10 * 1024 * 1024 + 1) }), LinkFault)
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`${index}.md`, '']))
  await assert.rejects(t.install('many', many), LinkFault)
  await assert.rejects(
    t.skills.install({ uploadId: 'u', offset: 5, bytes: Buffer.from('x'), manifest: null }),
    LinkFault,
  )
})

test('instructions list the platform’s skills once, and nothing when there are none', async () => {
  using t = await setUp()
  writeFileSync(join(t.home, 'CLAUDE.md'), '# Me\n\nBe kind.\n')
  writeFileSync(join(t.home, '.gitignore'), 'dist\n')
  const requires = {
    packages: ['no-such-package'],
    binaries: ['jq', 'nope', '../x'],
    env: ['KNOWN', 'UNKNOWN'],
  }
  const one = { name: 'one', description: 'Does\n  one thing', requires }
  const { warnings } = await t.skills.settle([one])
  assert.deepEqual(warnings, [
    {
      name: 'one',
      warnings: [
        'missing_binary:nope',
        'missing_binary:../x',
        'missing_env:UNKNOWN',
        'missing_package:no-such-package',
      ],
    },
  ])
  const text = readFileSync(join(t.home, 'CLAUDE.md'), 'utf8')
  assert.match(
    text,
    /^# Me\n\nBe kind.\n\n<!-- roost:skills -->\n## Platform skills\n[\s\S]*- `one`: Does one thing\n<!-- \/roost:skills -->\n$/,
  )
  const ignored = readFileSync(join(t.home, '.gitignore'), 'utf8')
  assert.match(ignored, /\/\.claude\/skills\/one\/\n/)
  assert.ok(
    ignored.lastIndexOf('.env') > ignored.indexOf('/.claude/skills/one/'),
    'the required block is last',
  )
  await t.skills.settle([one])
  assert.equal(readFileSync(join(t.home, 'CLAUDE.md'), 'utf8'), text)
  assert.equal(readFileSync(join(t.home, '.gitignore'), 'utf8'), ignored)
  await t.skills.settle([])
  assert.equal(readFileSync(join(t.home, 'CLAUDE.md'), 'utf8'), '# Me\n\nBe kind.\n')
  assert.doesNotMatch(readFileSync(join(t.home, '.gitignore'), 'utf8'), /skills/)
})

test('other runtimes find each skill through a link, which is removed with the skill', async () => {
  for (const runtime of ['codex', 'gemini-cli'] as const) {
    using t = await setUp(runtime)
    await t.install('one', { 'SKILL.md': '1' })
    const requires = { packages: [], binaries: [], env: [] }
    await t.skills.settle([{ name: 'one', description: null, requires }])
    const links = join(t.home, '.agents', 'skills')
    assert.equal(readlinkSync(join(links, 'one')), '../../.claude/skills/one')
    assert.equal(readFileSync(join(links, 'one', 'SKILL.md'), 'utf8'), '1')
    mkdirSync(join(links, 'own'))
    await t.skills.settle([])
    assert.deepEqual(readdirSync(links), ['own'])
    assert.ok(lstatSync(join(links, 'own')).isDirectory())
  }
})
