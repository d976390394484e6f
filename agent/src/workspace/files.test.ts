import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { fileChunkBytes } from '@roost/contracts/link/messages'
import { createFakeClock } from '../kit/fake-clock.ts'
import { createIdentities } from '../processes/identity.ts'
import { identitiesOf, makeTestHome } from '../test/home.ts'
import { deletePath, makeDirectory, movePath } from './change.ts'
import { readWorkspaceInfo } from './info.ts'
import { listFiles } from './list.ts'
import { createPacker } from './pack.ts'
import { createPaths } from './paths.ts'
import { readChunk, statFile } from './read.ts'
import { createAuthorizedKeys, readHostKeys } from './ssh-keys.ts'
import { createWriter } from './write.ts'

async function setUp() {
  const place = makeTestHome()
  const { home, root } = place
  const clock = createFakeClock()
  const paths = await createPaths(home)
  mkdirSync(join(root, 'outside'))
  writeFileSync(join(root, 'outside', 'secret.txt'), 'secret')
  mkdirSync(join(home, 'docs', 'deep'), { recursive: true })
  writeFileSync(join(home, 'docs', 'a.txt'), 'hello')
  writeFileSync(join(home, 'docs', 'deep', 'b.txt'), 'world!')
  symlinkSync(join(root, 'outside'), join(home, 'way-out'))
  symlinkSync('/etc/passwd', join(home, 'file-out'))
  symlinkSync('../../../../etc', join(home, 'docs', 'relative-out'))
  symlinkSync('docs', join(home, 'inside'))
  symlinkSync('loop', join(home, 'loop'))
  symlinkSync(join(root, 'outside', 'new.txt'), join(home, 'dangling-out'))
  const writer = createWriter(paths, join(home, '.roost', 'parts'), clock)
  let uploads = 0
  const put = (path: string, text: string, more: object = {}) => {
    uploads += 1
    return writer.write({
      path,
      upload_id: `u${uploads}`,
      offset: 0,
      data_base64: Buffer.from(text).toString('base64'),
      last: true,
      on_conflict: 'replace',
      ...more,
    })
  }
  return { place, home, root, clock, paths, writer, put, [Symbol.dispose]: place[Symbol.dispose] }
}

test('no path or link leads any operation out of the workspace', async () => {
  using t = await setUp()
  const { home, root, paths } = t
  const leaving = [
    '/etc/passwd',
    `${home}/../outside/secret.txt`,
    `${home}/docs/../../outside/secret.txt`,
    `${home}-not/x`,
    `${home}/way-out/secret.txt`,
    `${home}/docs/relative-out/passwd`,
    `${home}/inside/relative-out/passwd`,
    'relative/path',
    '',
    '..',
  ]
  const packer = createPacker(paths, join(home, '.roost', 'packs'), identitiesOf(home), t.clock)
  for (const path of leaving) {
    const refused = { code: 'protected_path' }
    await assert.rejects(readChunk(paths, { path, offset: 0, length: 10 }), refused, path)
    await assert.rejects(statFile(paths, path), refused, path)
    await assert.rejects(listFiles(paths, { path, depth: 1, show_hidden: true, limit: 10 }), refused, path)
    await assert.rejects(t.put(path, 'evil'), refused, path)
    await assert.rejects(makeDirectory(paths, { path: path }), refused, path)
    await assert.rejects(packer.pack(path, 1e6), refused, path)
    await assert.rejects(deletePath(paths, { path }), refused, path)
  }
  for (const path of [`${home}/file-out`, `${home}/dangling-out`])
    await assert.rejects(t.put(path, 'evil'), { code: 'protected_path' }, path)
  await assert.rejects(readChunk(paths, { path: `${home}/file-out`, offset: 0, length: 10 }), {
    code: 'protected_path',
  })
  assert.equal(readFileSync(join(root, 'outside', 'secret.txt'), 'utf8'), 'secret')
  assert.deepEqual(readdirSync(join(root, 'outside')), ['secret.txt'])
  await assert.rejects(readChunk(paths, { path: `${home}/a\0b`, offset: 0, length: 1 }), {
    code: 'invalid_message',
  })
})

test('links inside the workspace are followed; loops and missing files are reported', async () => {
  using t = await setUp()
  const { home, paths } = t
  const read = (path: string) => readChunk(paths, { path: join(home, path), offset: 0, length: 100 })
  const { data_base64, size, eof } = await read('inside/a.txt')
  assert.deepEqual([Buffer.from(data_base64, 'base64').toString(), size, eof], ['hello', 5, true])
  await assert.rejects(read('loop'), { code: 'protected_path' })
  await assert.rejects(read('missing'), { code: 'file_not_found' })
  await assert.rejects(read('docs'), { code: 'not_a_file' })
  await assert.rejects(read('docs/a.txt/x'), { code: 'not_a_directory' })
  await t.put(`${home}/inside/via-link.txt`, 'through')
  assert.equal(readFileSync(join(home, 'docs', 'via-link.txt'), 'utf8'), 'through')
})

test('deleting a link keeps its target', async () => {
  using t = await setUp()
  await deletePath(t.paths, { path: `${t.home}/way-out` })
  assert.deepEqual(readdirSync(join(t.root, 'outside')), ['secret.txt'])
  await deletePath(t.paths, { path: `${t.home}/docs` })
  assert.ok(!readdirSync(t.home).includes('docs'))
  await assert.rejects(deletePath(t.paths, { path: t.home }), { code: 'protected_path' })
  await assert.rejects(deletePath(t.paths, { path: `${t.home}/gone` }), { code: 'file_not_found' })
})

test('a file or folder is moved, and never over another one', async () => {
  using t = await setUp()
  const { home, paths } = t
  const move = (from: string, to: string, guarded = false) =>
    movePath(paths, { from: `${home}/${from}`, to: `${home}/${to}`, guarded })
  await assert.rejects(move('docs/a.txt', 'docs/deep/b.txt'), { code: 'io_error' })
  assert.deepEqual(await move('docs/a.txt', 'new/place/c.txt', true), { path: `${home}/new/place/c.txt` })
  assert.equal(readFileSync(join(home, 'new/place/c.txt'), 'utf8'), 'hello')
  await assert.rejects(move('docs/a.txt', 'x'), { code: 'file_not_found' })
  await move('docs/deep', 'deep')
  assert.equal(readFileSync(join(home, 'deep/b.txt'), 'utf8'), 'world!')
  await assert.rejects(move('deep', 'deep/inside'), { code: 'io_error' })
})

test('a move opens nothing that is closed', async () => {
  using t = await setUp()
  const { home, root, paths } = t
  writeFileSync(join(home, 'docs', 'server.pem'), 'secret')
  writeFileSync(join(home, '.env'), 'KEY=1')
  const refused = { code: 'protected_path' }
  for (const [from, to, guarded] of [
    ['.env', 'readable.txt', false],
    ['docs/server.pem', 'readable.txt', true],
    ['docs/a.txt', '.git/config', false],
    ['docs/a.txt', 'way-out/planted.txt', false],
    ['docs/a.txt', '../planted.txt', false],
    // A folder may hold what is the owner's alone.
    ['docs', 'other', true],
    ['way-out', 'other', false],
    ['file-out', 'other.txt', false],
  ] as const) {
    const request = { from: `${home}/${from}`, to: `${home}/${to}`, guarded }
    await assert.rejects(movePath(paths, request), refused, `${from} to ${to}`)
  }
  assert.deepEqual(readdirSync(join(root, 'outside')), ['secret.txt'])
})

test('a file written in chunks appears complete after the last chunk', async () => {
  using t = await setUp()
  const path = `${t.home}/new/folder/big.bin`
  const bytes = Buffer.alloc(fileChunkBytes * 2 + 17, 'abc')
  const chunk = (offset: number, last: boolean) =>
    t.writer.write({
      path,
      upload_id: 'big',
      offset,
      data_base64: bytes.subarray(offset, offset + fileChunkBytes).toString('base64'),
      last,
      on_conflict: 'replace',
    })
  await chunk(0, false)
  await assert.rejects(chunk(fileChunkBytes * 2, false), { code: 'invalid_message' })
  await assert.rejects(chunk(fileChunkBytes, false), { code: 'invalid_message' })
  await chunk(0, false)
  await chunk(fileChunkBytes, false)
  assert.ok(!readdirSync(t.home).includes('new'))
  assert.deepEqual(await chunk(fileChunkBytes * 2, true), { path, size: bytes.length })
  assert.ok(readFileSync(path).equals(bytes))
  assert.deepEqual(readdirSync(join(t.home, '.roost', 'parts')), [])
})

test('a repeated chunk changes nothing, and the last one sets the length', async () => {
  using t = await setUp()
  const path = `${t.home}/resumed.bin`
  const send = (offset: number, text: string, last = false) =>
    t.writer.write({
      path,
      upload_id: 'resumed',
      offset,
      data_base64: Buffer.from(text).toString('base64'),
      last,
      on_conflict: 'replace',
    })
  await send(0, 'abcd')
  await send(4, 'efgh')
  await send(4, 'efgh')
  await send(2, 'cdef')
  await send(8, 'ij')
  assert.deepEqual(await send(8, 'i', true), { path, size: 10 })
  assert.equal(readFileSync(path, 'utf8'), 'abcdefghi')
})

test('an abandoned upload is dropped', async () => {
  using t = await setUp()
  await t.put(`${t.home}/never.txt`, 'half', { last: false })
  assert.equal(readdirSync(join(t.home, '.roost', 'parts')).length, 1)
  await t.clock.advance(10 * 60_000)
  while (readdirSync(join(t.home, '.roost', 'parts')).length > 0) await t.clock.advance(1)
  assert.ok(!readdirSync(t.home).includes('never.txt'))
})

test('replacing keeps the file mode, renaming picks a free name', async () => {
  using t = await setUp()
  const path = `${t.home}/run.sh`
  writeFileSync(path, 'old')
  chmodSync(path, 0o750)
  await t.put(path, 'new')
  assert.equal(readFileSync(path, 'utf8'), 'new')
  assert.equal(statSync(path).mode & 0o777, 0o750)
  assert.equal((await t.put(path, 'second', { on_conflict: 'rename' })).path, `${t.home}/run-1.sh`)
  assert.equal(
    (await t.put(path, 'third', { on_conflict: 'rename', mode: 0o600 })).path,
    `${t.home}/run-2.sh`,
  )
  assert.equal(statSync(`${t.home}/run-2.sh`).mode & 0o777, 0o600)
  await assert.rejects(t.put(`${t.home}/docs`, 'x'), { code: 'not_a_file' })
})

test('a file from somebody else is marked by the right of the group to write it', async () => {
  using t = await setUp()
  const path = `${t.home}/docs/new.json`
  const modeOf = () => statSync(path).mode & 0o777
  await t.put(path, '{}', { guarded: true })
  assert.equal(modeOf(), 0o664)
  await t.put(path, '{}', { guarded: true, mode: 0o600 })
  assert.equal(modeOf(), 0o620)
  await t.put(path, '{}', { mode: 0o644 })
  assert.equal(modeOf(), 0o644)
  await t.put(path, '{}', { guarded: true })
  assert.equal(modeOf(), 0o664)
})

const otherVolume = '/dev/shm'
const hasOtherVolume = existsSync(otherVolume) && statSync(otherVolume).dev !== statSync('/tmp').dev

test('a file from another volume keeps its mode', { skip: !hasOtherVolume }, async () => {
  using t = await setUp()
  const parts = mkdtempSync(join(otherVolume, 'roost-parts-'))
  try {
    const writer = createWriter(t.paths, parts, t.clock)
    const path = `${t.home}/docs/a.txt`
    for (const on_conflict of ['replace', 'rename'] as const) {
      const data_base64 = Buffer.from(on_conflict).toString('base64')
      const chunk = { upload_id: on_conflict, offset: 0, data_base64, last: true, mode: 0o757 }
      const placed = await writer.write({ ...chunk, path, on_conflict })
      assert.equal(readFileSync(placed.path, 'utf8'), on_conflict)
      assert.equal(statSync(placed.path).mode & 0o777, 0o757)
    }
    assert.deepEqual(readdirSync(parts), [])
    assert.deepEqual(readdirSync(join(t.home, 'docs')).sort(), ['a-1.txt', 'a.txt', 'deep', 'relative-out'])
  } finally {
    rmSync(parts, { recursive: true })
  }
})

test('a deleted folder takes names that are not UTF-8 with it, and spares the targets of links', async () => {
  using t = await setUp()
  const deep = join(t.home, 'docs', 'deep')
  writeFileSync(Buffer.concat([Buffer.from(`${deep}/`), Buffer.from([0xff, 0xfe])]), 'x')
  symlinkSync(join(t.root, 'outside'), join(deep, 'to-outside'))
  await deletePath(t.paths, { path: `${t.home}/docs` })
  assert.ok(!readdirSync(t.home).includes('docs'))
  assert.deepEqual(readdirSync(join(t.root, 'outside')), ['secret.txt'])
})

test('the information about the workspace shows nothing that is outside it or the owner’s alone', async () => {
  using t = await setUp()
  const metrics = join(t.home, 'metrics.json')
  const read = async () => (await readWorkspaceInfo(t.paths)).metrics_json
  writeFileSync(join(t.home, '.mcp.json'), '{}')
  for (const [to, expected] of [
    [join(t.root, 'outside', 'secret.txt'), null],
    ['.mcp.json', null],
    ['docs', null],
    ['docs/a.txt', 'hello'],
  ] as const) {
    rmSync(metrics, { force: true })
    symlinkSync(to, metrics)
    assert.equal(await read(), expected, to)
  }
  rmSync(metrics)
  writeFileSync(metrics, Buffer.alloc(fileChunkBytes + 1, '1'))
  assert.equal(await read(), null)
  writeFileSync(metrics, Buffer.alloc(fileChunkBytes, '1'))
  assert.equal((await read())?.length, fileChunkBytes)
})

test('a pipe in place of a file is ignored and blocks nothing', async () => {
  using t = await setUp()
  for (const name of ['metrics.json', 'template.yaml', '.gitignore', '.env'])
    execFileSync('mkfifo', [join(t.home, name)])
  // In a process of its own, which can be killed: a blocked thread would keep this one from ending.
  const output = await outputOf(`
    import { createPaths } from '${import.meta.dirname}/paths.ts'
    import { readWorkspaceInfo } from '${import.meta.dirname}/info.ts'
    import { readPlainFile } from '${import.meta.dirname}/plain-file.ts'
    import { writeGitignore } from '${import.meta.dirname}/gitignore.ts'
    import { ownersFilesOf } from '${import.meta.dirname}/../test/home.ts'
    const home = '${t.home}'
    const { metrics_json, template_yaml } = await readWorkspaceInfo(await createPaths(home))
    const texts = [metrics_json, template_yaml, await readPlainFile(home, '.env'), await ownersFilesOf(home).read('.env')]
    await writeGitignore(home)
    process.stdout.write(JSON.stringify(texts))`)
  assert.equal(output, '[null,null,null,null]')
})

/** The limit ends a program that hangs. */
async function outputOf(module: string): Promise<string> {
  const args = ['--input-type=module', '--eval', module]
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    timeout: 120_000,
    killSignal: 'SIGKILL',
  })
  return stdout
}

test('the tree has sizes, an entry limit and a depth limit', async () => {
  using t = await setUp()
  const list = (options: object) =>
    listFiles(t.paths, { path: t.home, depth: 1, show_hidden: false, limit: 5000, ...options })
  const flat = await list({})
  const docs = flat.tree.find(({ name }) => name === 'docs')
  assert.equal(docs?.type, 'directory')
  assert.equal(docs?.file_count, 3)
  assert.equal(docs?.children, undefined)
  const deep = await list({ depth: 5 })
  const inner = deep.tree.find(({ name }) => name === 'docs')?.children
  assert.deepEqual(
    inner?.map(({ name, type, size }) => [name, type, type === 'file' && name === 'a.txt' ? size : null]),
    [
      ['deep', 'directory', null],
      ['a.txt', 'file', 5],
      ['relative-out', 'file', null],
    ],
  )
  assert.equal(inner?.[0]?.children?.[0]?.path, `${t.home}/docs/deep/b.txt`)
  const cut = await list({ depth: 5, limit: 2 })
  assert.equal(cut.truncated, true)
  writeFileSync(join(t.home, '.hidden'), '')
  assert.ok(!(await list({})).tree.some(({ name }) => name === '.hidden'))
  assert.ok((await list({ show_hidden: true })).tree.some(({ name }) => name === '.hidden'))
  await assert.rejects(list({ path: `${t.home}/docs/a.txt` }), { code: 'not_a_directory' })
})

test('a chunk is at most 256 KiB, whatever size is requested', async () => {
  using t = await setUp()
  writeFileSync(join(t.home, 'big'), Buffer.alloc(fileChunkBytes + 5))
  const first = await readChunk(t.paths, { path: `${t.home}/big`, offset: 0, length: 1e9 })
  assert.equal(Buffer.from(first.data_base64, 'base64').length, fileChunkBytes)
  assert.equal(first.eof, false)
  const rest = await readChunk(t.paths, { path: `${t.home}/big`, offset: fileChunkBytes, length: 1e9 })
  assert.equal(Buffer.from(rest.data_base64, 'base64').length, 5)
  assert.equal(rest.eof, true)
  const beyond = await readChunk(t.paths, { path: `${t.home}/big`, offset: 1e9, length: 10 })
  assert.deepEqual([beyond.data_base64, beyond.eof], ['', true])
})

test('a folder is packed within the size limit', async () => {
  using t = await setUp()
  const packer = createPacker(t.paths, join(t.home, '.roost', 'packs'), identitiesOf(t.home), t.clock)
  const { handle, size } = await packer.pack(`${t.home}/docs`, 1e6)
  const piece = await packer.read({ handle, offset: 0, length: size })
  assert.equal(piece.eof, true)
  assert.deepEqual([...Buffer.from(piece.data_base64, 'base64').subarray(0, 2)], [0x1f, 0x8b])
  await assert.rejects(packer.pack(`${t.home}/docs`, 10), { code: 'file_too_large' })
  await assert.rejects(packer.pack(`${t.home}/docs/a.txt`, 1e6), { code: 'not_a_directory' })
  // A completely read archive is deleted; ten more stay within the limit of pending ones.
  await assert.rejects(packer.read({ handle, offset: 0, length: 1 }), { code: 'file_not_found' })
  assert.deepEqual(readdirSync(join(t.home, '.roost', 'packs')), [])
  for (let count = 0; count < 10; count += 1) {
    const again = await packer.pack(`${t.home}/docs`, 1e6)
    await packer.read({ handle: again.handle, offset: 0, length: again.size })
  }
  const left = await packer.pack(`${t.home}/docs`, 1e6)
  await packer.read({ handle: left.handle, offset: 0, length: 1 })
  await t.clock.advance(10 * 60_000)
  await assert.rejects(packer.read({ handle: left.handle, offset: 0, length: 1 }), { code: 'file_not_found' })
})

test('an archive for a person with shared access omits credentials, under any name or link', async () => {
  using t = await setUp()
  const packer = createPacker(t.paths, join(t.home, '.roost', 'packs'), identitiesOf(t.home), t.clock)
  const app = join(t.home, 'app')
  mkdirSync(join(app, '.aws'), { recursive: true })
  for (const name of [
    '.env',
    '.env.example',
    '.aws/config',
    'a [1]*\\n.pem',
    'server.KEY',
    'main.py',
    '#.pem',
  ])
    writeFileSync(join(app, name), name)
  symlinkSync('server.KEY', join(app, 'harmless'))
  const namesOf = async (isGuarded: boolean) => {
    const { handle, size } = await packer.pack(app, 1e6, isGuarded)
    const piece = await packer.read({ handle, offset: 0, length: size })
    const input = Buffer.from(piece.data_base64, 'base64')
    const names = execFileSync('tar', ['--list', '--gzip'], { input, encoding: 'utf8' })
    return names.trim().split('\n').sort()
  }
  assert.deepEqual(await namesOf(true), ['app/', 'app/.env.example', 'app/harmless', 'app/main.py'])
  assert.equal((await namesOf(false)).length, 10)
  const refused = { code: 'protected_path' }
  const harmless = `${app}/harmless`
  await assert.rejects(statFile(t.paths, harmless, true), refused)
  await assert.rejects(readChunk(t.paths, { path: harmless, offset: 0, length: 9, guarded: true }), refused)
  assert.equal((await statFile(t.paths, harmless)).size, 10)
  // A file name with a newline, which tar would read as two names, is refused.
  writeFileSync(join(app, 'a\n.pem'), 'x')
  await assert.rejects(packer.pack(app, 1e6, true), refused)
})

const asRoot = { skip: process.getuid?.() === 0 ? false : 'it needs root' }

test('an archive is made with the rights of the owner of the workspace', asRoot, async () => {
  using t = await setUp()
  const facts = { uid: 0, hasAmbient: false, homeOwner: { uid: 1000, gid: 1000 }, hasSetpriv: true }
  const packer = createPacker(t.paths, join(t.root, 'packs'), createIdentities(facts), t.clock)
  writeFileSync(join(t.home, 'docs', 'closed.txt'), 'x', { mode: 0o600 })
  const { handle, size } = await packer.pack(`${t.home}/docs/`, 1e6)
  const piece = await packer.read({ handle, offset: 0, length: size })
  const input = Buffer.from(piece.data_base64, 'base64')
  const names = execFileSync('tar', ['--list', '--gzip'], { input, encoding: 'utf8' }).trim().split('\n')
  assert.deepEqual(names.sort(), [
    'docs/',
    'docs/a.txt',
    'docs/deep/',
    'docs/deep/b.txt',
    'docs/relative-out',
  ])
})

test("no request reaches the platform's files, directly or through a link", async () => {
  using t = await setUp()
  const packer = createPacker(t.paths, join(t.home, '.roost', 'packs'), identitiesOf(t.home), t.clock)
  const writer = createWriter(t.paths, join(t.home, '.roost', 'parts'), t.clock)
  const sessions = '.roost/state/claude-code'
  mkdirSync(join(t.home, sessions), { recursive: true })
  writeFileSync(join(t.home, sessions, 'session.jsonl'), 'a conversation')
  writeFileSync(join(t.home, '.roost', 'pre-check'), '#!/bin/sh')
  symlinkSync('.roost', join(t.home, 'harmless'))
  const { handle } = await packer.pack(t.home, 1e7)
  const refused = { code: 'protected_path' }
  const data_base64 = Buffer.from('planted').toString('base64')
  for (const folder of ['.roost', 'harmless']) {
    for (const inside of ['state', 'state/claude-code/session.jsonl', `packs/${handle}.tar.gz`, 'new']) {
      const path = `${t.home}/${folder}/${inside}`
      const chunk = {
        path,
        upload_id: path,
        offset: 0,
        data_base64,
        last: true,
        on_conflict: 'replace' as const,
      }
      await assert.rejects(writer.write(chunk), refused, path)
      await assert.rejects(makeDirectory(t.paths, { path: path }), refused, path)
      await assert.rejects(deletePath(t.paths, { path }), refused, path)
      if (inside === 'new') continue
      await assert.rejects(statFile(t.paths, path), refused, path)
      await assert.rejects(readChunk(t.paths, { path, offset: 0, length: 10 }), refused, path)
      await assert.rejects(packer.pack(path, 1e6), refused, path)
      await assert.rejects(
        listFiles(t.paths, { path, depth: 9, show_hidden: true, limit: 99 }),
        refused,
        path,
      )
    }
    const all = { path: `${t.home}/${folder}`, depth: 9, show_hidden: true, limit: 99 }
    assert.deepEqual(
      (await listFiles(t.paths, all)).tree.map(({ name }) => name),
      ['pre-check'],
    )
  }
})

test('only the owner changes the programs that the platform starts', async () => {
  using t = await setUp()
  const writer = createWriter(t.paths, join(t.home, '.roost', 'parts'), t.clock)
  mkdirSync(join(t.home, '.roost'), { recursive: true })
  const save = (path: string, guarded: boolean) =>
    writer.write({
      path,
      upload_id: path,
      offset: 0,
      data_base64: '',
      last: true,
      on_conflict: 'replace',
      guarded,
    })
  for (const name of ['pre-check', 'setup.sh']) {
    const path = `${t.home}/.roost/${name}`
    symlinkSync(path, join(t.home, `to-${name}`))
    const refused = { code: 'protected_path' }
    await assert.rejects(save(path, true), refused)
    await assert.rejects(save(`${t.home}/to-${name}`, true), refused)
    await save(path, false)
    await assert.rejects(deletePath(t.paths, { path, guarded: true }), refused)
    await deletePath(t.paths, { path })
  }
})

test("the whole workspace can be packed, without the platform's files", async () => {
  using t = await setUp()
  const packs = join(t.home, '.roost', 'packs')
  mkdirSync(packs, { recursive: true })
  writeFileSync(join(packs, 'earlier.tar.gz'), 'x')
  mkdirSync(join(t.home, '.roost', 'state', 'codex'), { recursive: true })
  writeFileSync(join(t.home, '.roost', 'state', 'codex', 'session.jsonl'), 'x')
  writeFileSync(join(t.home, '.roost', 'setup.sh'), 'x')
  const packer = createPacker(t.paths, packs, identitiesOf(t.home), t.clock)
  const { handle, size } = await packer.pack(t.home, 1e7)
  const piece = await packer.read({ handle, offset: 0, length: size })
  const archive = Buffer.from(piece.data_base64, 'base64')
  const names = execFileSync('tar', ['--list', '--gzip'], { input: archive, encoding: 'utf8' })
  assert.match(names, /docs\/a\.txt/)
  const platformFiles = names.split('\n').filter((name) => name.includes('/.roost/'))
  assert.deepEqual(
    platformFiles.map((name) => name.replace(/^.*\.roost\//, '')),
    ['', 'setup.sh'],
  )
})

test('creating an existing folder succeeds, a file in its place is an error', async () => {
  using t = await setUp()
  await makeDirectory(t.paths, { path: `${t.home}/docs` })
  await makeDirectory(t.paths, { path: `${t.home}/x/y/z` })
  assert.ok(statSync(join(t.home, 'x', 'y', 'z')).isDirectory())
  await assert.rejects(makeDirectory(t.paths, { path: `${t.home}/docs/a.txt` }), { code: 'not_a_directory' })
})

test('the set of login keys is replaced as a whole', async () => {
  using t = await setUp()
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKd someone'
  const setAuthorizedKeys = createAuthorizedKeys(join(t.home, 'ssh'))
  await setAuthorizedKeys([key])
  await setAuthorizedKeys([key.replace('someone', 'else')])
  const path = join(t.home, 'ssh', 'authorized_keys')
  assert.equal(readFileSync(path, 'utf8'), `${key.replace('someone', 'else')}\n`)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(join(t.home, 'ssh')).mode & 0o777, 0o700)
  for (const bad of ['not a key', `${key}\ncommand="x" ${key}`, 'command="x" ssh-rsa AAAA'])
    await assert.rejects(setAuthorizedKeys([bad]), { code: 'invalid_message' })
  const ending = `expiry-time="20300101000000Z" ${key}`
  await setAuthorizedKeys([ending])
  assert.equal(readFileSync(path, 'utf8'), `${ending}\n`)
  rmSync(path)
})

test('only the public host key is reported, without its comment, and none before the SSH server has one', async () => {
  using t = await setUp()
  assert.deepEqual(await readHostKeys(t.home), [])
  const path = join(t.home, 'ssh_host_ed25519_key.pub')
  writeFileSync(path, 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKd= root@host\n')
  assert.deepEqual(await readHostKeys(t.home), ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKd='])
  writeFileSync(path, '* ssh-ed25519 AAAA\n')
  assert.deepEqual(await readHostKeys(t.home), [])
})

test('concurrent sets of keys all succeed and the last one wins', async () => {
  using t = await setUp()
  const setAuthorizedKeys = createAuthorizedKeys(join(t.home, 'ssh'))
  const keys = Array.from({ length: 20 }, (_, number) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKd ${number}`)
  await Promise.all(keys.map((key) => setAuthorizedKeys([key])))
  assert.equal(readFileSync(join(t.home, 'ssh', 'authorized_keys'), 'utf8'), `${keys.at(-1)}\n`)
})
