import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxUploadBytes } from '@roost/contracts/agents/workspace'
import {
  checkOffered,
  foldersOf,
  freeName,
  maxOffered,
  type PlannedFile,
  presentOf,
  resolvePresent,
} from './plan.ts'

const offered = (path: string, size = 1) => ({ path, file: { name: path, size } as File })
const pathsOf = (files: readonly PlannedFile[]) => files.map(({ path }) => path)

test('files keep their paths below the target folder', () => {
  const { files, refusals } = checkOffered([offered('a.pdf'), offered('photos/2026/b.png')], 'docs')
  assert.deepEqual(pathsOf(files), ['docs/a.pdf', 'docs/photos/2026/b.png'])
  assert.deepEqual(refusals, [])
  assert.deepEqual(foldersOf(files), ['docs', 'docs/photos/2026'])
})

test('refused files are listed with a reason', () => {
  const { files, refusals } = checkOffered(
    [offered('.env'), offered('big.zip', maxUploadBytes + 1), offered('fits.zip', maxUploadBytes)],
    '',
  )
  assert.deepEqual(pathsOf(files), ['fits.zip'])
  assert.match(refusals[0] ?? '', /“\.env” is protected/)
  assert.match(refusals[1] ?? '', /“big\.zip” is too large: .* at most 100 MB/)
  const many = checkOffered(Array(maxOffered + 1).fill(offered('a')), '')
  assert.deepEqual([many.files.length, many.refusals.length], [0, 1])
})

test('files with the same name in one selection do not replace each other', () => {
  const { files } = checkOffered(
    [offered('image.png'), offered('image.png'), offered('a/.x'), offered('a/.x')],
    '',
  )
  assert.deepEqual(pathsOf(files), ['image.png', 'image-1.png', 'a/.x', 'a/.x-1'])
})

test('one decision applies to all files whose name is taken', () => {
  const { files } = checkOffered([offered('a.txt'), offered('a-1.txt'), offered('new/a.txt')], 'docs')
  const names = new Map([
    ['docs', new Set(['a.txt'])],
    ['docs/new', new Set<string>()],
  ])
  assert.deepEqual(pathsOf(presentOf(files, names)), ['docs/a.txt'])
  assert.deepEqual(pathsOf(resolvePresent(files, names, 'replace')), pathsOf(files))
  assert.deepEqual(pathsOf(resolvePresent(files, names, 'skip')), ['docs/a-1.txt', 'docs/new/a.txt'])
  assert.deepEqual(pathsOf(resolvePresent(files, names, 'keep')), [
    'docs/a-2.txt',
    'docs/a-1.txt',
    'docs/new/a.txt',
  ])
})

test('a free name keeps the ending', () => {
  assert.equal(freeName('a.tar.gz', new Set(['a.tar.gz'])), 'a.tar-1.gz')
  assert.equal(freeName('.profile', new Set(['.profile', '.profile-1'])), '.profile-2')
  assert.equal(freeName('Makefile', new Set(['Makefile'])), 'Makefile-1')
})
