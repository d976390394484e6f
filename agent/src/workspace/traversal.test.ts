import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { waysOut } from '@roost/test-support/paths'
import { createCredentialStore } from '../credentials/store.ts'
import { createFakeClock } from '../kit/fake-clock.ts'
import { LinkFault } from '../link/link.ts'
import { manifestOf } from '../skills/manifest.ts'
import { createSkills } from '../skills/skills.ts'
import { identitiesOf, makeTestHome, ownersFilesOf } from '../test/home.ts'
import { placeAttachments } from './attachments.ts'
import { deletePath, makeDirectory, movePath } from './change.ts'
import { listFiles } from './list.ts'
import { createPacker } from './pack.ts'
import { createPaths, type Paths } from './paths.ts'
import { readChunk, statFile } from './read.ts'
import { createWriter } from './write.ts'

const canary = 'canary-that-lies-outside'

/** A workspace with every kind of escape that an agent can create, next to a protected folder. */
async function setUp() {
  const place = makeTestHome()
  const { home, root } = place
  const outside = join(root, 'outside')
  mkdirSync(join(outside, 'deep'), { recursive: true })
  for (const name of ['secret.pem', 'deep/secret.pem', '.env']) writeFileSync(join(outside, name), canary)
  for (const folder of ['docs', '.git', '.ssh', '.roost/keys'])
    mkdirSync(join(home, folder), { recursive: true })
  for (const name of ['.env', '.mcp.json', '.credentials.enc', '.git/config', '.ssh/k', '.roost/keys/k'])
    writeFileSync(join(home, name), 'floor')
  const links: Record<string, string> = {
    out: outside,
    'out-up': '../outside',
    'docs/out': '../../outside',
    chain: 'out',
    'chain.pem': 'out/secret.pem',
    credentials: outside,
    'mine.pem': join(outside, 'secret.pem'),
    slash: '/',
    proc: '/proc/self/root',
    'fd.pem': '/proc/self/environ',
    device: '/dev/zero',
    loop: 'loop',
    nothing: join(outside, 'new.pem'),
    'to-env': '.env',
    'to-git': '.git',
    'to-ssh': '.ssh',
    'docs/to-keys': '../.roost/keys',
    'to-roost': '.roost',
  }
  /** Recreates links that an earlier path form removed or replaced. */
  const restoreLinks = () => {
    for (const [name, to] of Object.entries(links)) {
      const path = join(home, name)
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(path) === to) continue
      rmSync(path, { recursive: true, force: true })
      mkdirSync(dirname(path), { recursive: true })
      symlinkSync(to, path)
    }
  }
  restoreLinks()
  linkSync(join(home, '.env'), join(home, 'second-name'))
  execFileSync('mkfifo', [join(home, 'pipe')])
  return { place, home, root, outside, restoreLinks, [Symbol.dispose]: place[Symbol.dispose] }
}

const floors = [
  'to-env',
  'to-git/config',
  'to-ssh/k',
  'docs/to-keys/k',
  'to-roost/keys/k',
  '.env',
  '.git/config',
]

test('none of over 500 path forms reads or writes anything outside the workspace', async () => {
  using t = await setUp()
  const { home, root, outside } = t
  const paths = await createPaths(home)
  const clock = createFakeClock()
  const writer = createWriter(paths, join(home, '.roost', 'parts'), clock)
  const packer = createPacker(paths, join(home, '.roost', 'packs'), identitiesOf(home), clock)
  const credentials = createCredentialStore({
    home,
    ownersFiles: ownersFilesOf(home),
    owner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    parts: join(home, '.roost', 'sealed-parts'),
    digests: join(home, '.roost', 'mcp-rendered.json'),
    own: () => null,
    variables: () => ({}),
    clock,
  })
  const forms = waysOut(home, root)
  assert.ok(forms.length >= 500, `${forms.length} forms`)
  const data_base64 = Buffer.from('written by a test').toString('base64')
  const piece = { offset: 0, length: 1000 }
  const places = {
    uploads: join(home, 'uploads'),
    parts: join(home, '.roost', 'parts'),
    images: join(root, 'scratch'),
  }
  const before = snapshot(outside)
  for (const [index, path] of forms.entries()) {
    const upload_id = `u${index}`
    t.restoreLinks()
    const chunk = { path, upload_id, offset: 0, data_base64 }
    const answers = await Promise.allSettled([
      readChunk(paths, { path, ...piece }),
      credentials.read({ path, ...piece }),
      statFile(paths, path),
      listFiles(paths, { path, depth: 2, show_hidden: true, limit: 50 }),
      writer.write({ ...chunk, last: true, on_conflict: index % 2 ? 'replace' : 'rename' }),
      credentials.write(chunk).then(() => credentials.commit(upload_id, [path])),
      makeDirectory(paths, { path }),
    ])
    for (const answer of answers) {
      if (answer.status === 'rejected')
        assert.ok('code' in Object(answer.reason), `${path}: ${answer.reason}`)
      const text = answer.status === 'fulfilled' ? JSON.stringify(answer.value) : ''
      const bytes = /"data_base64":"([^"]*)"/.exec(text)?.[1] ?? ''
      assert.doesNotMatch(text, /secret\.pem","path":"[^"]*","type":"file","size":24/, path)
      assert.ok(!Buffer.from(bytes, 'base64').toString().includes(canary), path)
      assert.doesNotMatch(Buffer.from(bytes, 'base64').toString(), /^root:/, path)
    }
    t.restoreLinks()
    await packer.pack(path, 10_000).catch(() => {})
    await deletePath(paths, { path }).catch(() => {})
    const attachment = { name: path, mimetype: 'text/plain', size: 1, data_base64 }
    await placeAttachments('m', [attachment], places, async () => Buffer.alloc(0)).catch(() => {})
    assert.deepEqual(snapshot(outside), before, path)
    // Many forms resolve to one name, and searching for a free one would get slow.
    rmSync(places.uploads, { recursive: true, force: true })
  }
})

test('no path form works as the name of a skill or of a file outside its folder', async () => {
  using t = await setUp()
  const { home, root, outside } = t
  const paths = await createPaths(home)
  const environment = async () => ({ PATH: '' })
  const skills = createSkills({
    paths,
    runtime: 'claude-code',
    clock: createFakeClock(),
    parts: join(home, '.roost', 'parts'),
    environment,
  })
  const bytes = Buffer.from('written by a test')
  const before = snapshot(outside)
  const around = () => readdirSync(root).sort().join()
  const aroundBefore = around()
  for (const [index, form] of waysOut(home, root).entries()) {
    t.restoreLinks()
    const install = async (name: string, path: string) => {
      const files = [{ path, size: bytes.length, executable: false }]
      const facts = { version: 'v', commit: 'c', source_id: 's', source_name: 'S' }
      const manifest = manifestOf({ ...facts, name, files })
      await skills.install({ uploadId: `u${index}`, offset: 0, bytes, manifest })
      return join(home, '.claude', 'skills', name, path)
    }
    const placed = await Promise.allSettled([install('one', form), install(form, 'SKILL.md')])
    for (const each of placed) {
      if (each.status === 'rejected') assert.ok(each.reason instanceof LinkFault, `${form}: ${each.reason}`)
      else assert.match(each.value, /^\S*\/\.claude\/skills\/(?!\.\.?\/)[^/]+\//, form)
    }
    await skills.remove(['one', form]).catch((error) => assert.ok(error instanceof LinkFault, form))
    await skills
      .settle([{ name: form, description: '', requires: { packages: [], binaries: [form], env: [] } }])
      .catch((error) => assert.ok(error instanceof LinkFault, form))
    assert.deepEqual([snapshot(outside), around()], [before, aroundBefore], form)
  }
  for (const name of ['.env', '.git/config', '.ssh/k', '.roost/keys/k'])
    assert.equal(readFileSync(join(home, name), 'utf8'), 'floor', name)
})

test('protected files stay protected under every other name', async () => {
  using t = await setUp()
  const { home } = t
  const paths = await createPaths(home)
  const clock = createFakeClock()
  const writer = createWriter(paths, join(home, '.roost', 'parts'), clock)
  const packer = createPacker(paths, join(home, '.roost', 'packs'), identitiesOf(home), clock)
  const refused = { code: 'protected_path' }
  const data_base64 = Buffer.from('x').toString('base64')
  for (const name of floors) {
    const path = `${home}/${name}`
    const chunk = {
      path,
      upload_id: name,
      offset: 0,
      data_base64,
      last: true,
      on_conflict: 'replace' as const,
    }
    await assert.rejects(writer.write(chunk), refused, name)
    await assert.rejects(makeDirectory(paths, { path }), refused, name)
    // Deleting a link deletes the link, not its target.
    if (name !== 'to-env') await assert.rejects(deletePath(paths, { path }), refused, name)
  }
  await assert.rejects(deletePath(paths, { path: `${home}/.roost` }), refused)
  for (const name of ['to-env', 'second-name', '.env']) {
    const guarded = { path: `${home}/${name}`, offset: 0, length: 100, guarded: true }
    await assert.rejects(readChunk(paths, guarded), refused, name)
    assert.equal((await readChunk(paths, { ...guarded, guarded: false })).size, 5, name)
  }
  mkdirSync(join(home, 'folder'))
  linkSync(join(home, '.env'), join(home, 'folder', 'third-name'))
  await assert.rejects(packer.pack(`${home}/folder`, 10_000, true), refused)
  for (const name of ['.env', '.git/config', '.ssh/k', '.roost/keys/k'])
    assert.equal(readFileSync(join(home, name), 'utf8'), 'floor', name)
})

/** A turn that exchanges the folder `mine` with a link to `outside` right after each check of a path. */
async function setUpExchange(outside: string, home: string) {
  const mine = join(home, 'mine')
  const reset = () => {
    for (const path of [mine, `${mine}-away`]) rmSync(path, { recursive: true, force: true })
    mkdirSync(join(mine, 'deep'), { recursive: true })
    for (const name of ['secret.pem', 'deep/secret.pem']) writeFileSync(join(mine, name), 'own')
  }
  const exchange = () => {
    if (lstatSync(mine).isSymbolicLink()) return
    renameSync(mine, `${mine}-away`)
    symlinkSync(outside, mine)
  }
  const checked = await createPaths(home)
  const exchanging = (resolve: Paths['existing']) => async (path: string) => {
    const real = await resolve(path)
    exchange()
    return real
  }
  const { existing, target, entry } = checked
  const paths = {
    ...checked,
    existing: exchanging(existing),
    target: exchanging(target),
    entry: exchanging(entry),
  }
  return { mine, checked, paths, reset }
}

test('a folder that a link replaces after the check of its path leads no request outside', async () => {
  using t = await setUp()
  const { home, outside } = t
  const { mine, checked, paths, reset } = await setUpExchange(outside, home)
  const clock = createFakeClock()
  const writer = createWriter(paths, join(t.root, 'parts'), clock)
  const packer = createPacker(paths, join(t.root, 'packs'), identitiesOf(home), clock)
  const upload = { upload_id: 'u', offset: 0, last: true, data_base64: '' }
  const requests: Record<string, () => Promise<unknown>> = {
    read: () => readChunk(paths, { path: `${mine}/secret.pem`, offset: 0, length: 99 }),
    stat: () => statFile(paths, `${mine}/secret.pem`),
    list: () => listFiles(paths, { path: mine, depth: 3, show_hidden: true, limit: 99 }),
    'list a folder': () => listFiles(paths, { path: `${mine}/deep`, depth: 1, show_hidden: true, limit: 99 }),
    replace: () => writer.write({ ...upload, path: `${mine}/secret.pem`, on_conflict: 'replace' }),
    create: () => writer.write({ ...upload, path: `${mine}/new/planted.txt`, on_conflict: 'rename' }),
    'create a folder': () => makeDirectory(paths, { path: `${mine}/new/deeper` }),
    'delete a file': () => deletePath(paths, { path: `${mine}/secret.pem` }),
    'delete a folder': () => deletePath(paths, { path: `${mine}/deep` }),
    'move away': () => movePath(paths, { from: `${mine}/secret.pem`, to: `${home}/docs/found.txt` }),
    'move to': () =>
      movePath(
        { ...paths, entry: checked.entry },
        { from: `${home}/docs/own.txt`, to: `${mine}/planted.txt` },
      ),
    pack: () => packer.pack(mine, 10_000),
    'pack a folder': () => packer.pack(`${mine}/deep`, 10_000),
  }
  writeFileSync(join(home, 'docs', 'own.txt'), 'own')
  const before = snapshot(outside)
  for (const [name, request] of Object.entries(requests)) {
    reset()
    await assert.rejects(request, LinkFault, name)
    assert.deepEqual(snapshot(outside), before, name)
  }
  assert.deepEqual(readdirSync(join(t.root, 'parts')), [])
})

test('files of a message are placed through no link that leaves the workspace or hides what runs obey', async () => {
  using t = await setUp()
  const { home, outside, root } = t
  mkdirSync(join(home, '.claude'))
  const before = snapshot(outside)
  const place = (to: string, name: string) => {
    rmSync(join(home, 'uploads'), { force: true })
    symlinkSync(to, join(home, 'uploads'))
    const data_base64 = Buffer.from('{}').toString('base64')
    const attachment = { name, mimetype: 'application/json', size: 2, data_base64 }
    const places = {
      uploads: join(home, 'uploads'),
      parts: join(root, 'parts'),
      images: join(root, 'images'),
    }
    return placeAttachments('m', [attachment], places, async () => Buffer.alloc(0))
  }
  for (const [to, name] of [
    [outside, 'settings.json'],
    ['.claude', 'settings.json'],
    ['.', '.mcp.json'],
    ['.git', 'hook'],
  ] as const)
    await assert.rejects(place(to, name), { code: 'protected_path' }, to)
  assert.deepEqual(snapshot(outside), before)
  assert.deepEqual(readdirSync(join(home, '.claude')), [])
  const { text } = await place('docs', 'settings.json')
  assert.match(text, /home\/uploads\/settings\.json \(application\/json, 2 bytes\)$/)
  assert.equal(readFileSync(join(home, 'docs', 'settings.json'), 'utf8'), '{}')
  assert.deepEqual(readdirSync(join(root, 'parts')), [])
})

function snapshot(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return entry.isFile() ? `${path}=${readFileSync(path, 'utf8')}` : path
    })
    .sort()
}
