import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import type { TreeEntry } from '../../ports/git/port.ts'
import { contentBounds, planContent, rejectEscapingLink } from './git-content.ts'

const sha = '1'.repeat(40)
const entry = (path: string, kind: TreeEntry['kind'] = 'file', size = 1): TreeEntry => ({
  path,
  kind,
  sha,
  size,
})

test('accepts files, executables and links, and skips submodules by name', () => {
  const plan = planContent([
    entry('a', 'folder', 0),
    entry('a/run.sh', 'executable'),
    entry('a/sub', 'submodule', 0),
    entry('b', 'link'),
    entry('CLAUDE.md'),
  ])
  assert.deepEqual(plan, {
    folders: ['a'],
    files: [
      { path: 'a/run.sh', sha, executable: true },
      { path: 'CLAUDE.md', sha, executable: false },
    ],
    links: [{ path: 'b', sha }],
    bytes: 3,
    leftOut: ['a/sub'],
  })
})

for (const path of [
  '../x',
  'a/../../x',
  '/etc/passwd',
  './x',
  'a//b',
  'a\\b',
  'a\nb',
  'a\0b',
  '.git/config',
  'a/.GIT/hooks/post-checkout',
  'git~1',
  '.g\u200cit/config',
  '.git ',
  'x\ufffd',
  'x'.repeat(300),
  '.ssh/authorized_keys',
  '.roost/keys/host',
  '.roost-initialized',
]) {
  test(`400 template_unresolvable: the name ${JSON.stringify(path.slice(0, 40))}`, () => {
    const parents = path.split('/').slice(0, -1)
    const folders = parents.map((_, index) => entry(parents.slice(0, index + 1).join('/'), 'folder', 0))
    assert.throws(
      () => planContent([...folders, entry(path)]),
      (error) => isFault(error, 'template_unresolvable'),
    )
  })
}

test('400 template_unresolvable: duplicate, inside a link or file, too many or too large', () => {
  const trees: TreeEntry[][] = [
    [entry('a'), entry('a')],
    [entry('a', 'link'), entry('a/b')],
    [entry('a'), entry('a/b')],
    [entry('missing/b')],
    [entry('a', 'file', contentBounds.bytes), entry('b')],
    Array.from({ length: contentBounds.entries + 1 }, (_, index) => entry(`f${index}`)),
  ]
  for (const [index, tree] of trees.entries()) {
    assert.throws(
      () => planContent(tree),
      (error) => isFault(error, 'template_unresolvable'),
      String(index),
    )
  }
})

test('a link may only point inside the workspace', () => {
  const folders = ['a', 'a/b'].map((path) => entry(path, 'folder', 0))
  const plan = planContent([...folders, entry('a/in', 'link'), entry('up', 'link'), entry('x')])
  for (const target of ['../x', 'b', './b/later', '../a/b/../in']) rejectEscapingLink(plan, 'a/in', target)
  for (const target of [
    '/etc/passwd',
    '../../x',
    '..//../x',
    '',
    'b/../../../x',
    '../up/../../x',
    '../up/x',
    `../${'x/'.repeat(2048)}`,
  ]) {
    assert.throws(
      () => rejectEscapingLink(plan, 'a/in', target),
      (error) => isFault(error, 'template_unresolvable'),
      target,
    )
  }
})
