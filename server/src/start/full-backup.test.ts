import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { type AgentsTable, blankRow } from '../agents/records/index.ts'
import { parseConfig } from '../config.ts'
import { openVault } from '../foundation/vault/index.ts'
import { newId } from '../kit/ids.ts'
import { migrations } from '../migrations/index.ts'
import { textLines } from '../operations/backup/repository.ts'
import { rotateKey, sealedColumns } from '../operations/key-rotation/index.ts'
import { connect } from '../ports/containers/docker/connect.ts'
import { openContainers } from '../ports/containers/open.ts'
import { migrate } from '../ports/database/migrator.ts'
import { openDatabase } from '../ports/database/open.ts'
import { silentLog } from '../ports/log.ts'
import { openGitStore } from '../ports/workspace-history/git-store.ts'
import { kubernetesOptions } from './kubernetes-options.ts'
import { sandboxImage } from './sandbox-image.ts'
import { openVolumeJobs } from './volume-jobs.ts'

const program = join(import.meta.dirname, 'full-backup.ts')
const passphrase = 'a passphrase of tests'
const engines = [
  'sandbox:',
  ...(process.env.ROOST_TEST_CONTAINERS_URL ? [process.env.ROOST_TEST_CONTAINERS_URL] : []),
]

/** Everything that an agent can put into its workspace to break a backup or to escape on restore. */
const hostile = `set -e
cd /vol/workspace
mkdir -p src 'odd
name "*\\' shadow
printf 'module.exports = 1\\n' > src/index.js
printf 'x' > 'odd
name "*\\/[a-z]?'
ln -s /etc/passwd src/link; ln -s ../../../../../etc shadow/up; ln -s loop loop; ln -s . self
mkfifo pipe
truncate -s 12T huge; truncate -s 3G 'huge $HOME *'
ln src/index.js src/second
printf '#!/bin/sh\\n' > suid; chmod 4755 suid; chown 1000:1000 suid src src/index.js . 2>/dev/null || true
printf closed > closed; chmod 000 closed
printf -- dash > '-rf'
head -c 1500000 /dev/urandom > data.bin
cd /vol/private; mkdir home; printf secret > home/.token; chmod 700 home
cd /vol/shared; printf report > report.txt`

/** One line per file: type, mode, owner, size, links, target, and the digest of its content. */
const listing = `for v in workspace shared private; do cd /vol/$v; find . -printf '%p|%y|%m|%U:%G|%s|%l|%T@\\n' | grep -v '^./huge\\|^./pipe' | sed "s,^,$v ,;s,|[0-9]*||,|dir||," | LC_ALL=C sort; find . -type f ! -name 'huge*' -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum; done`

for (const url of engines) {
  const kind = url.split(':')[0]
  describe(`full backup with ${kind}`, () => {
    let world: Awaited<ReturnType<typeof openWorld>>
    before(async () => {
      world = await openWorld(url)
    })
    after(() => world.remove())

    test('a second snapshot reads no unchanged file, and verification compares a real restore', async () => {
      // A killed verification leaves its key and database.
      await mkdir(join(world.folder, 'data/.roost-verify-killed'))
      const first = await world.run({
        do: 'run',
        repository: world.repository,
        retention: null,
        dotenv: world.dotenv,
      })
      assert.equal(first.code, 0, first.err)
      assert.match(first.out, /3 volumes/)
      assert.match(first.out, /Not in the backup: "agent-one-abc-workspace\/huge" \(a sparse file/)
      const again = await world.run({
        ...{ do: 'run', repository: world.repository, dotenv: world.dotenv },
        retention: { daily: 7, weekly: 0, monthly: 0 },
      })
      // Only the platform’s own files were read again: manifest, database, excluded files, a template and a history.
      assert.match(again.out, / 0 new, 9 changed and 9 unchanged files/)
      const list = await world.run({ do: 'list', repository: world.repository })
      assert.equal(list.out.trim().split('\n').length, 1, 'the older one of the same day was removed')
      const verified = await world.run({
        do: 'verify',
        from: { repository: world.repository, snapshot: 'latest' },
      })
      assert.equal(verified.code, 0, verified.err)
      assert.match(verified.out, /\d+ rows and 3 volumes are the same/)
      assert.deepEqual((await world.engine.listVolumes()).toSorted(), world.volumes)
      assert.deepEqual(await world.scratchFolders(), [])
    })

    test('secrets that a job writes into files are in memory', async () => {
      assert.equal(await world.inVolumes('touch /run/secret; stat -f -c %T /run'), 'tmpfs')
    })

    test('the encrypted file is verified too, and the standard tool opens it', async () => {
      const written = await world.run({ do: 'file', to: world.file, mayReplace: false, dotenv: world.dotenv })
      assert.equal(written.code, 0, written.err)
      assert.equal((await stat(world.file)).mode & 0o777, 0o600)
      assert.match(await listWithAge(world.file), /^roost\/platform\/manifest\.json$/m)
      if (kind !== 'sandbox') return
      const verified = await world.run({ do: 'verify', from: { file: world.file } })
      assert.equal(verified.code, 0, verified.err)
    })

    test('on a file system without hard links, a file gets its name and replaces none', async (t) => {
      if (kind !== 'sandbox') return t.skip('the same with every engine')
      const to = join(world.folder, 'on-fat.age')
      const request = { do: 'file', to, mayReplace: false, dotenv: world.dotenv }
      const written = await world.run(request, { NODE_OPTIONS: withoutLinks })
      assert.equal(written.code, 0, written.err)
      assert.ok((await stat(to)).size > 0)
      const again = await world.run(request, { NODE_OPTIONS: withoutLinks })
      assert.match(again.err, /exists already/)
    })

    test('one agent and one file are restored from both forms', async (t) => {
      // The jobs are those of the other tests.
      if (kind !== 'sandbox') return t.skip('the same with every engine')
      const before = await world.list()
      await world.inVolumes(
        'rm -r /vol/workspace/src; echo changed > /vol/shared/report.txt; echo new > /vol/workspace/new',
      )
      const from = { repository: world.repository, snapshot: 'latest' }
      const merged = await world.run({ do: 'agent', from, agent: 'one', into: 'one', mustMerge: true })
      assert.equal(merged.code, 0, merged.err)
      assert.deepEqual(
        await world.leases(),
        [`agent:${world.agentId}`],
        'no process could start it meanwhile',
      )
      assert.match(await world.inVolumes('cat /vol/workspace/new /vol/shared/report.txt'), /^new\nreport$/m)
      const whole = await world.run({
        do: 'agent',
        from: { file: world.file },
        agent: 'one',
        into: 'one',
        mustMerge: false,
      })
      assert.equal(whole.code, 0, whole.err)
      assert.equal(await world.list(), before)
      const to = join(world.folder, 'index.js')
      const file = await world.run({ do: 'one-file', from, agent: 'one', path: 'src/index.js', to })
      assert.equal(file.code, 0, file.err)
      assert.equal(await readFile(to, 'utf8'), 'module.exports = 1\n')
      const other = await world.run({
        ...{ do: 'one-file', from: { file: world.file }, agent: 'one', path: 'src/index.js' },
        to: `${to}.2`,
      })
      assert.equal(other.code, 0, other.err)
      const link = await world.run({ do: 'one-file', from, agent: 'one', path: '../x', to: `${to}.3` })
      assert.match(link.err, /without `\.\.`/)
    })

    test('the id of the engine filter decides, so changed data cannot have foreign volumes read', async (t) => {
      if (kind !== 'sandbox') return t.skip('the same with every engine')
      const file = join(world.folder, 'install-id')
      const run = (more: object = {}) =>
        world.run(
          { do: 'run', repository: world.repository, dotenv: world.dotenv, retention: null },
          { ROOST_INSTALL_ID_FILE: file, ...more },
        )
      assert.match((await run()).err, /engine filter has no id yet/)
      await writeFile(file, 'id-of-the-filter')
      assert.match(
        (await run()).err,
        /belongs to the installation test-.*, and the engine filter to id-of-the-filter/,
      )
      const from = { repository: world.repository, snapshot: 'latest' }
      const to = { ROOST_DATA_DIR: join(world.folder, 'to-filter'), ROOST_INSTALL_ID: 'id-of-the-filter' }
      const { err } = await world.run({ do: 'restore', from }, to)
      assert.match(err, /ROOST_INSTALL_ID is id-of-the-filter, and the backup is of the installation test-/)
    })

    test('a restore that was killed, or could not leave its mark, is repeated', async (t) => {
      if (kind !== 'sandbox') return t.skip('the same with every engine')
      const to = join(world.folder, 'to-repeated')
      const engine = await world.engineOf(to)
      const restore = (more: Record<string, string> = {}) =>
        world.run({ do: 'restore', from: { file: world.file } }, { ROOST_DATA_DIR: to, ...more })
      // The next start consumes the mark, so it has this name.
      const mark = join(to, 'restored-engines')
      await mkdir(mark, { recursive: true })
      assert.match((await restore()).err, /EISDIR/)
      assert.deepEqual(await engine.listVolumes(), [])
      await rm(mark, { recursive: true })
      await restore({ NODE_OPTIONS: killedAfterVolumes })
      assert.deepEqual((await engine.listVolumes()).toSorted(), world.volumes)
      const done = await restore()
      assert.equal(done.code, 0, done.err)
      assert.equal(await world.list(to), await world.list())
      // From here on the volumes are in use.
      await rm(join(to, 'roost.db'))
      assert.match((await restore()).err, /templates is not empty/)
      assert.deepEqual((await engine.listVolumes()).toSorted(), world.volumes)
    })

    test('a wrong passphrase, a cut file and one flipped byte change nothing; then everything is restored', async () => {
      const before = await world.list()
      for (const volume of world.volumes) await world.engine.removeVolume(volume)
      const to = join(world.folder, 'to')
      const restore = (from: object, phrase = passphrase) =>
        world.run({ do: 'restore', from }, { ROOST_DATA_DIR: to, ROOST_BACKUP_PASSPHRASE: phrase })
      const refused = async (from: object, pattern: RegExp, phrase?: string) => {
        const { code, err } = await restore(from, phrase)
        assert.equal(code, 1)
        assert.match(err, pattern)
        assert.deepEqual(await (await world.engineOf(to)).listVolumes(), [])
        const found = (await readdir(to)).filter(
          (name) => !['backup-jobs', 'backup.lock', 'sandbox'].includes(name),
        )
        assert.deepEqual(found, [])
      }
      const repository = join(world.folder, 'damaged')
      if (kind === 'sandbox') await refused({ file: world.file }, /passphrase is wrong/, 'another passphrase')
      await refused(
        { repository: world.repository, snapshot: 'latest' },
        /passphrase is wrong/,
        'another passphrase',
      )
      const file = join(world.folder, 'damaged.age')
      // What damage does to a form is the same with every engine.
      for (const damage of kind === 'sandbox' ? [cut, flip] : []) {
        await copyFile(world.file, file)
        await damage(file)
        await refused({ file }, /damaged/)
        await cp(world.repository, repository, { recursive: true })
        await damage(await largestFile(join(repository, 'data')))
        await refused({ repository, snapshot: 'latest' }, /damaged/)
        await rm(repository, { recursive: true })
      }
      const failed = await world.run(
        { do: 'restore', from: { file: world.file } },
        { ROOST_DATA_DIR: to, ROOST_DATABASE_URL: 'sqlite:/dev/null/roost.db' },
      )
      assert.match(failed.err, /EEXIST|ENOTDIR/)
      const done = await restore({ file: world.file })
      assert.equal(done.code, 0, done.err)
      assert.equal(await world.list(to), before)
      assert.equal(await readFile(join(to, 'templates/a/template.yaml'), 'utf8'), 'name: a\n')
      assert.equal((await stat(join(to, 'templates/a/template.yaml'))).mode & 0o777, 0o644)
      assert.equal(await recordedText(join(to, 'history')), 'recorded')
      assert.equal(openVault({ encryptionKey: null, dataDir: to }).open(world.sealed, 'test'), 'sk-secret')
      const full = await restore({ file: world.file })
      assert.match(full.err, /already exists/)
      if (kind !== 'sandbox') return
      for (const volume of world.volumes) await (await world.engineOf(to)).removeVolume(volume)
      await rm(to, { recursive: true })
      const other = await world.run(
        { do: 'restore', from: { repository: world.repository, snapshot: 'latest' } },
        { ROOST_DATA_DIR: to, ROOST_INSTALL_ID_FILE: join(world.folder, 'missing') },
      )
      assert.equal(other.code, 0, other.err)
      assert.match(other.out, /^Set ROOST_INSTALL_ID=test-\S+ in \.env/m)
      assert.equal(await world.list(to), before)
    })
  })
}

test('a backup after a killed rotation of the key has the key that opens its database', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-full-backup-key-'))
  try {
    const dataDir = join(folder, 'data')
    const keyFile = join(dataDir, 'encryption.key')
    const source = { encryptionKey: null, dataDir }
    openVault(source)
    const old = await readFile(keyFile)
    const db = await openDatabase(`sqlite:${join(dataDir, 'roost.db')}`, silentLog)
    await migrate(db, migrations, { now: () => new Date() })
    await writeFile(join(dataDir, 'install-id'), `test-${newId()}`)
    await rotateKey({
      ...{
        db,
        source,
        newKey: null,
        columns: sealedColumns,
        mayTurnsContinue: true,
        mayKeepUnreadable: false,
      },
      clock: { now: () => new Date() },
      progress: () => {},
    })
    await db.close()
    const fresh = await readFile(keyFile)
    // As between the commit and the change of the file.
    await writeFile(`${keyFile}.next`, fresh, { mode: 0o600 })
    await writeFile(keyFile, old)
    const env = {
      ...{ PATH: process.env.PATH, HOME: folder },
      ...{ ROOST_CONTAINERS_URL: 'sandbox:', ROOST_BACKUP_PASSPHRASE: passphrase },
    }
    const request = {
      do: 'file',
      to: join(folder, 'file.age'),
      mayReplace: false,
      dotenv: join(folder, '.env'),
    }
    const run = (request: object, data = dataDir) =>
      promisify(execFile)(process.execPath, [program, JSON.stringify(request)], {
        env: { ...env, ROOST_DATA_DIR: data },
      })
    await run(request)
    assert.deepEqual(await readFile(keyFile), fresh)
    // It has no volumes, and is restored all the same.
    const to = join(folder, 'to')
    await run({ do: 'restore', from: { file: request.to } }, to)
    assert.deepEqual(await readFile(join(to, 'encryption.key')), fresh)
  } finally {
    await rm(folder, { recursive: true })
  }
})

/** Makes `link` fail as on FAT, which no test can mount. */
const withoutLinks = `--import=data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs/promises'
  import { syncBuiltinESMExports } from 'node:module'
  fs.link = async () => { throw Object.assign(new Error('EPERM'), { code: 'EPERM' }) }
  syncBuiltinESMExports()
`)}`

/** Kills the process when it restores the templates, after the volumes. */
const killedAfterVolumes = `--import=data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs/promises'
  import { syncBuiltinESMExports } from 'node:module'
  fs.cp = async () => process.kill(process.pid, 'SIGKILL')
  syncBuiltinESMExports()
`)}`

/** Lists the members with the program `age`, which reads a passphrase only from a terminal. */
async function listWithAge(file: string): Promise<string> {
  const child = spawn('script', ['-qec', `age --decrypt -o ${file}.tar ${file}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdout.once('data', () => child.stdin.end(`${passphrase}\n`))
  child.stdout.resume()
  const [code] = await once(child, 'close')
  assert.equal(code, 0, 'age opens the file')
  const { stdout } = await promisify(execFile)('tar', ['-tf', `${file}.tar`])
  return stdout
}

async function cut(path: string): Promise<void> {
  await truncate(path, Math.floor((await stat(path)).size / 2))
}

async function flip(path: string): Promise<void> {
  const file = await open(path, 'r+')
  const at = Math.floor((await file.stat()).size / 2)
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at)
  await file.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, at)
  await file.close()
}

async function largestFile(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name)
        return { path, size: (await stat(path)).size }
      }),
  )
  return files.toSorted((a, b) => b.size - a.size)[0]?.path ?? ''
}

async function openWorld(url: string) {
  const folder = await mkdtemp(join(tmpdir(), 'roost-full-backup-'))
  const dataDir = join(folder, 'data')
  const install = `test-${newId()}`.slice(0, 40)
  await mkdir(join(dataDir, 'templates/a'), { recursive: true })
  await recordWorkspace(join(dataDir, 'history'))
  await writeFile(join(dataDir, 'templates/a/template.yaml'), 'name: a\n', { mode: 0o644 })
  await writeFile(join(dataDir, 'install-id'), install)
  const dotenv = join(folder, '.env')
  await writeFile(dotenv, 'ROOST_PORT=9000\n')
  const sealed = openVault({ encryptionKey: null, dataDir }).seal('sk-secret', 'test')
  const db = await openDatabase(`sqlite:${join(dataDir, 'roost.db')}`, silentLog)
  await migrate(db, migrations, { now: () => new Date(), progress: () => {} })
  await db
    .withTables<Tables>()
    .insertInto('settings')
    .values({ key: 'x', value: sealed, updated_at: '2026' })
    .execute()
  const agent = {
    ...blankRow('one', '2026-01-01T00:00:00.000Z'),
    volume_base: 'one-abc',
    state: 'ready' as const,
    desired: 'stopped' as const,
  }
  await db.withTables<Tables>().insertInto('agents').values(agent).execute()
  await db.close()
  const volumes = ['private', 'shared', 'workspace'].map((name) => `agent-one-abc-${name}`)
  const engineOf = (data: string) =>
    openContainers(url, {
      install,
      network: 'roost-agents',
      sandbox: { stateDir: join(data, 'sandbox'), resolveImage: sandboxImage },
      kubernetes: kubernetesOptions(parseConfig({}), {}),
    })
  const engine = await engineOf(dataDir)
  for (const volume of volumes) await engine.createVolume(volume, {})
  const inVolumes = async (script: string, data = dataDir) => {
    const jobs = openVolumeJobs(url, { install, dataDir: data, connect, env: process.env })
    await jobs.prepare(() => {})
    const lines = textLines()
    const mounts = volumes.map((volume) => ({
      ...{ type: 'volume' as const, volume, readOnly: false },
      target: `/vol/${volume.split('-').at(-1)}`,
    }))
    const job = { script, env: {}, mounts, hasNetwork: false, output: lines.stream }
    const { code, errors } = await jobs.run(job)
    assert.equal(code, 0, errors.join('\n'))
    return lines.all().join('\n')
  }
  await inVolumes(hostile)
  const world = {
    ...{ folder, dotenv, engine, engineOf, volumes, sealed, inVolumes, agentId: agent.id },
    repository: join(folder, 'repository'),
    file: join(folder, 'backup.age'),
    list: (data = dataDir) => inVolumes(listing, data),
    async leases() {
      const db = await openDatabase(`sqlite:${join(dataDir, 'roost.db')}`, silentLog)
      const rows = await db.withTables<Tables>().selectFrom('leases').select('name').execute()
      await db.close()
      return rows.map(({ name }) => name)
    },
    scratchFolders: async () => (await readdir(dataDir)).filter((name) => name.startsWith('.roost')),
    run: (request: object, more: Record<string, string> = {}) =>
      new Promise<{ code: number; out: string; err: string }>((resolve) => {
        const env = {
          ...{ PATH: process.env.PATH, HOME: process.env.HOME, ROOST_DATA_DIR: dataDir },
          ...{ ROOST_CONTAINERS_URL: url, ROOST_BACKUP_PASSPHRASE: passphrase, ...more },
        }
        execFile(process.execPath, [program, JSON.stringify(request)], { env }, (error, out, err) =>
          resolve({ code: error ? Number(error.code) : 0, out, err }),
        )
      }),
    async remove() {
      for (const data of [dataDir, join(folder, 'to')]) {
        const own = await engineOf(data)
        for (const volume of await own.listVolumes()) await own.removeVolume(volume)
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
  return world
}

type Tables = {
  settings: { key: string; value: string; updated_at: string }
  agents: AgentsTable
  leases: { name: string }
}

const recorded = { agent: 'a1', record: 'r1' }

async function recordWorkspace(folder: string): Promise<void> {
  const store = await openGitStore({ folder, path: process.env.PATH ?? '' })
  const draft = await store.open({ agent: recorded.agent, base: null, maxBytes: 1e6 })
  const entry = { path: 'file', kind: 'file' as const, mode: 0o644, owner: true, size: 8, sparse: false }
  await draft.put(entry, Readable.from([Buffer.from('recorded')]))
  await draft.commit(recorded.record)
  await store.close()
}

async function recordedText(folder: string): Promise<string> {
  const store = await openGitStore({ folder, path: process.env.PATH ?? '' })
  try {
    const content = await store.read(recorded, 'file')
    return content ? await text(Readable.from(content)) : ''
  } finally {
    await store.close()
  }
}
