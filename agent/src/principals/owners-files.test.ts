import assert from 'node:assert/strict'
import { chmod, chown, lchown, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createIdentities } from '../processes/identity.ts'
import { makeTestHome } from '../test/home.ts'
import { createOwnersFiles } from './owners-files.ts'

const isRoot = process.getuid?.() === 0
const writer = { isPrivate: true, access: 'write' } as const
const other = 20_001

/** A workspace of the user `developer`, as in a container. */
async function setUp() {
  const place = makeTestHome()
  const { home, root } = place
  await chown(home, 1000, 1000)
  await chmod(home, 0o775)
  const facts = { uid: 0, hasAmbient: false, homeOwner: { uid: 1000, gid: 1000 }, hasSetpriv: true }
  const open = () => createOwnersFiles(home, join(root, 'others-wrote'), createIdentities(facts))
  const write = async (path: string, mode: number, uid = 1000) => {
    await writeFile(join(home, path), `text of ${path}`)
    await chmod(join(home, path), mode)
    await chown(join(home, path), uid, 1000)
  }
  const folder = async (path: string, mode: number, uid = 1000) => {
    await mkdir(join(home, path), { recursive: true })
    await chmod(join(home, path), mode)
    await chown(join(home, path), uid, 1000)
  }
  return { home, open, files: open(), write, folder, [Symbol.dispose]: place[Symbol.dispose] }
}

test('an agent of one person: every file is the owner’s, also one that a group may write', async (t) => {
  if (!isRoot) return t.skip('needs root')
  using place = await setUp()
  const { files, write, home } = place
  await write('.env', 0o664)
  await symlink('.env', join(home, '.mcp.json'))
  await files.began({ isPrivate: true, access: 'read' })
  assert.equal(files.isShared(), false)
  assert.deepEqual(await files.foreign(), [])
  assert.equal(await files.read('.mcp.json'), 'text of .env')
})

test('what the owner wrote before a writer came is closed to them and stays in effect', async (t) => {
  if (!isRoot) return t.skip('needs root')
  using place = await setUp()
  const { files, write, folder, open } = place
  await folder('.claude', 0o775)
  await write('.claude/settings.json', 0o664)
  await write('.env', 0o664)
  await files.began(writer)
  assert.equal(files.isShared(), true)
  assert.deepEqual(await files.foreign(), [])
  assert.equal(await files.read('.claude/settings.json'), 'text of .claude/settings.json')
  const restarted = open()
  assert.deepEqual(await restarted.foreign(), [])
  await write('.claude/settings.local.json', 0o664)
  assert.deepEqual(await open().foreign(), [], 'added by the owner, alone')
  await restarted.began(writer)
  assert.deepEqual(await restarted.foreign(), [], 'closed before the next writer came')
  await write('.claude/planted.json', 0o664)
  assert.deepEqual(await open().foreign(), ['.claude'], 'a restart checks what a writer may have left')
})

test('what somebody else wrote, moved or may write has no effect', async (t) => {
  if (!isRoot) return t.skip('needs root')
  using place = await setUp()
  const { files, write, folder, home } = place
  await files.began(writer)
  await write('.env', 0o644, other)
  await write('.mcp.json', 0o664)
  await folder('.claude', 0o755, other)
  await write('.claude/settings.json', 0o644)
  await symlink('/etc/passwd', join(home, '.mcp.json.template'))
  await lchown(join(home, '.mcp.json.template'), 1000, 1000)
  await folder('.codex', 0o755)
  await folder('.codex/rules', 0o775)
  await folder('.roost', 0o775)
  await write('.roost/setup.sh', 0o755, other)
  await write('.roost/pre-check', 0o755)
  assert.deepEqual(await files.foreign(), [
    '.env',
    '.mcp.json',
    '.mcp.json.template',
    '.roost/setup.sh',
    '.claude',
    '.codex',
  ])
  for (const path of ['.env', '.mcp.json', '.mcp.json.template', '.claude/settings.json'])
    assert.equal(await files.read(path), null, path)
  assert.equal(await files.isOwners('.gemini'), true, 'a missing path')
  await files.setAside('.claude')
  assert.match(
    String((await readdir(home)).find((name) => name.startsWith('.claude'))),
    /^\.claude\.ignored-/,
  )

  // A check after the last writer has gone does not accept what they left.
  files.ended(writer)
  await files.began(writer)
  assert.ok((await files.foreign()).includes('.mcp.json'))
  files.ended(writer)
  for (const path of ['.env', '.mcp.json', '.mcp.json.template', '.roost/setup.sh', '.codex'])
    await rm(join(home, path), { recursive: true })
  await write('.env', 0o664)
  assert.deepEqual(await files.foreign(), ['.env'])
  await chmod(join(home, '.env'), 0o640)
  assert.deepEqual(await files.foreign(), [])
  await write('.mcp.json', 0o664)
  await files.began(writer)
  assert.equal(await files.read('.mcp.json'), 'text of .mcp.json', 'written by the owner, alone')
})

test('a folder that replaces the owner’s while a file is read is refused', async (t) => {
  if (!isRoot) return t.skip('needs root')
  using place = await setUp()
  const { files, write, folder, home } = place
  await folder('.claude', 0o755)
  await write('.claude/settings.json', 0o644)
  await files.began(writer)
  await rename(join(home, '.claude'), join(home, 'away'))
  await symlink('away', join(home, '.claude'))
  assert.equal(await files.read('.claude/settings.json'), null)
})

test('after a restore, files are the owner’s only if nobody else can have written them', async (t) => {
  if (!isRoot) return t.skip('needs root')
  using place = await setUp()
  const { files, write, home, open } = place
  await write('.env', 0o664)
  await files.restored(false)
  assert.deepEqual([files.isShared(), await files.read('.env')], [false, 'text of .env'])
  await chown(join(home, '.env'), other, 1000)
  await files.restored(true)
  for (const each of [files, open()])
    assert.deepEqual([await each.read('.env'), await each.foreign()], [null, ['.env']])
  await write('.env', 0o644)
  assert.deepEqual([await files.foreign(), await files.read('.env')], [[], 'text of .env'])
  // An earlier state may be what another writer had moved there.
  await chmod(join(home, '.env'), 0o664)
  await files.restored(false)
  assert.equal(await files.read('.env'), null)
})
