import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { as, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { buildFile, buildRecord, readBuildInfo, versionRoutes } from './index.ts'

/** A temporary folder with this `package.json`; null: without the file. */
async function makeRoot(manifest: string | null) {
  const root = await mkdtemp(join(tmpdir(), 'roost-version-'))
  if (manifest !== null) await writeFile(join(root, 'package.json'), manifest)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], {
      cwd: root,
      env: { PATH: process.env.PATH, GIT_COMMITTER_DATE: '2026-01-05T08:00:00+00:00' },
      stdio: 'pipe',
      encoding: 'utf8',
    }).trim()
  return { root, git, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) }
}

const manifest = JSON.stringify({ version: '1.2.3' })
const options = { installSource: 'image', entitlements: [] }

test('a build in a repository has its version, commit, branch and date', async () => {
  await using it = await makeRoot(manifest)
  it.git('init', '-q', '-b', 'release')
  it.git('commit', '-q', '--allow-empty', '-m', 'fix: a title', '-m', 'a body')
  const build = await readBuildInfo(it.root, options)
  const commit = it.git('rev-parse', 'HEAD')
  assert.deepEqual(build, {
    version: '1.2.3',
    git_commit: commit,
    git_commit_short: it.git('rev-parse', '--short', 'HEAD'),
    git_branch: 'release',
    git_commit_subject: 'fix: a title',
    build_date: build.build_date,
    install_source: 'image',
    edition: 'oss',
    enterprise_features: [],
    platform: 'roost',
  })
  assert.equal(Date.parse(build.build_date), Date.parse('2026-01-05T08:00:00Z'))
})

const unknown = {
  git_commit: null,
  git_commit_short: 'unknown',
  git_branch: 'unknown',
  git_commit_subject: 'unknown',
  build_date: 'unknown',
}

test('a copy has the recorded commit, also inside another repository', async () => {
  await using checkout = await makeRoot(manifest)
  checkout.git('init', '-q', '-b', 'release')
  checkout.git('commit', '-q', '--allow-empty', '-m', 'fix: a title')
  const record = await buildRecord(checkout.root)
  const commit = checkout.git('rev-parse', 'HEAD')
  const date = '2026-01-05T08:00:00.000Z'
  assert.deepEqual(record, { version: '1.2.3', commit, subject: 'fix: a title', date })

  await using it = await makeRoot(manifest)
  it.git('init', '-q')
  it.git('commit', '-q', '--allow-empty', '-m', 'not this one')
  await writeFile(join(it.root, buildFile), JSON.stringify(record))
  assert.deepEqual(await gitFieldsOf(it.root), {
    git_commit: commit,
    git_commit_short: commit.slice(0, 10),
    git_branch: 'unknown',
    git_commit_subject: 'fix: a title',
    build_date: date,
  })
  // An image that is built from a source archive.
  assert.deepEqual(await buildRecord(it.root), record)
  await writeFile(join(it.root, buildFile), '{')
  await assert.rejects(readBuildInfo(it.root, options), SyntaxError)
})

async function gitFieldsOf(root: string) {
  const { git_commit, git_commit_short, git_branch, git_commit_subject, build_date } = await readBuildInfo(
    root,
    options,
  )
  return { git_commit, git_commit_short, git_branch, git_commit_subject, build_date }
}

test('a build without a repository has unknown git fields', async () => {
  await using it = await makeRoot(manifest)
  assert.deepEqual(await gitFieldsOf(it.root), unknown)
})

test('a repository without a commit has unknown git fields', async () => {
  await using it = await makeRoot(manifest)
  it.git('init', '-q')
  assert.deepEqual(await gitFieldsOf(it.root), unknown)
})

test('a machine without git has unknown git fields', async () => {
  await using it = await makeRoot(manifest)
  it.git('init', '-q')
  it.git('commit', '-q', '--allow-empty', '-m', 'a title')
  const path = process.env.PATH
  process.env.PATH = it.root
  try {
    assert.deepEqual(await gitFieldsOf(it.root), unknown)
  } finally {
    process.env.PATH = path
  }
})

test('a missing or invalid package.json fails the start', async () => {
  await using missing = await makeRoot(null)
  await assert.rejects(readBuildInfo(missing.root, options), { code: 'ENOENT' })
  await using invalid = await makeRoot('{')
  await assert.rejects(readBuildInfo(invalid.root, options), SyntaxError)
})

test('entitlements make the enterprise edition', async () => {
  await using it = await makeRoot(manifest)
  const build = await readBuildInfo(it.root, { ...options, entitlements: ['sso'] })
  assert.deepEqual([build.edition, build.enterprise_features], ['enterprise', ['sso']])
})

test('200 with the build, its components and whether voice is on now', async () => {
  await using it = await makeRoot(manifest)
  const build = await readBuildInfo(it.root, options)
  let isVoiceOn = false
  const app = routesApp(
    versionRoutes({ build, agentImageVersion: '1.2.3-abc', isVoiceOn: () => isVoiceOn }),
    { ann: { caller: person(), relation: null } },
  )
  const get = async () => {
    const reply = await app.inject({ method: 'GET', url: '/api/version', headers: as('ann') })
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json()
  }
  assert.deepEqual(await get(), {
    ...build,
    runtimes: ['claude-code', 'gemini-cli', 'codex'],
    components: { server: '1.2.3', agent_image: '1.2.3-abc' },
    voice_enabled: false,
  })
  isVoiceOn = true
  assert.equal((await get()).voice_enabled, true)
  await app.close()
})
