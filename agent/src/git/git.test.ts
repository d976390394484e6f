import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { GitBranches, GitEnd } from '@roost/contracts/link/git'
import { type GitServer, startGitServer } from '@roost/test-support/git/index'
import { createIdentities } from '../processes/identity.ts'
import { gitignoreFor, writeGitignore } from '../workspace/gitignore.ts'
import { createWorkspaceGit } from './git.ts'
import { withCommittedIgnore } from './platform-ignore.ts'
import { createRunGit } from './run.ts'

let server: GitServer
before(async () => {
  server = await startGitServer()
})
after(() => server[Symbol.asyncDispose]())

const branches: GitBranches = { working: 'roost/one/abc', source: 'main', source_mode: false }
const identities = createIdentities({
  uid: process.getuid?.() ?? 0,
  hasAmbient: false,
  homeOwner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  hasSetpriv: false,
})

/** Creates a workspace as a template leaves it, bound to its own repository. */
async function workspace(repository: string, over: Partial<GitBranches> = {}) {
  const writers = { present: false }
  const commit = await server.commit(repository, { 'CLAUDE.md': 'one\n', 'notes.txt': 'a\n' })
  await server.git(repository, 'config', 'http.receivepack', 'true')
  const home = await mkdtemp(join(tmpdir(), 'roost-workspace-'))
  await writeFile(join(home, 'CLAUDE.md'), 'one\n')
  await writeFile(join(home, 'notes.txt'), 'a\n')
  await writeFile(join(home, '.env'), 'SECRET=1\n')
  const run = createRunGit({ home, path: process.env.PATH ?? '', identities, author: 'one' })
  const git = createWorkspaceGit({ git: run, home, isShared: () => writers.present })
  const own = { ...branches, ...over }
  const transfer = { url: `${server.url}/${repository}.git`, ticket: 'ticket-canary' }
  const remote_url = `https://git.example.org/${repository}`
  const bound = await git.bind({ branches: own, transfer, remote_url, commit })
  assert.deepEqual(bound.end, { outcome: 'done', commit_sha: commit, files_changed: 0 })
  const call = { branches: own, transfer }
  const write = (name: string, text: string) => writeFile(join(home, name), text)
  const read = (name: string) => readFile(join(home, name), 'utf8')
  const sync = (strategy: 'normal' | 'pull_first' | 'force_push' = 'normal', paths: string[] | null = null) =>
    git.sync({ ...call, message: 'work', paths, strategy })
  const pull = (strategy: 'clean' | 'stash_reapply' | 'force_reset' = 'clean') =>
    git.pull({ ...call, strategy })
  const remove = () => rm(home, { recursive: true, force: true })
  return { home, writers, git, call, run, write, read, sync, pull, commit, [Symbol.asyncDispose]: remove }
}
const messageOf = (end: GitEnd) => (end.outcome === 'failed' ? end.message : end.outcome)
const conflictOf = (end: GitEnd) => (end.outcome === 'conflict' ? end.conflict : end)

test('binding makes a repository around the present files and reports the differences', async () => {
  await using one = await workspace('acme/bind')
  await one.write('notes.txt', 'b\n')
  const { state, failed } = await one.git.look(one.call)
  assert.equal(failed, null)
  assert.deepEqual(state.changes, [' M notes.txt'])
  assert.deepEqual(
    [state.branch, state.remote_url, state.ahead, state.behind, state.has_credential],
    ['roost/one/abc', 'https://git.example.org/acme/bind', 0, 0, false],
  )
  assert.equal((await one.git.log(5)).commits[0]?.sha, one.commit)
  // The ticket is not stored in the workspace.
  assert.doesNotMatch(await one.read('.git/config'), /ticket|127\.0\.0\.1/)
})

test('a sync commits and pushes the working branch without files of the platform', async () => {
  await using one = await workspace('acme/sync')
  await one.write('new.txt', 'n\n')
  await one.write('notes.txt', 'b\n')
  const some = await one.sync('normal', ['new.txt'])
  assert.equal(some.end.outcome === 'done' && some.end.files_changed, 1)
  const all = await one.sync()
  assert.ok(all.end.outcome === 'done')
  assert.equal(all.end.files_changed, 1)
  assert.equal(await server.git('acme/sync', 'rev-parse', 'roost/one/abc'), all.end.commit_sha)
  const files = await server.git('acme/sync', 'ls-tree', '-r', '--name-only', 'roost/one/abc')
  assert.deepEqual(files.split('\n'), ['CLAUDE.md', 'new.txt', 'notes.txt'])
  assert.equal(await server.git('acme/sync', 'rev-parse', 'main'), one.commit)
  assert.deepEqual([all.state.ahead, all.state.behind, all.state.changes], [0, 0, []])
  const again = await one.sync()
  assert.deepEqual(again.end, { outcome: 'done', commit_sha: all.end.commit_sha, files_changed: 0 })
  const named = await one.sync('normal', ['.env'])
  assert.equal(named.end.outcome, 'refused')
  assert.doesNotMatch(await server.git('acme/sync', 'ls-tree', '-r', '--name-only', 'roost/one/abc'), /env/)
})

test('a moved remote is a conflict; pull_first resolves it unless the same lines changed', async () => {
  await using one = await workspace('acme/moved')
  await one.write('mine.txt', '1\n')
  await one.sync()
  await server.commit('acme/moved', { 'theirs.txt': 't\n' }, 'roost/one/abc')
  await one.write('mine.txt', '2\n')
  assert.equal(conflictOf((await one.sync()).end), 'diverged')
  assert.equal((await one.sync('pull_first')).end.outcome, 'done')
  assert.equal(await one.read('theirs.txt'), 't\n')
  await server.commit('acme/moved', { 'mine.txt': 'other\n' }, 'roost/one/abc')
  await one.write('mine.txt', '3\n')
  assert.equal(conflictOf((await one.sync('pull_first')).end), 'rebase_conflict')
  assert.equal(await one.read('mine.txt'), '3\n')
  const forced = await one.sync('force_push')
  assert.ok(forced.end.outcome === 'done')
  assert.equal(await server.git('acme/moved', 'show', 'roost/one/abc:mine.txt'), '3')
})

test('a pull in source mode updates from the source and keeps, stashes or discards local changes as requested', async () => {
  await using one = await workspace('acme/pull', { source_mode: true })
  await server.commit('acme/pull', { 'notes.txt': 'later\n' })
  await one.write('CLAUDE.md', 'own\n')
  assert.equal(conflictOf((await one.pull()).end), 'uncommitted_changes')
  const stashed = await one.pull('stash_reapply')
  assert.equal(stashed.end.outcome === 'done' && stashed.end.files_changed, 1)
  assert.deepEqual([await one.read('notes.txt'), await one.read('CLAUDE.md')], ['later\n', 'own\n'])
  await server.commit('acme/pull', { 'CLAUDE.md': 'theirs\n' })
  assert.equal(conflictOf((await one.pull('stash_reapply')).end), 'stash_conflict')
  await one.write('CLAUDE.md', 'again\n')
  assert.equal((await one.pull('force_reset')).end.outcome, 'done')
  assert.equal(await one.read('CLAUDE.md'), 'theirs\n')
  assert.equal(await one.read('.env'), 'SECRET=1\n')
})

test('a refusing or unreachable remote fails without showing its address; credentials in addresses are detected', async () => {
  await using one = await workspace('acme/away')
  server.behave('redirect')
  const away = await one.git.look(one.call)
  server.behave('well')
  assert.ok(away.failed)
  assert.doesNotMatch(away.failed, /127\.0\.0\.1|http/)
  await one.run(['config', 'remote.origin.url', 'https://user:tok@git.example.org/acme/away'])
  const { state } = await one.git.look({ ...one.call, transfer: null })
  assert.deepEqual([state.has_credential, state.remote_url], [true, 'https://git.example.org/acme/away'])
})

test('the changes of a sync or pull are listed by commit, without credentials and within limits', async () => {
  await using one = await workspace('acme/change')
  const between = (end: GitEnd) => {
    assert.ok(end.outcome === 'done' && end.from_sha && end.commit_sha, JSON.stringify(end))
    return one.git.change({ from_sha: end.from_sha, to_sha: end.commit_sha })
  }
  await one.write('CLAUDE.md', 'one\ntwo\n')
  await rm(join(one.home, 'notes.txt'))
  await one.write('moved.txt', 'a\n')
  await one.write('with tab\tand "quotes"', 'x\n')
  await one.write('picture.bin', 'a\0b')
  await mkdir(join(one.home, 'deep'))
  await one.write('deep/.env.local', 'TOKEN=canary\n')
  await one.write('deep/Server.PEM', 'canary\n')
  // Diff settings of the workspace are ignored.
  await one.write('.gitattributes', '*.md diff=own\n')
  await one.run(['config', 'diff.own.textconv', 'touch ran; cat'])
  await one.run(['config', 'diff.external', 'touch ran'])
  await one.run(['config', 'diff.noprefix', 'true'])
  await one.run(['config', 'color.diff', 'always'])
  const first = await one.sync()
  assert.equal(first.end.outcome === 'done' && first.end.from_sha, one.commit)
  const { found, files, total_files, hidden_files, diff, truncated } = await between(first.end)
  assert.deepEqual([found, total_files, hidden_files, truncated], [true, 5, 2, false])
  assert.deepEqual(
    files.map(({ status, path, additions, deletions }) => [status, path, additions, deletions]),
    [
      ['added', '.gitattributes', 1, 0],
      ['modified', 'CLAUDE.md', 1, 0],
      ['renamed', 'moved.txt', 0, 0],
      ['added', 'picture.bin', null, null],
      ['added', 'with tab\tand "quotes"', 1, 0],
    ],
  )
  assert.equal(files[2]?.previous_path, 'notes.txt')
  assert.match(diff, /^--- a\/CLAUDE\.md\n\+\+\+ b\/CLAUDE\.md\n@@ -1 \+1,2 @@\n one\n\+two$/m)
  assert.equal(diff.match(/^diff --git /gm)?.length, 5)
  assert.doesNotMatch(diff, /canary|\.env|\x1b|PEM/)
  await assert.rejects(access(join(one.home, 'ran')))

  await server.commit('acme/change', { 'CLAUDE.md': 'theirs\n' }, 'roost/one/abc')
  const pulled = await one.pull()
  assert.deepEqual(
    (await between(pulled.end)).files.map(({ path }) => path),
    ['CLAUDE.md'],
  )
  assert.ok(!('from_sha' in (await one.pull()).end), 'an up-to-date pull reports no change')

  const line = `${'ü'.repeat(50)}\n`
  await one.write('large.txt', line.repeat(100_000))
  await Promise.all(Array.from({ length: 520 }, (_, index) => one.write(`z${index}.txt`, 'z\n')))
  const large = await between((await one.sync()).end)
  assert.deepEqual([large.files.length, large.total_files, large.truncated], [500, 521, true])
  assert.ok(Buffer.byteLength(large.diff) <= 200 * 1024 && large.diff.endsWith(`+${line}`))
  assert.equal(large.files[0]?.additions, 100_000)

  const missing = await one.git.change({ from_sha: 'f'.repeat(40), to_sha: one.commit })
  assert.deepEqual([missing.found, missing.files, missing.diff], [false, [], ''])
})

test('a workspace initializes an empty remote and joins one with commits', async () => {
  await using one = await workspace('acme/first')
  await one.write('notes.txt', 'own\n')
  const initialize = async (repository: string) => {
    const transfer = { url: `${server.url}/${repository}.git`, ticket: 't' }
    const remote_url = `https://git.example.org/${repository}`
    return one.git.initialize({ branches, transfer, remote_url, message: 'first' })
  }
  await server.create('acme/empty')
  const { end, state } = await initialize('acme/empty')
  assert.ok(end.outcome === 'done', JSON.stringify(end))
  for (const branch of ['main', 'roost/one/abc'])
    assert.equal(await server.git('acme/empty', 'rev-parse', branch), end.commit_sha)
  assert.equal(await server.git('acme/empty', 'show', 'main:notes.txt'), 'own')
  assert.doesNotMatch(await server.git('acme/empty', 'ls-tree', '-r', '--name-only', 'main'), /\.env/)
  assert.deepEqual(
    [state.ahead, state.behind, state.remote_url],
    [0, 0, 'https://git.example.org/acme/empty'],
  )
  const remoteCommit = await server.commit('acme/full', { 'theirs.txt': 't\n' })
  await server.git('acme/full', 'config', 'http.receivepack', 'true')
  const joined = await initialize('acme/full')
  assert.equal(joined.end.outcome, 'done', JSON.stringify(joined.end))
  assert.equal(await server.git('acme/full', 'rev-parse', 'main'), remoteCommit)
  assert.equal(await server.git('acme/full', 'rev-parse', 'roost/one/abc~1'), remoteCommit)
  assert.equal(await server.git('acme/full', 'show', 'roost/one/abc:notes.txt'), 'own')
})

test('a reset matches the source, keeps the agent’s own files and loses nothing', async () => {
  await using one = await workspace('acme/reset')
  await mkdir(join(one.home, 'content'))
  await one.write('content/made.md', 'made\n')
  await one.write('notes.txt', 'changed\n')
  await one.sync()
  await one.write('loose.txt', 'loose\n')
  // Files of the platform are not taken from the repository.
  const main = await server.commit('acme/reset', { 'CLAUDE.md': 'two\n', '.env': 'SECRET=theirs\n' })
  const done = await one.git.reset({ ...one.call, stamp: '20300101T000000Z' })
  assert.ok(done.end.outcome === 'done', JSON.stringify(done.end))
  assert.deepEqual(done.files_preserved, ['.env', 'content/made.md'])
  assert.equal(done.snapshot_dir, '.roost/snapshots/20300101T000000Z')
  assert.deepEqual(await Promise.all(['CLAUDE.md', 'notes.txt', '.env', 'content/made.md'].map(one.read)), [
    'two\n',
    'a\n',
    'SECRET=1\n',
    'made\n',
  ])
  await assert.rejects(access(join(one.home, 'loose.txt')))
  for (const [name, text] of [
    ['notes.txt', 'changed\n'],
    ['loose.txt', 'loose\n'],
  ])
    assert.equal(await one.read(`${done.snapshot_dir}/${name}`), text)
  assert.equal(await server.git('acme/reset', 'rev-parse', 'roost/one/abc'), done.end.commit_sha)
  assert.equal(await server.git('acme/reset', 'rev-parse', 'roost/one/abc~1'), main)
  const pushed = await server.git('acme/reset', 'log', '-p', '--format=', 'roost/one/abc')
  assert.doesNotMatch(pushed, /SECRET=1/)
})

test('git hooks of the workspace never run', async () => {
  await using one = await workspace('acme/hooks')
  await one.run(['config', 'core.hooksPath', '.'])
  await writeFile(join(one.home, 'pre-commit'), '#!/bin/sh\ntouch ran\n', { mode: 0o755 })
  assert.equal((await one.sync()).end.outcome, 'done')
  await assert.rejects(access(join(one.home, 'ran')))
})

test('the platform’s own lines in .gitignore are no change, whether the repository has the file or not', async () => {
  for (const [repository, committed] of [
    ['acme/ignore-none', null],
    ['acme/ignore-own', 'dist\n'],
    ['acme/ignore-unended', '\ndist'],
    ['acme/ignore-platform', gitignoreFor('dist\n')],
  ] as const) {
    await using one = await workspace(repository)
    if (committed !== null) {
      await server.commit(repository, { '.gitignore': committed })
      assert.equal((await one.pull()).end.outcome, 'done')
    }
    await writeGitignore(one.home)
    const { state } = await one.git.look(one.call)
    assert.deepEqual(state.changes, [], repository)

    await server.commit(repository, { 'notes.txt': 'b\n', '.gitignore': 'dist\nbuild\n' })
    assert.equal((await one.pull()).end.outcome, 'done', repository)
    assert.equal(await one.read('.gitignore'), gitignoreFor('dist\nbuild\n'))
    assert.deepEqual((await one.git.look(one.call)).state.changes, [])

    await one.write('work.txt', 'new\n')
    assert.equal((await one.sync('pull_first')).end.outcome, 'done')
    const pushed = await server.git(repository, 'show', `${one.call.branches.working}:.gitignore`)
    assert.equal(String(pushed).trim(), 'dist\nbuild')
    assert.equal(await one.read('.gitignore'), gitignoreFor('dist\nbuild\n'))
  }
})

test('lines of the user in .gitignore stay a change, and pulls keep the block of the skills', async () => {
  await using one = await workspace('acme/ignore-change')
  await server.commit('acme/ignore-change', { '.gitignore': 'dist\n' })
  await one.pull()
  const skills = '# roost: skills begin\n/.claude/skills/one/\n# roost: skills end\n'
  const withSkills = (own: string) =>
    gitignoreFor(own).replace('# roost: floor begin', `${skills}# roost: floor begin`)
  await one.write('.gitignore', withSkills('dist\n'))
  await server.commit('acme/ignore-change', { '.gitignore': 'build\n' })
  assert.equal((await one.pull()).end.outcome, 'done')
  assert.equal(await one.read('.gitignore'), withSkills('build\n'))
  await one.write('.gitignore', withSkills('build\nmine\n'))
  assert.deepEqual((await one.git.look(one.call)).state.changes, [' M .gitignore'])
  assert.equal(conflictOf((await one.pull()).end), 'uncommitted_changes')
})

test('in a shared workspace, a repository whose settings run programs is refused, and works again without them', async () => {
  await using one = await workspace('acme/programs')
  const file = join(one.home, '..', `ran-${basename(one.home)}`)
  const program = `touch ${file}; cat`
  await one.run(['config', 'filter.own.clean', program])
  await one.run(['config', 'merge.own.driver', program])
  await one.write('.gitattributes', '* filter=own merge=own\n')
  one.writers.present = true
  await one.write('notes.txt', 'b\n')
  const { state, failed } = await one.git.look(one.call)
  const reason = /settings of "\." have (filter|merge)\.own\.(clean|driver)\..*Others may write/
  assert.match(String(failed), reason)
  assert.deepEqual([state.is_repository, state.branch, state.ahead, state.changes], [true, null, null, []])
  for (const end of [
    (await one.sync()).end,
    (await one.pull('stash_reapply')).end,
    (await one.git.reset({ ...one.call, stamp: '1' })).end,
  ]) {
    assert.match(messageOf(end), reason)
  }
  await assert.rejects(access(file))
  for (const section of ['filter.own', 'merge.own']) await one.run(['config', '--remove-section', section])
  await one.run(['config', 'include.path', 'more'])
  assert.match(String((await one.git.look(one.call)).failed), /include\.path/)
  await one.run(['config', '--unset', 'include.path'])
  assert.equal((await one.sync()).end.outcome, 'done')

  one.writers.present = false
  await one.run(['config', 'filter.own.clean', "tr 'a-z' 'A-Z'"])
  await one.write('notes.txt', 'filtered\n')
  assert.equal((await one.sync()).end.outcome, 'done')
  assert.equal(await server.git('acme/programs', 'show', 'roost/one/abc:notes.txt'), 'FILTERED')
})

test('in a shared workspace, settings of nested repositories are checked, too', async () => {
  await using one = await workspace('acme/nested')
  const nested = join(one.home, 'nested')
  await mkdir(nested)
  const inNested = (...args: string[]) =>
    one.run(['-C', nested, `--git-dir=${nested}/.git`, '--work-tree=.', ...args])
  await inNested('init', '--quiet')
  await one.write('nested/one.txt', '1\n')
  await one.write('nested/.gitattributes', '* filter=own\n')
  await inNested('add', '--all')
  await inNested('commit', '--quiet', '-m', 'first')
  one.writers.present = true
  assert.equal((await one.sync()).end.outcome, 'done')
  await inNested('config', 'filter.own.clean', `touch ${one.home}/ran; cat`)
  await one.write('nested/one.txt', '2\n')
  const { failed } = await one.git.look(one.call)
  assert.match(String(failed), /settings of "nested" have filter\.own\.clean/)
  assert.equal((await one.sync()).end.outcome, 'failed')
  await assert.rejects(access(join(one.home, 'ran')))
})

test('in a shared workspace, git writes through no link of the repository', async () => {
  await using one = await workspace('acme/links')
  await using outside = await keptFile()
  one.writers.present = true
  for (const name of ['.git/COMMIT_EDITMSG', '.git/logs/HEAD']) {
    await rm(join(one.home, name), { force: true })
    await symlink(outside.path, join(one.home, name))
    await one.write('notes.txt', name)
    const { end } = await one.sync()
    assert.match(messageOf(end), /COMMIT_EDITMSG|logs\/HEAD is a link/)
    await rm(join(one.home, name))
  }
  await promisify(execFile)('mkfifo', [join(one.home, '.git', 'info', 'attributes')])
  assert.match(String((await one.git.look(one.call)).failed), /attributes is a link or a pipe/)
  await rm(join(one.home, '.git', 'info', 'attributes'))
  await rename(join(one.home, '.git'), join(one.home, 'own'))
  for (const place of ['.git', '.git/commondir']) {
    if (place !== '.git') await mkdir(join(one.home, '.git'))
    await one.write(place, `gitdir: ${one.home}/own\n`)
    assert.match(messageOf((await one.sync()).end), /\.git refers to another folder/)
    await rm(join(one.home, '.git'), { recursive: true })
  }
  await rename(join(one.home, 'own'), join(one.home, '.git'))
  assert.equal((await one.sync()).end.outcome, 'done')
  assert.equal(await outside.read(), 'kept\n')
})

test('the platform’s own files of a repository are neither written through links nor read from pipes', async () => {
  await using one = await workspace('acme/own-links')
  await using outside = await keptFile()
  const path = join(one.home, '.gitignore')
  await one.write('.gitignore', '# roost: skills begin\nplanted\n# roost: skills end\n')
  await withCommittedIgnore(one.run, one.home, async () => {
    await rm(path, { force: true })
    await symlink(outside.path, path)
  })
  assert.equal(await outside.read(), 'kept\n')
  await rm(path)
  await rm(join(one.home, '.git', 'info', 'exclude'))
  await symlink(outside.path, join(one.home, '.git', 'info', 'exclude'))
  const { transfer } = one.call
  await one.git.bind({ ...one.call, transfer, remote_url: 'https://git.example.org/x', commit: null })
  assert.equal(await outside.read(), 'kept\n')
  await mkdir(join(one.home, '.roost', 'snapshots'), { recursive: true })
  await symlink(dirname(outside.path), join(one.home, '.roost', 'snapshots', '2'))
  await one.write(basename(outside.path), 'planted\n')
  const { end } = await one.git.reset({ ...one.call, stamp: '2' })
  assert.match(messageOf(end), /snapshots\/2 cannot be created/)
  assert.equal(await outside.read(), 'kept\n')

  await promisify(execFile)('mkfifo', [path])
  assert.equal(await withCommittedIgnore(one.run, one.home, async () => 'done'), 'done')
  one.writers.present = true
  assert.match(String((await one.git.look(one.call)).failed), /\.gitignore is a pipe/)
})

test('settings of a repository redirect neither its transfer nor its files, and run no program', async () => {
  await using one = await workspace('acme/settings')
  await using outside = await keptFile()
  const { url } = one.call.transfer
  const program = `touch ${one.home}/ran`
  for (const [name, value] of [
    ['core.worktree', dirname(outside.path)],
    [`http.${url}.proxy`, 'http://127.0.0.1:1'],
    [`http.${url}.cookieFile`, outside.path],
    [`http.${url}.saveCookies`, 'true'],
    [`http.${url}.curloptResolve`, `${new URL(url).hostname}:${new URL(url).port}:192.0.2.1`],
    ['log.showSignature', 'true'],
    ['core.alternateRefsCommand', program],
    ...[`credential.${server.url}.helper`, 'credential.helper'].map((name) => [name, `!${program}`]),
    ...['core.editor', 'sequence.editor', 'core.askPass', 'core.pager', 'gpg.program'].map((name) => [
      name,
      program,
    ]),
  ])
    await one.run(['config', String(name), String(value)])
  await one.write('notes.txt', 'b\n')
  await server.commit('acme/settings', { 'theirs.txt': 't\n' })
  assert.equal((await one.sync('pull_first')).end.outcome, 'done')
  assert.equal(await one.read('theirs.txt'), 't\n')
  assert.equal((await one.git.log(1)).commits[0]?.message, 'work')
  server.behave('private')
  assert.equal((await one.run(['ls-remote', `${server.url}/acme/links.git`])).ok, false)
  server.behave('well')
  assert.equal(await outside.read(), 'kept\n')
  await assert.rejects(access(join(one.home, 'ran')))
})

/** A file outside the workspace, in a folder of its own. */
async function keptFile() {
  const folder = await mkdtemp(join(tmpdir(), 'roost-outside-'))
  const path = join(folder, 'kept')
  await writeFile(path, 'kept\n')
  const read = () => readFile(path, 'utf8')
  return { path, read, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}
