import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import { describe, test } from 'node:test'
import { credentialPathFault, maxBundleBytes, maxBundledBytes } from '@roost/contracts/link/credentials'
import { waysOut } from '@roost/test-support/paths'
import { createVault } from '../../foundation/vault/index.ts'
import { isFault } from '../../kit/fault.ts'
import { openBundle, sealBundle } from './bundle.ts'
import { filesOf } from './rules.ts'
import { secretsIn } from './secret-values.ts'

const inject = (files: Record<string, string>, files_b64: Record<string, string> = {}) =>
  filesOf({ files, files_b64 })
const code = (error: unknown) => (isFault(error) ? error.code : String(error))
function refusal(work: () => unknown): string {
  try {
    work()
    return 'accepted'
  } catch (error) {
    return code(error)
  }
}

describe('which path is a credential file', () => {
  for (const path of [
    '.env',
    '.env.local',
    '.mcp.json',
    'server.pem',
    'tls/server.key',
    'my-credentials.json',
    'google_credentials_v2.json',
    'service-account-7.json',
    '.netrc',
    '.npmrc',
    '.pypirc',
    'credentials/anything.at.all',
    'credentials/deep/er/file',
  ])
    test(`accepted: ${path}`, () => assert.equal(credentialPathFault(path), null))

  for (const path of [
    '.bashrc',
    '.profile',
    '.claude/settings.json',
    '.claude/credentials.json',
    '.ssh/id.pem',
    '.git/x.pem',
    '.roost/keys/a.key',
    '.mcp.json.template',
    '.credentials.enc',
    'credentials',
    'notes.txt',
    'app/.env',
    '.config/gh/credentials.json',
  ])
    test(`rejected by its name: ${path}`, () =>
      assert.equal(
        refusal(() => inject({ [path]: 'x' })),
        'credential_path_refused',
      ))
})

test('422 for no files, too many files, duplicate paths and invalid base64', () => {
  assert.equal(
    refusal(() => inject({})),
    'validation_error',
  )
  assert.equal(
    refusal(() => inject({ '.env': 'A=1' }, { '.env': 'QQ==' })),
    'validation_error',
  )
  assert.equal(
    refusal(() => inject({}, { 'a.pem': '%%' })),
    'validation_error',
  )
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`credentials/${index}`, 'x']))
  assert.equal(
    refusal(() => inject(many)),
    'validation_error',
  )
  assert.equal(
    refusal(() => inject({ 'a.pem': 'x'.repeat(1024 * 1024 + 1) })),
    'file_too_large',
  )
  assert.equal(
    refusal(() => inject({ 'credentials/a': 'x', 'credentials/a/b': 'x' })),
    'credential_path_refused',
  )
})

test('400 invalid_mcp_json for anything other than a tool server', () => {
  const mcp = (server: unknown, name = 's') =>
    refusal(() => inject({ '.mcp.json': JSON.stringify({ mcpServers: { [name]: server } }) }))
  assert.equal(mcp({ command: 'npx', args: ['-y', 'x'], env: { A: 'b' } }), 'accepted')
  assert.equal(mcp({ type: 'http', url: 'https://x.example.org', headers: { A: 'b' } }), 'accepted')
  assert.equal(mcp({ command: 'bash' }), 'invalid_mcp_json')
  assert.equal(mcp({ command: 'node', args: ['-e', '$(id)'] }), 'invalid_mcp_json')
  assert.equal(mcp({ type: 'http', url: 'file:///x' }), 'invalid_mcp_json')
  assert.equal(mcp({ command: 'npx' }, 'roost'), 'invalid_mcp_json')
  for (const text of ['[]', '{', '{"mcpServers":[]}'])
    assert.equal(
      refusal(() => inject({ '.mcp.json': text })),
      'invalid_mcp_json',
    )
})

test('secrets are found in every kind of credential file; ordinary words are not secrets', () => {
  const of = (path: string, text: string) => secretsIn(path, Buffer.from(text))
  assert.deepEqual(
    of(
      '.env',
      'API_KEY="abc-123-def"\nMODE=production\nHOME_DIR=/srv/data\nURL=https://x.example.org\nPORT=12345678\n',
    ),
    ['abc-123-def'],
  )
  assert.deepEqual(
    of('.env', 'HOOK=https://hooks.example.org/T0/B0/zzzzzz\nexport PASSWORD=onlyletters # c'),
    ['https://hooks.example.org/T0/B0/zzzzzz', 'onlyletters'],
  )
  // Escapes and an unclosed quote in another name are read as the agent reads them.
  assert.deepEqual(of('.env', 'TOKEN="tab\\tand\\$ign"'), ['tab\tand$ign'])
  assert.ok(of('.env', 'my-key="open\nTOKEN="abc-123-def"').includes('abc-123-def'))
  assert.deepEqual(of('.mcp.json', '{"mcpServers":{"a":{"headers":{"Authorization":"Bearer tok-12345"}}}}'), [
    'tok-12345',
  ])
  assert.deepEqual(of('.netrc', 'machine x login me password hunter2hunter2'), ['hunter2hunter2'])
  assert.ok(of('.npmrc', '//registry/:_authToken=npm_abcdefgh').includes('npm_abcdefgh'))
  const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----\n'
  assert.deepEqual(of('a.pem', key), ['MIIEvQIBADANBgkqhkiG9w0B'])
  const account = JSON.stringify({ type: 'service_account', private_key: key })
  assert.ok(of('service-account.json', account).includes('MIIEvQIBADANBgkqhkiG9w0B'))
})

describe('a bundle', () => {
  const vault = createVault(randomBytes(32))
  const files = [
    { path: '.env', bytes: Buffer.from('A=1') },
    { path: 'credentials/b', bytes: randomBytes(100) },
  ]
  const sealed = sealBundle(files, '2030-01-01T00:00:00.000Z', vault)

  test('still opens after the key that sealed it was rotated', () => {
    const old = randomBytes(32)
    const before = sealBundle(files, '2030-01-01T00:00:00.000Z', createVault(old))
    const retired = [{ key: old, turnsUntil: new Date(0) }]
    assert.deepEqual(
      openBundle(before, createVault(randomBytes(32), { retired, now: () => new Date() })),
      files,
    )
  })

  test('opens with its files, has the documented format, and reveals no content', () => {
    assert.deepEqual(openBundle(sealed, vault), files)
    const { v, alg, files: names, ...rest } = JSON.parse(sealed)
    assert.deepEqual([v, alg, names], [1, 'AES-256-GCM', ['.env', 'credentials/b']])
    assert.deepEqual(Object.keys(rest).sort(), ['created_at', 'data', 'key_id', 'nonce', 'tag'])
    assert.ok(!sealed.includes(Buffer.from('A=1').toString('base64')))
  })

  test('400 bundle_corrupt with another key, and after any change', () => {
    assert.equal(
      refusal(() => openBundle(sealed, createVault(randomBytes(32)))),
      'bundle_corrupt',
    )
    const parsed = JSON.parse(sealed)
    const changes = [
      { data: `AAAA${parsed.data.slice(4)}` },
      { nonce: 'AAAA' },
      { tag: parsed.tag.slice(4) },
      { tag: '' },
      { files: ['.env'] },
      { files: ['.env', '../x'] },
      { created_at: '2031-01-01T00:00:00.000Z' },
      { v: 2 },
      { alg: 'none' },
      { data: 5 },
    ]
    for (const change of changes) {
      const text = JSON.stringify({ ...parsed, ...change })
      assert.equal(
        refusal(() => openBundle(text, vault)),
        'bundle_corrupt',
        JSON.stringify(change).slice(0, 60),
      )
    }
    for (const text of ['', '{', '[]', 'null', sealed.slice(0, -10), '['.repeat(100_000)])
      assert.equal(
        refusal(() => openBundle(text, vault)),
        'bundle_corrupt',
        text.slice(0, 20),
      )
  })

  test('is also corrupt if sealed with its own key but with a path outside the workspace', () => {
    for (const path of ['../.bashrc', '/etc/passwd', '.git/config', '.bashrc', 'credentials/../../x']) {
      const text = sealBundle([{ path, bytes: Buffer.from('x') }], '2030-01-01T00:00:00.000Z', vault)
      assert.equal(
        refusal(() => openBundle(text, vault)),
        'bundle_corrupt',
        path,
      )
    }
  })

  test('none of more than 500 path forms makes a bundle or an injection write outside the workspace', () => {
    const home = '/home/developer'
    const forms = waysOut(home, '/home').filter((path) => path.length <= 300)
    assert.ok(forms.length >= 500, `${forms.length} forms`)
    const accepted = forms.filter((path) => {
      const file = { path, bytes: Buffer.from('x') }
      const outcomes = [
        refusal(() => openBundle(sealBundle([file], '2030-01-01T00:00:00.000Z', vault), vault)),
        refusal(() => inject({ [path]: 'x' })),
      ]
      const refusals = ['bundle_corrupt', 'credential_path_refused']
      assert.deepEqual(outcomes, outcomes[0] === 'accepted' ? ['accepted', 'accepted'] : refusals, path)
      return outcomes[0] === 'accepted'
    })
    for (const path of accepted) {
      assert.match(path, /^[\x21-\x7e]+$/)
      assert.ok(!path.split('/').some((part) => part === '' || part === '.' || part === '..'), path)
      assert.ok(posix.join(home, path).startsWith(`${home}/`), path)
    }
    // The remaining forms are plain names; links with such a name are checked in the workspace.
    assert.ok(accepted.length < 40, accepted.join(' '))
  })

  test('a bundle above the size limit is rejected before it is opened', () => {
    assert.equal(
      refusal(() => openBundle(' '.repeat(maxBundleBytes + 1), vault)),
      'bundle_corrupt',
    )
    const large = [{ path: 'a.pem', bytes: Buffer.alloc(maxBundledBytes + 1) }]
    assert.equal(
      refusal(() => sealBundle(large, '', vault)),
      'file_too_large',
    )
  })
})
