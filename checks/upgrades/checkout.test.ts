/** `roost upgrade` and `roost rollback` of a checkout with a real remote, on a platform that runs. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { freePort } from '../../cli/src/machine/free-port.ts'
import { readRunning } from '../../cli/src/machine/lock.ts'
import { compareVersions } from '../../cli/src/upgrade/target.ts'
import { openDatabase } from '../../server/src/ports/database/open.ts'
import { silentLog } from '../../server/src/ports/log.ts'
import { eventually } from '../acceptance/platform.ts'
import { repository } from './fixture.ts'

let folder: string
/** The maintainers' checkout, the one of the operator, and its data. */
let [source, installed, dataDir] = ['', '', '']
let env: NodeJS.ProcessEnv
const commits: Record<string, string> = {}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-checkout-'))
  source = join(folder, 'source')
  installed = join(folder, 'installed')
  dataDir = join(folder, 'data')
  env = {
    PATH: process.env.PATH,
    HOME: folder,
    ROOST_CONTAINERS_URL: 'fake:',
    ROOST_DATA_DIR: dataDir,
    ROOST_PORT: String(await freePort()),
    ROOST_INTERNAL_PORT: String(await freePort()),
    ROOST_MCP_PORT: String(await freePort()),
    ROOST_UPGRADE_HEALTH_SECONDS: '10',
  }
  await git(folder, 'clone', '-q', repository, source)
  for (const key of ['trusted', 'foreign'])
    await output('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(folder, key)], folder)
  commits['0.1.0'] = await git(source, 'rev-parse', 'HEAD')
  await git(folder, 'clone', '-q', source, installed)
  await symlink(join(repository, 'node_modules'), join(installed, 'node_modules'))
  await cp(join(repository, 'web/dist'), join(installed, 'web/dist'), { recursive: true })
  await mkdir(dataDir, { mode: 0o700 })
  const publicKey = await readFile(join(folder, 'trusted.pub'), 'utf8')
  await writeFile(join(dataDir, 'release-signers'), `releases ${publicKey}`)
})
after(async () => {
  const running = await readRunning(dataDir)
  if (running) {
    process.kill(running.pid, 'SIGTERM')
    await eventually(
      () => readRunning(dataDir),
      (found) => found === null,
    )
  }
  await rm(folder, { recursive: true, force: true })
})

test('a release is installed and the platform restarts; failures in migration and health go back by themselves', async () => {
  await start()
  const first = await releaseOf('0.2.0', {
    migration: "await db.schema.createTable('later').addColumn('id', 'text').execute()",
  })
  const check = await roost('upgrade', '--check')
  assert.deepEqual([check.code, await head()], [0, commits['0.1.0']], check.text)
  assert.match(
    check.text,
    /To: +v0\.2\.0.*\n.*Signature: +verified[^\n]*\n.*backed up and migrated\n.*Dependencies: unchanged\nRestart: +process/,
  )

  const done = await roost('upgrade', '--yes')
  assert.equal(done.code, 0, done.text)
  assert.deepEqual(await state(), { commit: first, isReady: true, migrations: ['9001-test'] })

  await releaseOf('0.3.0', {
    migration: "await db.schema.dropTable('later').execute(); throw new Error('bad migration')",
  })
  const failed = await roost('upgrade', '--yes')
  assert.equal(failed.code, 1, failed.text)
  assert.match(failed.text, /did not start[\s\S]*rolled back/)
  assert.match(await readFile(join(dataDir, 'logs/up.log'), 'utf8'), /bad migration/)
  assert.deepEqual(await state(), { commit: first, isReady: true, migrations: ['9001-test'] })

  await releaseOf('0.4.0', { migration: "await db.schema.dropTable('later').execute()", isSick: true })
  const sick = await roost('upgrade', '--yes')
  assert.equal(sick.code, 1, sick.text)
  assert.match(sick.text, /not healthy after 10 s: 503[\s\S]*rolled back/)
  assert.deepEqual(await state(), { commit: first, isReady: true, migrations: ['9001-test'] })
})

test('changed files, foreign signatures, other tags and downgrades are refused in words', async () => {
  const at = await head()
  const refused = async (reason: RegExp, ...args: string[]) => {
    const { code, text } = await roost('upgrade', '--yes', ...args)
    assert.deepEqual([code, await head()], [1, at], text)
    assert.match(text, reason)
  }
  await writeFile(join(installed, 'README.md'), 'changed')
  await refused(/not committed:\n ?M README\.md/)
  await git(installed, 'checkout', '-q', 'README.md')
  await releaseOf('0.5.0', { key: 'foreign' })
  await refused(/v0\.5\.0 has no signature of a key in .*release-signers/)
  await git(source, 'tag', '-a', '-m', 'unsigned', 'v0.6.0')
  await refused(/v0\.6\.0 has no signature/)
  // A signed tag under the name of a later release.
  await git(source, 'update-ref', 'refs/tags/v0.7.0', await git(source, 'rev-parse', 'refs/tags/v0.2.0'))
  await git(source, 'reset', '-q', '--hard', 'v0.2.0')
  await releaseOf('0.2.1', {})
  await refused(/v0\.6\.0 has no signature/, '--to', 'v0.6.0')
  await git(source, 'reset', '-q', '--hard', commits['0.1.0'] ?? '')
  await releaseOf('0.1.1', {})
  await refused(/older than the running 0\.2\.0/, '--to', 'v0.1.1')
  await refused(/is not the tag of a release/, '--to', 'main')
  await refused(/has no tag v9\.9\.9/, '--to', 'v9.9.9')
  await rm(join(dataDir, 'release-signers'))
  await refused(/no key to verify v0\.2\.1 with/, '--to', 'v0.2.1')
})

test('a rollback returns to the data and commit before the upgrade, and can be undone', async () => {
  const running = await roost('rollback', '--yes')
  assert.match(running.text, /The platform is running/)
  await stop()
  await writeFile(join(installed, 'README.md'), 'changed')
  assert.match((await roost('rollback', '--yes')).text, /not committed/)
  await git(installed, 'checkout', '-q', 'README.md')
  assert.match((await roost('rollback')).text, /Add --yes/)
  const found = (await roost('rollback', '--list')).text
  const back = await roost('rollback', '--yes')
  assert.equal(back.code, 0, back.text)
  assert.match(back.text, /What happened since .* is lost/)
  assert.deepEqual([await head(), await migrationNames()], [commits['0.1.0'], []])
  const aside = /rollback --to (\S+)/.exec(back.text)?.[1] ?? ''
  assert.ok(aside && !found.includes(aside))
  const undone = await roost('rollback', '--yes', '--to', aside)
  assert.equal(undone.code, 0, undone.text)
  assert.deepEqual([await head(), await migrationNames()], [commits['0.2.0'], ['9001-test']])
})

test('versions are compared by number', () => {
  assert.ok(compareVersions('1.10.0', '1.9.9') > 0)
  assert.ok(compareVersions('v1.0.0', '1.0.0-rc.2') > 0)
  assert.ok(compareVersions('1.0.0-rc.10', '1.0.0-rc.9') > 0)
  assert.equal(compareVersions('1.2.3', 'v1.2.3'), 0)
})

type Release = { migration?: string; isSick?: boolean; key?: 'trusted' | 'foreign' }

/** Commits and tags a version at the remote, after `0.2.0` if there is one. Returns its commit. */
async function releaseOf(
  version: string,
  { migration, isSick = false, key = 'trusted' }: Release,
): Promise<string> {
  const base = commits['0.2.0'] && !version.startsWith('0.1') ? commits['0.2.0'] : commits['0.1.0']
  await git(source, 'reset', '-q', '--hard', base ?? '')
  await edit('package.json', (text) => text.replace(/"version": "[^"]+"/, `"version": "${version}"`))
  if (migration) {
    const name = version === '0.2.0' ? '9001-test' : '9002-test'
    await edit('server/src/migrations/index.ts', (text) =>
      text.replace(/^\]$/m, `  { name: '${name}', async up(db) { ${migration} } },\n]`),
    )
  }
  if (isSick)
    await edit('server/src/start/api-process.ts', (text) =>
      text.replace(
        "store: 'data_directory', write: () =>",
        "store: 'data_directory', write: () => Promise.reject(new Error('sick')) ??",
      ),
    )
  await git(source, 'commit', '-q', '-a', '-m', `release ${version}`)
  await git(source, 'tag', '-s', '-m', version, '-u', join(folder, key), `v${version}`)
  commits[version] = await git(source, 'rev-parse', 'HEAD')
  return commits[version]
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  const file = join(source, path)
  await writeFile(file, change(await readFile(file, 'utf8')))
}

async function start(): Promise<void> {
  const child = spawn(join(installed, 'roost'), ['up', '--yes'], { env, stdio: 'ignore', detached: true })
  child.unref()
  await eventually(
    () => readRunning(dataDir),
    (found) => Boolean(found?.url),
  )
}

async function stop(): Promise<void> {
  const running = await readRunning(dataDir)
  if (running) process.kill(running.pid, 'SIGTERM')
  await eventually(
    () => readRunning(dataDir),
    (found) => found === null,
  )
}

async function roost(...args: string[]): Promise<{ code: number | null; text: string }> {
  const child = spawn(join(installed, 'roost'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (text += part))
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { code, text }
}

const head = () => git(installed, 'rev-parse', 'HEAD')

async function state() {
  const url = `http://127.0.0.1:${env.ROOST_PORT}`
  const ready = await fetch(`${url}/health/ready`)
  const { code } = JSON.parse(await readFile(join(dataDir, 'upgrade-state.json'), 'utf8'))
  assert.equal(code.commit, await head())
  return { commit: code.commit, isReady: ready.status === 200, migrations: await migrationNames() }
}

async function migrationNames(): Promise<string[]> {
  const db = await openDatabase(`sqlite:${join(dataDir, 'roost.db')}`, silentLog)
  try {
    const rows = await db
      .withTables<{ schema_migrations: { name: string } }>()
      .selectFrom('schema_migrations')
      .select('name')
      .where('name', '>', '9')
      .orderBy('name')
      .execute()
    return rows.map(({ name }) => name)
  } finally {
    await db.close()
  }
}

function git(cwd: string, ...args: string[]): Promise<string> {
  const identity = ['user.name=Ann', 'user.email=ann@example.org', 'gpg.format=ssh', 'commit.gpgsign=false']
  return output('git', [...identity.flatMap((each) => ['-c', each]), ...args], cwd)
}

async function output(file: string, args: string[], cwd: string): Promise<string> {
  const child = spawn(file, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder },
  })
  let [text, errors] = ['', '']
  child.stdout.on('data', (part) => (text += part))
  child.stderr.on('data', (part) => (errors += part))
  const code = await new Promise<number | null>((done) => child.once('close', done))
  assert.equal(code, 0, `${file} ${args.join(' ')}: ${errors}`)
  return text.trim()
}
