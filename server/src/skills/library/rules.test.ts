import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFrontmatter } from './frontmatter.ts'
import { catalogRootOf, packageOf, skillsIn, type TreeEntry } from './rules.ts'

const entry = (path: string, kind: TreeEntry['kind'] = 'file'): TreeEntry => ({
  path,
  kind,
  sha: `sha-${path}`,
  size: 1,
})

test('a package has regular files only, with a warning for each refused one', () => {
  const found = packageOf(
    [
      entry('skills/a/SKILL.md'),
      entry('skills/a/bin/run', 'executable'),
      entry('skills/a/link', 'link'),
      entry('skills/a/module', 'submodule'),
      entry('skills/a/../../etc/cron.d/x'),
      entry('skills/a/bad\\name'),
      entry('skills/a/new\nline'),
      entry('skills/a/.env'),
      entry('skills/a/sub/claude.md'),
      entry('skills/a/.roost-skill.json'),
      entry('skills/a/node_modules/x/index.js'),
      entry('skills/a/__pycache__/x.pyc'),
      entry('skills/a/.GIT/config'),
      entry('skills/a/y.pyc'),
      entry('skills/ab/other.md'),
      entry('skills/a/bin', 'folder'),
    ],
    'skills/a',
  )
  assert.deepEqual(
    found.files.map(({ path, executable }) => [path, executable]),
    [
      ['SKILL.md', false],
      ['bin/run', true],
    ],
  )
  assert.deepEqual(found.warnings, [
    'symlink_skipped:link',
    'non_regular_skipped:module',
    'non_regular_skipped:../../etc/cron.d/x',
    'non_regular_skipped:bad\\name',
    'non_regular_skipped:new?line',
    'protected_name_skipped:.env',
    'protected_name_skipped:sub/claude.md',
    'protected_name_skipped:.roost-skill.json',
  ])
})

test('a package has at most 200 files', () => {
  const files = (count: number) => Array.from({ length: count }, (_, index) => entry(`s/a/${index}`))
  assert.equal(packageOf(files(200), 's/a').has_too_many, false)
  assert.equal(packageOf(files(201), 's/a').has_too_many, true)
})

test('invalid skill names and linked instruction files are skipped', () => {
  const found = skillsIn(
    [
      ...['ok', '..', '-x', 'a b', 'linked'].map((name) => entry(`skills/${name}`, 'folder')),
      ...['ok', '..', '-x', 'a b'].map((name) => entry(`skills/${name}/SKILL.md`)),
      entry('skills/linked/SKILL.md', 'link'),
    ],
    'skills',
  )
  assert.deepEqual(
    found.map(({ name }) => name),
    ['ok'],
  )
})

test('the root of a catalog is a plain folder of the repository', () => {
  assert.equal(catalogRootOf({ skills_root: './packs/' }), 'packs')
  for (const value of [
    null,
    [],
    { skills_root: 1 },
    { skills_root: '../x' },
    { skills_root: '/x' },
    { skills_root: '' },
  ])
    assert.equal(catalogRootOf(value), null)
})

test('unreadable front matter gets a warning; aliases are not expanded', () => {
  const bomb = `---\na: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n---\nWords.\n`
  const unclosed = '---\ndescription: [a\n---\nWords.\n'
  const colon = '---\ndescription: When: x\ntitle: b\n---\nWords.\n'
  const long = `---\nx: "${'y'.repeat(70_000)}"\n---\nWords.`
  for (const content of [bomb, '---\n- 1\n---\nWords.\n', long, unclosed, colon]) {
    const facts = readFrontmatter(content)
    assert.deepEqual([facts.description, facts.warnings], ['Words.', ['frontmatter_invalid']])
  }
  const odd = readFrontmatter(
    '---\ndescription: 5\nautomation: often\nallowed-tools: Read, Write\nrequires: [x]\n---\n# H\n\nPara\n',
  )
  assert.deepEqual(
    [odd.description, odd.automation, odd.allowed_tools, odd.requires.env, odd.warnings],
    ['Para', null, ['Read', 'Write'], [], []],
  )
  assert.equal(readFrontmatter('').description, null)
})
