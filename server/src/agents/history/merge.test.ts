import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change, StoredEntry } from '../../ports/workspace-history/port.ts'
import { mergeOf } from './merge.ts'

const entry = (path: string, content: string, kind: StoredEntry['kind'] = 'file'): StoredEntry => ({
  ...{ path, kind, mode: 0o644, owner: true, sparse: false, content },
})
const added = (path: string, content = 'new'): Change => ({
  ...{ path, change: 'added', before: null, after: entry(path, content) },
})
const changed = (path: string, content = 'new'): Change => ({
  ...{ path, change: 'changed', before: entry(path, 'old'), after: entry(path, content) },
})
const deleted = (path: string): Change => ({
  ...{ path, change: 'deleted', before: entry(path, 'old'), after: null },
})
const folder = (path: string, change: 'added' | 'deleted'): Change => ({
  ...{ path, change },
  before: change === 'deleted' ? entry(path, 'tree', 'folder') : null,
  after: change === 'added' ? entry(path, 'tree', 'folder') : null,
})
const renamed = (from: string, path: string): Change => ({
  ...{ path, from, change: 'renamed', before: entry(from, 'old'), after: entry(path, 'old') },
})

const cases: [string, { theirs: Change[]; ours: Change[]; paths: string[]; conflicts?: string[] }][] = [
  ['nothing happened meanwhile: everything is restored', { theirs: [changed('a')], ours: [], paths: [''] }],
  ['the attempt changed nothing', { theirs: [], ours: [changed('a')], paths: [] }],
  [
    'changes of different files are joined',
    { theirs: [changed('a'), deleted('b'), added('d/c')], ours: [changed('x')], paths: ['a', 'b', 'd/c'] },
  ],
  ['the same change is no conflict', { theirs: [changed('a')], ours: [changed('a')], paths: [] }],
  ['both deleted it', { theirs: [deleted('a')], ours: [deleted('a')], paths: [] }],
  [
    'both changed it differently',
    { theirs: [changed('a', 'one')], ours: [changed('a', 'two')], paths: ['a'], conflicts: ['a'] },
  ],
  [
    'we deleted what they changed',
    { theirs: [changed('a')], ours: [deleted('a')], paths: ['a'], conflicts: ['a'] },
  ],
  [
    'a renamed file that we changed',
    { theirs: [renamed('a', 'b')], ours: [changed('a', 'two')], paths: ['a', 'b'], conflicts: ['a'] },
  ],
  [
    'a new folder is taken whole',
    { theirs: [folder('d', 'added'), added('d/a'), added('d/b')], ours: [added('x')], paths: ['d'] },
  ],
  [
    'both added the folder: only their files are taken',
    {
      theirs: [folder('d', 'added'), added('d/a')],
      ours: [folder('d', 'added'), added('d/own')],
      paths: ['d/a'],
    },
  ],
  [
    'a deleted folder in which we added a file',
    {
      theirs: [folder('d', 'deleted'), deleted('d/a')],
      ours: [added('d/own')],
      paths: ['d/a'],
      conflicts: ['d/own'],
    },
  ],
  [
    'a deleted folder that we deleted files in',
    { theirs: [folder('d', 'deleted'), deleted('d/a')], ours: [deleted('d/b')], paths: ['d'] },
  ],
  [
    'they added a file to a folder that we deleted',
    {
      theirs: [added('d/new')],
      ours: [folder('d', 'deleted'), deleted('d/a')],
      paths: ['d/new'],
      conflicts: ['d/new'],
    },
  ],
]
for (const [title, { theirs, ours, paths, conflicts = [] }] of cases)
  test(title, () => {
    const merged = mergeOf(theirs, ours, false)
    assert.deepEqual([merged.paths.sort(), merged.conflicts], [paths, conflicts])
  })

test('with overwrite, their folder replaces our file at its path', () => {
  const theirs = [deleted('n'), folder('n', 'added'), added('n/a')]
  assert.deepEqual(mergeOf(theirs, [changed('n')], true).paths, ['n'])
  assert.deepEqual(mergeOf(theirs, [changed('n')], false).conflicts, ['n', 'n/a'])
})

test('with overwrite, their deletion of a folder removes our new file', () => {
  const merged = mergeOf([folder('d', 'deleted'), deleted('d/a')], [added('d/own')], true)
  assert.deepEqual(merged.paths, ['d'])
})
