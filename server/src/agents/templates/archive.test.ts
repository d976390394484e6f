import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { maxTemplateArchiveBytes } from '@roost/contracts/link/template'
import { isFault } from '../../kit/fault.ts'
import { ArchiveChanged, type FolderArchive, openFolderArchive } from './archive.ts'

async function makeFolder(files: Record<string, string> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'roost-archive-'))
  const write = async (path: string, content: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
    await utimes(join(root, path), 1000, 1000)
  }
  for (const [path, content] of Object.entries(files)) await write(path, content)
  return { root, write, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) }
}

async function whole(archive: FolderArchive, step: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let offset = 0; offset < archive.size; offset += step) pieces.push(await archive.read(offset, step))
  return Buffer.concat(pieces)
}

const long = `${'deep/'.repeat(40)}${'n'.repeat(150)}`
const listed = (bytes: Buffer) => {
  const { stdout, stderr } = spawnSync('tar', ['--list', '--verbose', '--numeric-owner'], {
    input: bytes,
    env: { LC_ALL: 'C.UTF-8', TZ: 'UTC', PATH: process.env.PATH },
  })
  assert.equal(String(stderr), '')
  return String(stdout)
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('d'))
    .map((line) => line.replace(/\s+/g, ' '))
}

test('tar reads the archive: sorted names, modes without set-id bits, links, and no times', async () => {
  await using folder = await makeFolder({ 'b/ünï': 'x', a: '', [long]: 'far', 'run.sh': '#!/bin/sh\n' })
  await chmod(join(folder.root, 'run.sh'), 0o4777)
  await symlink('../outside', join(folder.root, 'link'))
  spawnSync('mkfifo', [join(folder.root, 'pipe')])
  const archive = await openFolderArchive(folder.root)
  const bytes = await whole(archive, archive.size)
  assert.equal(bytes.length, archive.size)
  assert.deepEqual(listed(bytes), [
    '-rw-r--r-- 1000/1000 0 1970-01-01 00:00 a',
    '-rw-r--r-- 1000/1000 1 1970-01-01 00:00 b/ünï',
    `-rw-r--r-- 1000/1000 3 1970-01-01 00:00 ${long}`,
    'lrwxrwxrwx 1000/1000 0 1970-01-01 00:00 link -> ../outside',
    '-rwxr-xr-x 1000/1000 10 1970-01-01 00:00 run.sh',
  ])
})

test('any chunk can be read: chunks of every size give the same bytes, also beyond the end', async () => {
  const files = { a: 'x'.repeat(511), b: '', 'c/d': 'y'.repeat(512), [long]: 'z'.repeat(1025) }
  await using folder = await makeFolder(files)
  const archive = await openFolderArchive(folder.root)
  const bytes = await whole(archive, archive.size)
  for (const step of [1, 7, 100, 511, 512, 513, 4096])
    assert.ok((await whole(archive, step)).equals(bytes), `chunks of ${step}`)
  assert.equal((await archive.read(archive.size, 10)).length, 0)
  assert.equal((await archive.read(archive.size + 5, 10)).length, 0)
})

test('equal folders give equal versions; every change gives another one', async () => {
  await using one = await makeFolder({ a: 'x', 'b/c': 'y' })
  await using two = await makeFolder({ 'b/c': 'y', a: 'x' })
  const versionOf = async (root: string) => (await openFolderArchive(root)).version
  // Times of folders are those of their creation.
  for (const { root } of [one, two]) await utimes(join(root, 'b'), 1000, 1000)
  const before = await versionOf(one.root)
  assert.equal(await versionOf(two.root), before)
  const seen = [before]
  await utimes(join(one.root, 'a'), 2000, 2000)
  seen.push(await versionOf(one.root))
  await chmod(join(one.root, 'a'), 0o755)
  seen.push(await versionOf(one.root))
  await one.write('d', '')
  seen.push(await versionOf(one.root))
  await rm(join(one.root, 'd'))
  await symlink('a', join(one.root, 'd'))
  seen.push(await versionOf(one.root))
  assert.equal(new Set(seen).size, 5)
})

test('a file that changes or becomes a link is never sent in part', async () => {
  await using folder = await makeFolder({ a: 'x'.repeat(1000), b: 'y' })
  const archive = await openFolderArchive(folder.root)
  await truncate(join(folder.root, 'a'), 10)
  await assert.rejects(archive.read(0, 4096), ArchiveChanged)
  await rm(join(folder.root, 'b'))
  await symlink('/etc/passwd', join(folder.root, 'b'))
  await assert.rejects(archive.read(2048, 4096), { code: 'ELOOP' })
})

test('template_unresolvable beyond 5,000 entries or 100 MiB; within them it fits into a delivery', async () => {
  const unresolvable = (words: RegExp) => (error: unknown) =>
    isFault(error, 'template_unresolvable') && words.test(String(error))
  await using folder = await makeFolder({ a: '' })
  await truncate(join(folder.root, 'a'), 100 * 1024 * 1024)
  // The longest names that templates may have.
  const name = (index: number) => `${String(index).padStart(4, '0')}${'n'.repeat(240)}`
  for (let index = 1; index < 5000; index += 1) await writeFile(join(folder.root, name(index)), '')
  assert.ok((await openFolderArchive(folder.root)).size < maxTemplateArchiveBytes)
  await writeFile(join(folder.root, 'one more'), '')
  await assert.rejects(openFolderArchive(folder.root), unresolvable(/5000 files/))
  await rm(join(folder.root, 'one more'))
  await truncate(join(folder.root, 'a'), 100 * 1024 * 1024 + 1)
  await assert.rejects(openFolderArchive(folder.root), unresolvable(/100 MiB/))
})
