import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { type Pack, pack } from 'tar-stream'
import { packStage, unpackStage } from './content.ts'

test('links of templates have the same target in the archive', async () => {
  await using world = await openWorld()
  const { from, to } = world
  await mkdir(join(from, 'templates/a'), { recursive: true })
  await writeFile(join(from, 'templates/a/file'), 'text')
  for (const [name, target] of Object.entries(targets)) await symlink(target, join(from, 'templates/a', name))
  await unpackAt(packStage(from), to)
  assert.equal(await readFile(join(to, 'platform/templates/a/file'), 'utf8'), 'text')
  for (const [name, target] of Object.entries(targets))
    assert.equal(await readlink(join(to, 'platform/templates/a', name)), target)
})

test('files and folders of templates keep their modes', async () => {
  await using world = await openWorld()
  const archive = pack() as Pack & Readable
  archive.entry({ name: 'roost/platform/database', mode: 0o644 }, 'x')
  archive.entry({ name: 'roost/platform/templates/a', type: 'directory', mode: 0o755 })
  archive.entry({ name: 'roost/platform/templates/a/setup.sh', mode: 0o4755 }, 'x')
  archive.finalize()
  await unpackStage(archive, world.to)
  const modeOf = async (path: string) => (await stat(join(world.to, path))).mode & 0o7777
  assert.equal(await modeOf('database'), 0o600)
  assert.equal(await modeOf('templates/a'), 0o755)
  assert.equal(await modeOf('templates/a/setup.sh'), 0o755)
})

test('a link in a changed archive leads no file out of the folder', async () => {
  await using world = await openWorld()
  const archive = pack() as Pack & Readable
  archive.entry({ name: 'roost/platform/templates', type: 'symlink', linkname: world.from })
  archive.entry({ name: 'roost/platform/templates/planted' }, 'x')
  archive.finalize()
  await assert.rejects(unpackStage(archive, world.to), /EEXIST/)
  assert.deepEqual(await readdir(world.from), [])
})

test('an archive that ends within a file is refused', async () => {
  await using world = await openWorld()
  const archive = pack()
  archive.entry({ name: 'roost/platform/database' }, 'x'.repeat(1000))
  archive.finalize()
  const whole = await buffer(archive)
  for (const bytes of [300, 700, 1100]) {
    const cut = Readable.from([whole.subarray(0, bytes)])
    await assert.rejects(unpackStage(cut, join(world.to, String(bytes))), /Unexpected end of data/)
  }
})

const targets = { near: './file', up: '../a/file', hidden: '.file', plain: 'file' }

async function unpackAt(archive: NodeJS.ReadableStream, folder: string): Promise<void> {
  const tar = spawn('tar', ['-x', '-f', '-', '-C', folder], { stdio: ['pipe', 'ignore', 'inherit'] })
  archive.pipe(tar.stdin)
  assert.equal(await new Promise((done) => tar.once('close', done)), 0)
}

async function openWorld() {
  const folder = await mkdtemp(join(tmpdir(), 'roost-content-'))
  const [from, to] = [join(folder, 'from'), join(folder, 'to')]
  for (const each of [from, to]) await mkdir(each)
  return { from, to, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}
