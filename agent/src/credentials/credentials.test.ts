import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { bundleFile, maxCredentialBytes } from '@roost/contracts/link/credentials'
import { createFakeClock } from '../kit/fake-clock.ts'
import type { OwnersFiles } from '../principals/owners-files.ts'
import { makeTestHome, ownersFilesOf } from '../test/home.ts'
import { gitignoreFor, writeGitignore } from '../workspace/gitignore.ts'
import { renderMcp } from './render.ts'
import { mcpServersIn } from './servers.ts'
import { createCredentialStore } from './store.ts'

const own = { url: 'http://platform/mcp' }
const entry = { type: 'http', url: own.url, headers: { Authorization: `Bearer \${ROOST_MCP_KEY:-}` } }

type SetUp = {
  owner?: { uid: number; gid: number }
  ownersFilesFor?(home: string): Pick<OwnersFiles, 'read' | 'isOwners'>
}
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

function setUp({ owner = self, ownersFilesFor = ownersFilesOf }: SetUp = {}) {
  const place = makeTestHome()
  const { home } = place
  chownSync(home, owner.uid, owner.gid)
  mkdirSync(join(home, '.roost'))
  const store = createCredentialStore({
    home,
    ownersFiles: ownersFilesFor(home),
    owner,
    parts: join(home, '.roost', 'parts'),
    digests: join(home, '.roost', 'mcp-rendered.json'),
    own: () => own,
    variables: () => ({ AGENT_NAME: 'tester' }),
    clock: createFakeClock(),
  })
  let uploads = 0
  const put = async (files: Record<string, string>) => {
    const upload_id = `u${++uploads}`
    for (const [path, text] of Object.entries(files)) {
      const data_base64 = Buffer.from(text).toString('base64')
      await store.write({ upload_id, path, offset: 0, data_base64 })
    }
    return store.commit(upload_id, Object.keys(files))
  }
  const read = (path: string) => readFileSync(join(home, path), 'utf8')
  return { place, home, store, put, read, [Symbol.dispose]: place[Symbol.dispose] }
}

describe('credentials in the workspace', () => {
  test('examples are read, but not through links', async () => {
    using t = setUp()
    writeFileSync(join(t.home, '.env.example'), 'TOKEN=')
    writeFileSync(join(t.place.root, 'outside'), 'OTHER=')
    symlinkSync(join(t.place.root, 'outside'), join(t.home, '.mcp.json.template'))
    const { env_example, mcp_template } = await t.store.status()
    assert.deepEqual([env_example, mcp_template], ['TOKEN=', null])
    // The platform refuses longer answers.
    writeFileSync(join(t.home, '.env.example'), '#'.repeat(300_001))
    assert.equal((await t.store.status()).env_example, null)
  })

  test('written files are complete after the commit and closed to strangers', async () => {
    using t = setUp()
    const files = { '.env': 'A=1\n', 'credentials/deep/key.bin': 'k', 'server.pem': 'p' }
    assert.deepEqual(await t.put(files), { written: Object.keys(files), left_out: [] })
    for (const [path, text] of Object.entries(files)) {
      assert.equal(t.read(path), text)
      assert.equal(lstatSync(join(t.home, path)).mode & 0o137, 0, path)
    }
    const { files: found, variables } = await t.store.status()
    assert.deepEqual(found.map(({ path }) => path).sort(), [
      '.env',
      '.mcp.json',
      'credentials/deep/key.bin',
      'server.pem',
    ])
    assert.deepEqual(variables, ['A'])
  })

  test('a commit with one unwritable file leaves all other files unchanged', async () => {
    using t = setUp()
    await t.put({ '.env': 'A=old\n' })
    mkdirSync(join(t.home, 'a.pem'))
    await assert.rejects(t.put({ '.env': 'A=new\n', 'b.pem': 'x', 'a.pem': 'x' }), { code: 'not_a_file' })
    assert.equal(t.read('.env'), 'A=old\n')
    assert.throws(() => t.read('b.pem'))
  })

  test('a symbolic link redirects neither writes nor reads out of the workspace', async () => {
    using t = setUp()
    const outside = join(t.place.root, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'secret.pem'), 'outside')
    symlinkSync(outside, join(t.home, 'credentials'))
    symlinkSync(join(outside, 'secret.pem'), join(t.home, 'mine.pem'))
    await assert.rejects(t.put({ 'credentials/x': 'x' }), { code: 'protected_path' })
    const piece = { offset: 0, length: 100 }
    await assert.rejects(t.store.read({ path: 'credentials/secret.pem', ...piece }), {
      code: 'protected_path',
    })
    await assert.rejects(t.store.read({ path: 'mine.pem', ...piece }), { code: 'protected_path' })
    assert.deepEqual(
      (await t.store.status()).files.map(({ path }) => path),
      ['.env', '.mcp.json'],
    )
    await t.put({ 'mine.pem': 'mine' })
    assert.equal(readFileSync(join(outside, 'secret.pem'), 'utf8'), 'outside')
    assert.equal(t.read('mine.pem'), 'mine')
  })

  test('only credential files of at most 1 MiB are accepted', async () => {
    using t = setUp()
    for (const path of ['.bashrc', '../x.pem', '.claude/settings.json', '.mcp.json.template', '.git/x.pem'])
      await assert.rejects(t.put({ [path]: 'x' }), { code: 'protected_path' }, path)
    await assert.rejects(t.put({ 'a.pem': 'x'.repeat(maxCredentialBytes + 1) }), { code: 'file_too_large' })
    await t.put({ [bundleFile]: 'x'.repeat(maxCredentialBytes + 1) })
    assert.equal(
      (await t.store.read({ path: bundleFile, offset: 0, length: 1 })).size,
      maxCredentialBytes + 1,
    )
  })

  test('.mcp.json follows the credentials and keeps entries that a person wrote', async () => {
    using t = setUp()
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the template file, not of JavaScript
    const crm = { command: 'npx', args: ['crm'], env: { KEY: '${CRM_KEY}', MODE: '${MODE:-fast}' } }
    writeFileSync(join(t.home, '.mcp.json.template'), JSON.stringify({ mcpServers: { crm } }))
    assert.deepEqual(await t.store.render(), [
      { server: 'crm', names: ['CRM_KEY'], reason: 'a variable has no value' },
    ])
    assert.deepEqual(JSON.parse(t.read('.mcp.json')), { mcpServers: { roost: entry } })
    assert.equal(t.read('.env'), '')
    const personal = { type: 'http', url: 'https://mine.example.org' }
    await t.put({ '.env': 'CRM_KEY=one', '.mcp.json': JSON.stringify({ mcpServers: { mine: personal } }) })
    const filled = (key: string) => ({ command: 'npx', args: ['crm'], env: { KEY: key, MODE: 'fast' } })
    assert.deepEqual(mcpServersIn(t.read('.mcp.json')), { mine: personal, crm: filled('one') })
    await t.put({ '.env': 'CRM_KEY=two' })
    assert.deepEqual(mcpServersIn(t.read('.mcp.json')), { mine: personal, crm: filled('two') })
    await t.put({ '.env': 'OTHER=1' })
    assert.deepEqual(mcpServersIn(t.read('.mcp.json')), { mine: personal })
    assert.deepEqual(JSON.parse(t.read('.mcp.json')).mcpServers.roost, entry)
  })
})

test('a server that somebody else puts into .mcp.json after its check does not become the owner’s', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root')
  const owner = { uid: 1000, gid: 1000 }
  const planted = { mcpServers: { planted: { command: 'node', args: ['planted.js'] } } }
  using place = setUp({
    owner,
    ownersFilesFor(home) {
      const files = ownersFilesOf(home)
      const path = join(home, '.mcp.json')
      const put = (text: string, uid: number) => {
        writeFileSync(`${path}.new`, text)
        chmodSync(`${path}.new`, 0o644)
        chownSync(`${path}.new`, uid, owner.gid)
        renameSync(`${path}.new`, path)
      }
      const ready = files.began({ isPrivate: true, access: 'write' })
      return {
        async isOwners(checked) {
          await ready
          if (checked !== '.mcp.json') return files.isOwners(checked)
          put('{}', owner.uid)
          const isOwners = await files.isOwners(checked)
          put(JSON.stringify(planted), 20_001)
          return isOwners
        },
        read: (each) => ready.then(() => files.read(each)),
      }
    },
  })
  await place.store.render()
  await place.store.render()
  const [text, { uid }] = [place.read('.mcp.json'), lstatSync(join(place.home, '.mcp.json'))]
  assert.ok(uid !== owner.uid || !text.includes('planted'), text)
})

test('the platform reads only the owner’s files when it writes them back', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root')
  const owner = { uid: 1000, gid: 1000 }
  using place = setUp({
    owner,
    ownersFilesFor(home) {
      const files = ownersFilesOf(home)
      const ready = files.began({ isPrivate: true, access: 'write' })
      return {
        isOwners: (path) => ready.then(() => files.isOwners(path)),
        read: (path) => ready.then(() => files.read(path)),
      }
    },
  })
  const write = (path: string, uid: number) => {
    writeFileSync(join(place.home, path), 'A=1\nB=2\n', { mode: 0o600 })
    chownSync(join(place.home, path), uid, owner.gid)
  }
  const read = (path: string, offset: number, length: number) =>
    place.store.read({ path, offset, length, ownersOnly: true })
  for (const path of ['.env', bundleFile]) {
    write(path, owner.uid)
    const data_base64 = Buffer.from('=1\n').toString('base64')
    assert.deepEqual(await read(path, 1, 3), { data_base64, size: 8, eof: false })
    assert.equal((await read(path, 4, 100)).eof, true)
    write(path, 20_001)
    await assert.rejects(read(path, 0, 100), { code: 'protected_path' })
    assert.equal((await place.store.read({ path, offset: 0, length: 100 })).size, 8)
  }
})

test('a template may run only known commands, and no shell', () => {
  const left = (server: unknown) =>
    renderMcp({
      template: JSON.stringify({ mcpServers: { s: server } }),
      present: null,
      rendered: {},
      values: { URL: 'javascript:alert(1)' },
      own: null,
    }).leftOut.length
  assert.equal(left({ command: 'npx', args: ['-y', '@scope/pkg@1.2'] }), 0)
  for (const server of [
    { command: 'bash', args: [] },
    { command: '/bin/npx' },
    { command: 'npx', args: ['x; rm -rf /'] },
    { command: 'npx', args: ['$(id)'] },
    { command: 'npx', cwd: '/' },
    { type: 'http', url: 'file:///etc/passwd' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the template file, not of JavaScript
    { type: 'http', url: '${URL}' },
    'text',
    null,
  ])
    assert.equal(left(server), 1, JSON.stringify(server))
})

test('.gitignore keeps the user’s lines and always ends with the required block', async () => {
  const once = gitignoreFor('dist/\n!.env\n')
  assert.match(once, /^# roost: begin\n[\s\S]*\ndist\/\n!\.env\n# roost: floor begin\n\.env\n\.mcp\.json\n/)
  assert.equal(gitignoreFor(once), once)
  const cut = once.replace('# roost: floor end', '')
  assert.ok(gitignoreFor(cut).includes('dist/'))
  using place = makeTestHome()
  await writeGitignore(place.home)
  const made = readFileSync(join(place.home, '.gitignore'), 'utf8')
  for (const name of ['.env', '.mcp.json', '.credentials.enc', '.ssh', '.roost', '.tmp'])
    assert.ok(made.split('\n').includes(name), name)
})
