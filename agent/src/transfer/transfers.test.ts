import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createFakeClock } from '../kit/fake-clock.ts'
import { LinkFault } from '../link/link.ts'
import { createIdentities, readIdentityFacts } from '../processes/identity.ts'
import { makeTestHome } from '../test/home.ts'
import { createPaths } from '../workspace/paths.ts'
import { createTransfers, type Transfers } from './transfers.ts'

const canary = 'canary-of-the-export'

async function setUp() {
  const place = makeTestHome()
  const clock = createFakeClock()
  const transfersOf = async (home: string) =>
    createTransfers({
      paths: await createPaths(home),
      identities: createIdentities(readIdentityFacts(statSync(home))),
      clock,
    })
  const write = (path: string, text: string | Buffer) => {
    mkdirSync(dirname(join(place.home, path)), { recursive: true })
    writeFileSync(join(place.home, path), text)
  }
  const other = join(place.root, 'other')
  mkdirSync(other)
  return {
    ...place,
    clock,
    other,
    write,
    transfers: await transfersOf(place.home),
    target: await transfersOf(other),
    [Symbol.dispose]() {
      execFileSync('chmod', ['-R', 'u+rwX', place.root])
      place[Symbol.dispose]()
    },
  }
}

async function exported(transfers: Transfers, withCredentials: boolean): Promise<Buffer> {
  const { handle } = await transfers.openExport(withCredentials)
  const pieces: Buffer[] = []
  for (let offset = 0; ; ) {
    const { data_base64, eof } = await transfers.read(handle, offset)
    const piece = Buffer.from(data_base64, 'base64')
    pieces.push(piece)
    offset += piece.length
    if (eof) return Buffer.concat(pieces)
  }
}

async function imported(transfers: Transfers, bytes: Buffer): Promise<void> {
  const { handle } = await transfers.openImport()
  for (let offset = 0; offset < bytes.length; offset += 100_000)
    await transfers.write(handle, offset, bytes.subarray(offset, offset + 100_000))
  await transfers.commit(handle)
}

test('files, links, modes, empty folders and names arrive as they were', async () => {
  using it = await setUp()
  const large = Buffer.alloc(1_000_001, 'piece of a large file ')
  it.write('dir/large.bin', large)
  it.write('dir/name "with" spaces\nand a line', 'x')
  writeFileSync(Buffer.from(`${it.home}/bytes-\xff\xfe`, 'latin1'), 'bytes')
  it.write('run.sh', '#!/bin/sh\n')
  chmodSync(join(it.home, 'run.sh'), 0o751)
  mkdirSync(join(it.home, 'empty'))
  chmodSync(join(it.home, 'empty'), 0o555)
  symlinkSync('/usr/bin/env', join(it.home, 'absolute'))
  symlinkSync('nowhere', join(it.home, 'dangling'))
  linkSync(join(it.home, 'run.sh'), join(it.home, 'hard'))
  execFileSync('mkfifo', [join(it.home, 'pipe')])
  await imported(it.target, await exported(it.transfers, true))
  const at = (path: string) => join(it.other, path)
  assert.deepEqual(readFileSync(at('dir/large.bin')), large)
  assert.equal(readFileSync(at('dir/name "with" spaces\nand a line'), 'utf8'), 'x')
  assert.equal(readFileSync(Buffer.from(`${it.other}/bytes-\xff\xfe`, 'latin1'), 'utf8'), 'bytes')
  assert.equal(statSync(at('run.sh')).mode & 0o7777, 0o751)
  assert.equal(statSync(at('empty')).mode & 0o7777, 0o555)
  assert.deepEqual(
    ['absolute', 'dangling'].map((path) => readlinkSync(at(path))),
    ['/usr/bin/env', 'nowhere'],
  )
  assert.equal(statSync(at('hard')).ino, statSync(at('run.sh')).ino)
  assert.equal(lstatSync(at('pipe'), { throwIfNoEntry: false }), undefined)
})

test('an archive that is complete before it is read loses nothing', async () => {
  using it = await setUp()
  it.write('note', 'kept')
  const { handle } = await it.transfers.openExport(false)
  // Their ends come after that of the first one.
  for (let round = 0; round < 3; round += 1) await exported(it.transfers, false)
  const { data_base64 } = await it.transfers.read(handle, 0)
  assert.ok(Buffer.from(data_base64, 'base64').includes('workspace/note'))
  it.transfers.close(handle)
})

test('without credentials none is in the archive, under any name; with them they are', async () => {
  using it = await setUp()
  for (const path of ['.env', 'deep/.env', 'tls.pem', 'credentials/x', '.aws/config', '.roost/state'])
    it.write(path, canary)
  for (const [index, path] of ['tls.pem', '.env', 'credentials/x', '.roost/state'].entries())
    linkSync(join(it.home, path), join(it.home, `a-harmless-name-${index}`))
  it.write('project/.git/config', `url = https://token:${canary}@git.example/x`)
  it.write('other/.git/config', 'url = https://git.example/plain')
  it.write('.roost/setup.sh', 'true')
  const without = await exported(it.transfers, false)
  assert.equal(without.includes(canary), false)
  assert.ok(without.includes('https://git.example/plain'))
  assert.ok(without.includes('workspace/.roost/setup.sh'))
  assert.equal(without.includes('a-harmless-name'), false)
  const whole = await exported(it.transfers, true)
  assert.ok(whole.includes('workspace/credentials/x') && whole.includes('workspace/project/.git/config'))
  assert.equal(whole.includes('workspace/.roost/state'), false)
})

test('a chunk out of order, an unknown handle and a broken archive have named errors', async () => {
  using it = await setUp()
  const code = (expected: string) => (error: unknown) => error instanceof LinkFault && error.code === expected
  const { handle } = await it.transfers.openExport(false)
  await assert.rejects(it.transfers.read(handle, 5), code('invalid_message'))
  await assert.rejects(it.transfers.write(handle, 0, Buffer.alloc(1)), code('file_not_found'))
  it.transfers.close(handle)
  await assert.rejects(it.transfers.read(handle, 0), code('file_not_found'))
  await assert.rejects(imported(it.target, Buffer.alloc(2_000_000, 'no archive')), code('io_error'))
})

test('an abandoned transfer ends, and makes room for others', async () => {
  using it = await setUp()
  const handles = await Promise.all([1, 2, 3, 4].map(() => it.transfers.openImport()))
  await assert.rejects(it.transfers.openImport(), (error) => error instanceof LinkFault)
  await it.clock.advance(11 * 60_000)
  for (const { handle } of handles)
    await assert.rejects(it.transfers.commit(handle), (error) => error instanceof LinkFault)
  await it.transfers.openImport()
  await it.clock.advance(11 * 60_000)
})
