import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waysOut } from '@roost/test-support/paths'
import { isFault } from '../../kit/fault.ts'
import { rejectClosed, rejectDelete, rejectPack, rejectRead, rejectWrite, resolvePath } from './paths.ts'

const isProtected = (error: unknown) => isFault(error, 'protected_path')

for (const [given, path] of [
  ['/home/developer', '/home/developer'],
  ['.', '/home/developer'],
  ['a/b.txt', '/home/developer/a/b.txt'],
  ['./a//b/', '/home/developer/a/b'],
  ['a/../b', '/home/developer/b'],
  ['/home/developer/x', '/home/developer/x'],
  ['..a/...', '/home/developer/..a/...'],
  ['%2e%2e/etc', '/home/developer/%2e%2e/etc'],
  ['a\\..\\b', '/home/developer/a\\..\\b'],
] as const) {
  test(`"${given}" is ${path}`, () => assert.equal(resolvePath(given), path))
}

for (const given of [
  '..',
  '../x',
  'a/../../x',
  '/',
  '/etc/passwd',
  '/home',
  '/home/developer2/x',
  '/home/developer/../other',
  'a\0b',
]) {
  test(`403 protected_path: ${JSON.stringify(given)}`, () =>
    assert.throws(() => resolvePath(given), isProtected))
}

test('each of more than 500 path forms is rejected or is a plain path inside the workspace', () => {
  const home = '/home/developer'
  for (const given of waysOut(home, '/home')) {
    try {
      const path = resolvePath(given)
      assert.ok(path === home || path.startsWith(`${home}/`), given)
      assert.ok(!path.split('/').some((part) => part === '.' || part === '..'), given)
      assert.ok(!path.includes('\0') && !path.includes('//'), given)
    } catch (error) {
      assert.ok(isFault(error), `${given}: ${error}`)
    }
  }
})

const at = (inside: string) => resolvePath(inside)
for (const inside of [
  '.',
  '.env',
  '.mcp.json',
  '.credentials.enc',
  '.git',
  '.git/config',
  '.ssh',
  '.ssh/authorized_keys',
  '.roost',
  '.roost/keys',
  '.roost/keys/host',
  '.roost/state/claude-code/settings.json',
  'a/../.env',
]) {
  test(`403 protected_path to write or delete ${inside}`, () => {
    assert.throws(() => rejectWrite(at(inside), true), isProtected)
    assert.throws(() => rejectDelete(at(inside), true), isProtected)
  })
}
for (const inside of ['.env.local', '.gitignore', 'x/.env', '.sshx', '.roost/operator-queue.json', 'a']) {
  test(`${inside} can be written and deleted`, () => {
    rejectWrite(at(inside), false)
    rejectDelete(at(inside), false)
  })
}
test('only the owner changes what runs obey', () => {
  const obeyed = [
    '.roost/pre-check',
    '.roost/setup.sh',
    '.mcp.json.template',
    '.claude',
    '.claude/settings.json',
  ]
  for (const inside of [...obeyed, '.gemini/settings.json', '.codex/config.toml']) {
    rejectWrite(at(inside), true)
    rejectDelete(at(inside), true)
    assert.throws(() => rejectWrite(at(inside), false), isProtected)
    assert.throws(() => rejectDelete(at(inside), false), isProtected)
    rejectRead(at(inside), false)
  }
})
test('403 protected_path to list or read the files of the platform, for the owner too', () => {
  for (const inside of ['.roost/state', '.roost/packs/a.tar.gz', '.roost/x', '.roost/pre-check/x']) {
    assert.throws(() => rejectClosed(at(inside)), isProtected, inside)
    assert.throws(() => rejectRead(at(inside), true), isProtected, inside)
  }
  for (const inside of ['.', '.roost', '.roost/operator-queue.json', 'a/.roost/x']) rejectClosed(at(inside))
})

test('only the owner can read credentials, directly or packed', () => {
  for (const inside of [
    '.env',
    '.mcp.json',
    '.credentials.enc',
    'a/.env',
    '.env.production',
    'credentials',
    'credentials/any.txt',
    'keys/server.PEM',
    'app/gcp-credentials.json',
    'service-account-1.json',
    '.netrc',
    'a/.npmrc',
    '.git-credentials',
    '.ssh/id_ed25519',
    '.aws/config',
    '.config/gcloud/access_tokens.db',
    '.codex/auth.json',
  ]) {
    rejectRead(at(inside), true)
    assert.throws(() => rejectRead(at(inside), false), isProtected, inside)
  }
  for (const inside of [
    '.env.example',
    'a/.env.sample',
    'src/credentials/service.ts',
    'docs/credentials.md',
    'venv/lib/site-packages/certifi/cacert.pem',
    'data/auth.json',
    '.aws-notes',
    'key',
  ])
    rejectRead(at(inside), false)
  rejectPack(at('.'), true)
  assert.throws(() => rejectPack(at('.'), false), isProtected)
  rejectPack(at('a'), false)
})
