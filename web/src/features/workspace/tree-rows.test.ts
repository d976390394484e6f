import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FolderState, treeRows, treeStep, typeAhead } from './tree-rows.ts'

const home = '/home/developer'
const folder = (path: string) => ({
  name: path.split('/').at(-1) ?? '',
  path: `${home}/${path}`,
  type: 'directory' as const,
})
const file = (path: string) => ({ ...folder(path), type: 'file' as const })
const loaded = (...entries: NonNullable<FolderState['entries']>): FolderState => ({
  entries,
  isFailed: false,
})

const folders = new Map([
  ['', loaded(folder('docs'), folder('src'), file('a.md'), file('b.md'))],
  ['src', loaded(folder('src/deep'), file('src/x.ts'))],
])
const rows = treeRows({ folders, open: new Set(['src', 'src/deep']), removed: new Set() })
const names = rows.map(({ path }) => path)

test('expanded folders show their entries or that they are loading', () => {
  assert.deepEqual(names, ['docs', 'src', 'src/deep', 'src/x.ts', 'a.md', 'b.md'])
  assert.deepEqual(
    rows.map(({ level, position, siblings }) => `${level}:${position}/${siblings}`),
    ['1:1/4', '1:2/4', '2:1/2', '2:2/2', '1:3/4', '1:4/4'],
  )
  assert.deepEqual(
    rows.filter(({ isLoading }) => isLoading).map(({ path }) => path),
    ['src/deep'],
  )
})

test('a removed folder disappears with its content', () => {
  const left = treeRows({ folders, open: new Set(['src']), removed: new Set(['src', 'a.md']) })
  assert.deepEqual(
    left.map(({ path, siblings }) => `${path} of ${siblings}`),
    ['docs of 2', 'b.md of 2'],
  )
})

test('arrows move, expand, collapse, enter and leave', () => {
  const at = (path: string) => names.indexOf(path)
  const move = (path: string) => ({ kind: 'move', to: at(path) })
  assert.deepEqual(treeStep(rows, at('docs'), 'ArrowDown', 5), move('src'))
  assert.deepEqual(treeStep(rows, at('docs'), 'ArrowUp', 5), move('docs'))
  assert.deepEqual(treeStep(rows, at('docs'), 'End', 5), move('b.md'))
  assert.deepEqual(treeStep(rows, at('b.md'), 'Home', 5), move('docs'))
  assert.deepEqual(treeStep(rows, at('docs'), 'PageDown', 3), move('src/x.ts'))
  assert.equal(treeStep(rows, at('docs'), 'ArrowRight', 5)?.kind, 'expand')
  assert.deepEqual(treeStep(rows, at('src'), 'ArrowRight', 5), move('src/deep'))
  assert.equal(treeStep(rows, at('src/deep'), 'ArrowRight', 5), null)
  assert.equal(treeStep(rows, at('src'), 'ArrowLeft', 5)?.kind, 'collapse')
  assert.deepEqual(treeStep(rows, at('src/x.ts'), 'ArrowLeft', 5), move('src'))
  assert.equal(treeStep(rows, at('a.md'), 'ArrowLeft', 5), null)
  assert.equal(treeStep(rows, at('a.md'), 'Enter', 5)?.kind, 'choose')
  assert.equal(treeStep([], 0, 'ArrowDown', 5), null)
})

test('type-ahead finds the next matching name and wraps around', () => {
  assert.equal(typeAhead(rows, 0, 'b'), names.indexOf('b.md'))
  assert.equal(typeAhead(rows, names.indexOf('b.md'), 'D'), names.indexOf('docs'))
  assert.equal(typeAhead(rows, names.indexOf('a.md'), 'a.m'), names.indexOf('a.md'))
  assert.equal(typeAhead(rows, 0, 'zz'), null)
})
