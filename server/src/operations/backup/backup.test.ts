import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as soon } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { asSealed, openVault } from '../../foundation/vault/index.ts'
import { secret } from '../../kit/secret.ts'
import { openDatabase } from '../../ports/database/open.ts'
import { openDatabaseCopies } from '../../ports/database-copies/open.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, type OpenTestDb, type TestDb } from '../../test/dialects.ts'
import { archiveName, backUp, restore, sweepBackups } from './index.ts'

const passphrase = secret('correct horse battery')
const path = process.env.PATH ?? ''
type Settings = { settings: { key: string; value: string; updated_at: string } }

forEachDialect((dialect, open) => {
  test('a backup during writes contains one consistent state, and its secrets open again', async () => {
    await using world = await openWorld(open)
    const { db, folder, from } = world
    const sealed = openVault({ encryptionKey: null, dataDir: from }).seal('sk-secret', 'test')
    await put(db, [['sealed', sealed]])
    const writing = writePairs(db)
    await writing.wrote(20)
    await world.save()
    const atLeast = writing.count()
    await writing.stop()

    const to = join(folder, 'to')
    const url = await emptyDatabase(open, dialect, to)
    await restore({ ...installation(to, url), passphrase, from: world.archive })
    await using restored = await openAgain(url)
    const rows = await all(restored.db)
    const pairs = rows.filter(({ key }) => key.startsWith('pair-'))
    assert.equal(pairs.length % 2, 0, 'both of a transaction, or none')
    assert.ok(pairs.length >= 40 && pairs.length / 2 <= atLeast + 1, `${pairs.length} of ${atLeast * 2}`)
    const text = rows.find(({ key }) => key === 'sealed')?.value ?? ''
    assert.equal(openVault({ encryptionKey: null, dataDir: to }).open(asSealed(text), 'test'), 'sk-secret')
    assert.equal((await stat(join(to, 'encryption.key'))).mode & 0o777, 0o600)
    assert.equal(await readFile(join(to, 'install-id'), 'utf8'), 'install-1')
    assert.equal(
      await readFile(join(to, 'restored.env'), 'utf8'),
      'ROOST_PORT=9000\nANTHROPIC_API_KEY=sk-ant-1\n',
    )
  })

  test('only its owner can read an archive, and it contains neither key nor environment in plain text', async () => {
    await using world = await openWorld(open)
    const key = openVault({ encryptionKey: null, dataDir: world.from }).keyId
    await world.save()
    assert.equal((await stat(world.archive)).mode & 0o777, 0o600)
    const bytes = gunzipSync(await readFile(world.archive))
    assert.ok(!bytes.includes('sk-ant-1'))
    assert.ok(!bytes.includes((await readFile(join(world.from, 'encryption.key'), 'utf8')).trim()))
    assert.ok(key)
  })

  test('refuses a wrong or short passphrase, damage, a full database and another key, and changes nothing', async () => {
    await using world = await openWorld(open)
    await assert.rejects(world.save(secret('short')), /at least 12 characters/)
    await world.save()
    const to = join(world.folder, 'to')
    const url = await emptyDatabase(open, dialect, to)
    const into = (over: object) =>
      restore({ ...installation(to, url), passphrase, from: world.archive, ...over })
    await assert.rejects(into({ passphrase: secret('another passphrase') }), /passphrase is wrong/)
    const whole = gunzipSync(await readFile(world.archive))
    const damaged = join(world.folder, 'damaged.tar.gz')
    await writeFile(
      damaged,
      gzipSync(Buffer.concat([whole.subarray(0, whole.length - 6000), Buffer.alloc(6000, 'x')])),
    )
    await assert.rejects(into({ from: damaged }), /damaged/)
    await writeFile(damaged, (await readFile(world.archive)).subarray(0, 5000))
    await assert.rejects(into({ from: damaged }), /damaged|no backup/)
    await writeFile(damaged, 'not an archive')
    await assert.rejects(into({ from: damaged }), /no backup of Roost/)
    await assert.rejects(
      into({ key: { encryptionKey: secret('ab'.repeat(32)), dataDir: to } }),
      /another encryption key/,
    )
    await into({})
    await assert.rejects(into({}), /already exists|not empty/)
    await assert.rejects(
      restore({ ...installation(world.from, world.db.url), passphrase, from: world.archive }),
      /already exists|not empty/,
    )
  })

  test('an existing file is refused and unchanged, or replaced on request', async () => {
    await using world = await openWorld(open)
    await mkdir(dirname(world.archive))
    await writeFile(world.archive, 'a letter')
    await assert.rejects(
      world.save(),
      /a\.tar\.gz exists already\. Give another name, or replace it with --force/,
    )
    assert.equal(await readFile(world.archive, 'utf8'), 'a letter')
    await assert.rejects(backUp({ ...world.request, to: dirname(world.archive) }), /is a folder/)
    await backUp({ ...world.request, mayReplace: true })
    assert.ok(gunzipSync(await readFile(world.archive)).includes('manifest.json'))
    assert.equal((await stat(world.archive)).mode & 0o777, 0o600)
    assert.deepEqual(await readdir(dirname(world.archive)), ['a.tar.gz'], 'no draft is left')
  })

  test('a file created during a backup is not replaced, and a failed backup replaces nothing', async () => {
    await using world = await openWorld(open)
    const { copyTo, ...copies } = world.request.copies
    const late = async (file: string) => {
      await copyTo(file)
      await writeFile(world.archive, 'a letter')
    }
    await assert.rejects(backUp({ ...world.request, copies: { ...copies, copyTo: late } }), /exists already/)
    const broken = async (file: string) => {
      await copyTo(file)
      throw new Error('the disk is full')
    }
    const failing = { ...world.request, mayReplace: true, copies: { ...copies, copyTo: broken } }
    await assert.rejects(backUp(failing), /the disk is full/)
    assert.equal(await readFile(world.archive, 'utf8'), 'a letter')
    assert.deepEqual(await readdir(dirname(world.archive)), ['a.tar.gz'])
  })

  test('a failed copy leaves no archive', async () => {
    await using world = await openWorld(open)
    const url = dialect === 'sqlite' ? `sqlite:${world.folder}/none.db` : 'postgres://nobody@127.0.0.1:1/none'
    await assert.rejects(
      backUp({ ...world.request, ...installation(world.from, url) }),
      (error: Error) => error.name === 'CopyError',
    )
    await assert.rejects(stat(world.archive), { code: 'ENOENT' })
  })
})

test('a backup of one database dialect is not restored into the other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-backup-'))
  try {
    const file = join(folder, 'from/roost.db')
    const db = await openDatabase(`sqlite:${file}`, silentLog)
    await db.ping()
    await db.close()
    const [archive, to] = [join(folder, 'a.tar.gz'), join(folder, 'to')]
    const from = installation(join(folder, 'from'), `sqlite:${file}`)
    const clock = createTestClock()
    const request = {
      clock,
      version: '1',
      passphrase,
      to: archive,
      mayReplace: false,
      dotenv: join(folder, '.env'),
    }
    await backUp({ ...from, ...request })
    const into = installation(to, `sqlite:${to}/roost.db`)
    const other = { ...into.copies, dialect: 'postgres' as const }
    await assert.rejects(
      restore({ ...into, copies: other, passphrase, from: archive }),
      /is of sqlite, and ROOST_DATABASE_URL names postgres/,
    )
    await assert.rejects(stat(join(to, 'encryption.key')), { code: 'ENOENT' })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('removes archives older than their retention, and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-backup-'))
  try {
    const now = new Date('2026-02-01T00:00:00.000Z')
    const names = ['2026-01-01', '2026-01-17', '2026-01-19', '2026-01-31'].map((day) =>
      archiveName(new Date(`${day}T12:00:00.000Z`)),
    )
    const others = ['notes.txt', 'roost-2025.tar.gz', 'roost-2020-01-01T00-00-00-000Z.tar.gz.part']
    for (const name of [...names, ...others]) await writeFile(join(folder, name), '')
    assert.deepEqual((await sweepBackups(folder, 14, now)).toSorted(), names.slice(0, 2))
    for (const name of [...names.slice(2), ...others]) await stat(join(folder, name))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

function installation(dataDir: string, url: string) {
  return { key: { encryptionKey: null, dataDir }, copies: openDatabaseCopies(url, { path }) }
}

async function openWorld(open: OpenTestDb) {
  const db = await open()
  const folder = await mkdtemp(join(tmpdir(), 'roost-backup-'))
  const [from, archive, dotenv] = [join(folder, 'from'), join(folder, 'out/a.tar.gz'), join(folder, '.env')]
  await mkdir(from)
  await writeFile(join(from, 'install-id'), 'install-1')
  await writeFile(dotenv, 'ROOST_PORT=9000\nANTHROPIC_API_KEY=sk-ant-1\n')
  const clock = createTestClock()
  const request = {
    ...{ ...installation(from, db.url), clock, version: '1.2.3', passphrase, to: archive, dotenv },
    mayReplace: false,
  }
  return {
    db,
    folder,
    from,
    archive,
    request,
    save: (phrase = passphrase) => backUp({ ...request, passphrase: phrase }),
    async [Symbol.asyncDispose]() {
      await db.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function emptyDatabase(open: OpenTestDb, dialect: string, dataDir: string): Promise<string> {
  if (dialect === 'sqlite') return `sqlite:${join(dataDir, 'roost.db')}`
  const db = await open({ migrated: false })
  await db.close()
  return db.url
}

async function openAgain(url: string) {
  const db = await openDatabase(url, silentLog)
  return { db, [Symbol.asyncDispose]: () => db.close() }
}

/** Writes two rows in each transaction until stopped. */
function writePairs(db: TestDb) {
  let [written, isOver] = [0, false]
  const watchers: { count: number; resolve: () => void }[] = []
  const over = (async () => {
    while (!isOver) {
      await put(db, [
        [`pair-${written}-a`, 'x'.repeat(500)],
        [`pair-${written}-b`, 'y'.repeat(500)],
      ])
      written += 1
      // SQLite is synchronous, so other work of this process needs a turn.
      await soon()
      for (const { count, resolve } of watchers) if (written >= count) resolve()
    }
  })()
  return {
    count: () => written,
    wrote: (count: number) =>
      new Promise<void>((resolve) => {
        watchers.push({ count, resolve })
      }),
    async stop() {
      isOver = true
      await over
    },
  }
}

async function put(db: TestDb, entries: [string, string][]): Promise<void> {
  await db.atomically(async (tx) => {
    for (const [key, value] of entries) {
      const row = { key, value, updated_at: '2026-01-01T00:00:00.000Z' }
      await tx.withTables<Settings>().insertInto('settings').values(row).execute()
    }
  })
}

function all(db: Pick<TestDb, 'withTables'>) {
  return db.withTables<Settings>().selectFrom('settings').selectAll().execute()
}
