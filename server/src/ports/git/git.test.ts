import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type GitServer, startGitServer } from '@roost/test-support/git/index'
import { createGit } from './binary.ts'
import type { Git, GitFault, GitOutcome } from './port.ts'
import { checkAddress, checkRef } from './rules.ts'

const branch = { kind: 'branch', name: 'main' } as const
const tag = (name: string) => ({ kind: 'tag', name }) as const
let server: GitServer
let folder: string
let git: Git
let repo: string
before(async () => {
  server = await startGitServer()
  folder = await mkdtemp(join(tmpdir(), 'roost-git-cache-'))
  git = open()
  repo = `${server.url}/acme/skills`
})
after(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})
const open = (overrides: Partial<Parameters<typeof createGit>[0]> = {}) =>
  createGit({ baseUrl: server.url, mayBeInner: true, folder, path: process.env.PATH ?? '', ...overrides })
function got<T>(outcome: GitOutcome<T>): T {
  assert.ok(outcome.ok, JSON.stringify(outcome))
  return outcome.value
}
const refused = (outcome: GitOutcome<unknown>, fault: GitFault) =>
  assert.equal(outcome.ok ? 'ok' : outcome.fault, fault, JSON.stringify(outcome))

test('a branch is listed and read from the objects, with links and modes unchanged', async () => {
  const commit = await server.commit('acme/skills', {
    'a/SKILL.md': '# A\n',
    'a/run.sh': { script: '#!/bin/sh\n' },
    'a/evil': { link: '/etc/passwd' },
    'a/dir': { link: '../../..' },
  })
  assert.deepEqual(got(await git.fetch(repo, branch)), { commit })
  const entries = got(await git.list(repo, commit))
  assert.deepEqual(
    entries.map(({ path, kind, size }) => [path, kind, size]),
    [
      ['a', 'folder', 0],
      ['a/SKILL.md', 'file', 4],
      ['a/dir', 'link', 8],
      ['a/evil', 'link', 11],
      ['a/run.sh', 'executable', 10],
    ],
  )
  assert.equal(entries[0]?.sha, await server.git('acme/skills', 'rev-parse', 'main:a'))
  const sha = entries[1]?.sha ?? ''
  assert.equal(
    got(await git.read(repo, [sha, sha], { maxBytes: 4 }))
      .get(sha)
      ?.toString(),
    '# A\n',
  )
  refused(await git.read(repo, [sha], { maxBytes: 3 - 64 }), 'too_large')
  refused(await git.read(repo, ['0'.repeat(40)], { maxBytes: 9 }), 'missing')
  refused(await git.list(`${server.url}/acme/unfetched`, commit), 'missing')
})

test('an annotated tag returns its commit, even after it was moved', async () => {
  const first = await server.commit('acme/tags', { 'x.txt': '1' })
  await server.tag('acme/tags', 'v1', { message: 'one' })
  const address = `${server.url}/acme/tags`
  assert.equal(got(await git.fetch(address, tag('v1'))).commit, first)
  const second = await server.commit('acme/tags', { 'x.txt': '2' })
  await server.tag('acme/tags', 'v1', { message: 'two' })
  assert.equal(got(await git.fetch(address, tag('v1'))).commit, second)
  // Fetched commits stay readable.
  assert.equal(got(await git.list(address, first)).length, 1)
})

test('the default branch is known without a fetch', async () => {
  await server.commit('acme/first', { 'x.txt': '1' }, 'main')
  const address = `${server.url}/acme/first`
  assert.equal(got(await git.defaultBranch(address)), 'main')
  await server.commit('acme/first', { 'x.txt': '2' }, 'trunk')
  await server.git('acme/first', 'symbolic-ref', 'HEAD', 'refs/heads/trunk')
  assert.equal(got(await git.defaultBranch(address)), 'trunk')
  refused(await git.defaultBranch(`${server.url}/acme/nothing`), 'not_found')
  await server.git('acme/first', 'symbolic-ref', 'HEAD', 'refs/heads/none')
  refused(await git.defaultBranch(address), 'ref_not_found')
  server.behave('redirect')
  refused(await git.defaultBranch(address), 'unreachable')
  server.behave('well')
  refused(await git.defaultBranch('https://elsewhere.example.org/a/b'), 'address_refused')
})

test('missing and private repositories and refs have named faults', async () => {
  refused(await git.fetch(repo, { kind: 'branch', name: 'nope' }), 'ref_not_found')
  refused(await git.fetch(`${server.url}/acme/nothing`, branch), 'not_found')
  server.behave('private')
  refused(await git.fetch(repo, branch), 'not_found')
  got(await git.fetch(repo, branch, { token: 'tok-canary-1' }))
  const sent = server.requests.at(-1)?.authorization ?? ''
  assert.match(Buffer.from(sent.replace('Basic ', ''), 'base64').toString(), /:tok-canary-1$/)
  server.behave('well')
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const file of files.filter((each) => each.isFile()))
    assert.doesNotMatch(await readFile(join(file.parentPath, file.name), 'latin1'), /tok-canary|eC1hY2Nlc3/)
})

test('a hanging, redirecting or invalid host fails, and no git process is left running', async () => {
  server.behave('hang')
  const began = Date.now()
  refused(await git.fetch(repo, branch, { timeoutSeconds: 1 }), 'timeout')
  refused(await git.fetch(repo, branch, { signal: AbortSignal.timeout(200) }), 'timeout')
  assert.ok(Date.now() - began < 60_000)
  server.behave('redirect')
  refused(await git.fetch(repo, branch), 'unreachable')
  // An HTML page is read as an empty list of refs.
  server.behave('not_git')
  refused(await git.fetch(repo, branch), 'ref_not_found')
  server.behave('well')
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args'])
  assert.equal(stdout.split('\n').filter((line) => line.includes(repo) && line.includes('fetch')).length, 0)
})

test('a repository above the size limit is refused during the fetch', async () => {
  const files = Object.fromEntries([0, 1, 2].map((n) => [`${n}.bin`, randomBytes(300_000)]))
  await server.commit('acme/huge', files)
  refused(await git.fetch(`${server.url}/acme/huge`, branch, { maxBytes: 20_000 }), 'too_large')
  got(await git.fetch(`${server.url}/acme/huge`, branch))
})

test('a changed large file is fetched again completely, because its delta exceeds the limits', async () => {
  const lines = Array.from({ length: 620_000 }, (_, n) => createHash('sha256').update(`${n}`).digest('hex'))
  const commit = (text: string) =>
    server.commit('acme/large', { 'data.json': `${text}\n${lines.join('\n')}` })
  const address = `${server.url}/acme/large`
  for (const text of ['first', 'second']) {
    const made = await commit(text)
    assert.deepEqual(await git.fetch(address, branch), { ok: true, value: { commit: made } })
  }
})

test('unused caches are deleted and kept ones are tidied', async () => {
  const own = await mkdtemp(join(tmpdir(), 'roost-git-prune-'))
  const cached = open({ folder: own })
  const address = `${server.url}/acme/gathered`
  const commits: string[] = []
  for (let turn = 0; turn < 11; turn += 1) {
    await server.commit('acme/gathered', { 'x.bin': randomBytes(1000) })
    commits.push(got(await cached.fetch(address, branch)).commit)
  }
  got(await cached.fetch(repo, branch))
  const packs = async () =>
    (await readdir(own, { recursive: true })).filter((name) => name.endsWith('.pack')).length
  assert.equal(await packs(), 12)
  const [first = '', last = ''] = [commits[0], commits.at(-1)]
  const needed = new Map([[address, [first]]])
  assert.deepEqual(await cached.prune(needed, new Date(0)), { removed: 0, tidied: 1 })
  assert.equal(await packs(), 2)
  for (const commit of [first, last]) assert.equal(got(await cached.list(address, commit)).length, 1)
  assert.deepEqual(await cached.prune(needed, new Date(Date.now() + 60_000)), { removed: 1, tidied: 0 })
  refused(await cached.list(repo, last), 'missing')
  got(await cached.fetch(repo, branch))
  await rm(own, { recursive: true })
})

test('the locks of a killed fetch are removed, and a branch may become a folder of branches', async () => {
  const own = await mkdtemp(join(tmpdir(), 'roost-git-locks-'))
  const cached = open({ folder: own })
  const address = `${server.url}/acme/renamed`
  await server.commit('acme/renamed', { 'x.txt': '1' }, 'release')
  got(await cached.fetch(address, { kind: 'branch', name: 'release' }))
  const [cache = ''] = await readdir(own)
  const locks = ['shallow.lock', 'refs/roost/heads/x.lock'].map((name) => join(own, cache, name))
  for (const lock of locks) {
    await writeFile(lock, '')
    await utimes(lock, 0, 0)
  }
  await server.git('acme/renamed', 'branch', '-m', 'release', 'other')
  await server.git('acme/renamed', 'branch', '-m', 'other', 'release/1')
  got(await cached.fetch(address, { kind: 'branch', name: 'release/1' }))
  for (const lock of locks) await assert.rejects(readFile(lock), { code: 'ENOENT' })
  await rm(own, { recursive: true })
})

test('twenty concurrent fetches of one repository succeed', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => git.fetch(repo, branch)))
  assert.equal(new Set(all.map((each) => got(each).commit)).size, 1)
})

test('a folder becomes the same commit everywhere', async () => {
  const source = await mkdtemp(join(tmpdir(), 'roost-bundle-'))
  await writeFile(join(source, 'SKILL.md'), 'x')
  const first = got(await git.bundle('bundled:a', source)).commit
  assert.equal(got(await git.bundle('bundled:b', source)).commit, first)
  assert.deepEqual(
    got(await git.list('bundled:b', first)).map(({ path }) => path),
    ['SKILL.md'],
  )
  await rm(source, { recursive: true })
})

test('a name that resolves to an inner network is refused unless the configuration allows the host', async () => {
  const lookups: string[] = []
  const lookup = async (host: string) => {
    lookups.push(host)
    return ['127.0.0.1']
  }
  const { port } = new URL(server.url)
  const over = { baseUrl: `http://git.example.org:${port}`, lookup }
  const address = `${over.baseUrl}/acme/skills`
  refused(await open({ ...over, mayBeInner: false }).fetch(address, branch), 'address_refused')
  // The name does not resolve: git connects only to the looked-up address.
  got(await open(over).fetch(address, branch))
  assert.deepEqual(lookups, ['git.example.org', 'git.example.org'])
})

test('addresses belong to the configured host and contain no credentials, queries or dots', () => {
  const base = 'https://github.com'
  const normalized = (text: string) => {
    const outcome = checkAddress(text, base)
    return outcome.ok ? outcome.value : null
  }
  assert.equal(normalized('https://github.com/acme/skills.git'), 'https://github.com/acme/skills')
  assert.equal(normalized(' https://GitHub.com/acme/skills/ '), 'https://github.com/acme/skills')
  for (const text of [
    'https://gitlab.com/acme/skills',
    'http://github.com/acme/skills',
    'https://github.com:444/acme/skills',
    'https://github.com.evil.org/acme/skills',
    'https://user:pw@github.com/acme/skills',
    'https://token@github.com/acme/skills',
    'https://github.com/acme',
    'https://github.com/acme/../x',
    'https://github.com/acme/%2e%2e/x',
    'https://github.com/acme/x?y=1',
    'https://github.com/acme/-x',
    'git@github.com:acme/skills',
    'ssh://git@github.com/acme/skills',
    'ext::sh -c id',
    'file:///etc',
    '/etc',
    '',
  ])
    assert.equal(normalized(text), null, text)
})

test('refs are valid branch or tag names without special meaning for git', () => {
  for (const name of ['main', 'v1.2.3', 'feature/x-1']) assert.equal(checkRef({ kind: 'branch', name }), null)
  for (const name of [
    '',
    '-x',
    '--upload-pack=id',
    'a..b',
    'a b',
    'a:b',
    'x^{}',
    'refs/heads/x',
    'a.lock',
    '@',
    'a/',
    '/a',
    'a'.repeat(40),
  ]) {
    assert.ok(checkRef({ kind: 'tag', name }), name)
  }
})
