import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
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
import { makeTestHome, ownersFilesOf } from '../test/home.ts'
import { placeAttachments } from './attachments.ts'
import { deletePath, makeDirectory } from './change.ts'
import { listFiles } from './list.ts'
import { createPacker } from './pack.ts'
import { createPaths } from './paths.ts'
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
  const packer = createPacker(paths, join(home, '.roost', 'packs'), clock)
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
  const skills = createSkills({ paths, runtime: 'claude-code', clock: createFakeClock(), environment })
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
  const packer = createPacker(paths, join(home, '.roost', 'packs'), clock)
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

function snapshot(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return entry.isFile() ? `${path}=${readFileSync(path, 'utf8')}` : path
    })
    .sort()
}
