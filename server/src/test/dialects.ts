import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { copyFile, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe } from 'node:test'
import { sql } from 'kysely'
import { migrations } from '../migrations/index.ts'
import { migrate } from '../ports/database/migrator.ts'
import { openDatabase } from '../ports/database/open.ts'
import type { Db } from '../ports/database/port.ts'
import { silentLog } from '../ports/log.ts'
import { slowed } from './slow-database.ts'

/** A migrated database for one test; closed after the tests at the latest. */
export type TestDb = Db &
  AsyncDisposable & {
    url: string
    /** Opens the same database like another process: other connections, no shared memory. */
    openAgain(): Promise<Db & AsyncDisposable>
  }

export type OpenTestDb = (options?: { migrated: boolean }) => Promise<TestDb>

/**
 * Runs the same tests for each dialect: SQLite in a temporary file, and PostgreSQL if `ROOST_TEST_POSTGRES_URL`
 * names a server that allows new databases. `ROOST_TEST_SLOW_DATABASE` is the maximum delay of each query in
 * milliseconds.
 */
export function forEachDialect(tests: (name: Db['dialect'], open: OpenTestDb) => void): void {
  const postgresUrl = process.env.ROOST_TEST_POSTGRES_URL
  describe('sqlite', () => tests('sqlite', openerOf(sqlite())))
  describe('postgres', { skip: postgresUrl ? false : 'ROOST_TEST_POSTGRES_URL is not set' }, () => {
    if (postgresUrl) tests('postgres', openerOf(postgresServer(postgresUrl)))
  })
}

/** A SQLite database, migrated by default, for tests that do not depend on the dialect. */
export function openTestDatabase(options?: { migrated: boolean }): Promise<TestDb> {
  return openerOf(sqlite())(options)
}

type TestServer = {
  /** Returns the URL of a new database, a copy of `template` if given. */
  make(template: string | null): Promise<string>
  /** A migrated database to copy. */
  template?: Promise<string>
  /** Returns the template of another process of the same test run, or null. */
  shared(): Promise<string | null>
  /** Shares a closed database with the other processes and returns its new URL. */
  share(url: string): Promise<string>
  /** Disables syncing to disk, which tests do not need. */
  disableSync?(db: Db): Promise<void>
  clear(): Promise<void>
}

/** Folder that the processes of one test run share; without it each creates its own template. */
const sharedFolder = process.env.ROOST_TEST_SHARED_FOLDER

/** Migrates once and copies the result, which keeps hundreds of tests fast. */
function openerOf(server: TestServer): OpenTestDb {
  const opened = new Set<Db>()
  const slowMs = Number(process.env.ROOST_TEST_SLOW_DATABASE ?? 0)
  const makeTemplate = async () => {
    const made = sharedFolder === undefined ? null : await server.shared()
    if (made !== null) return made
    const url = await server.make(null)
    const db = await openDatabase(url, silentLog)
    await server.disableSync?.(db)
    await migrate(db, migrations, { now: () => new Date() })
    await db.close()
    return sharedFolder === undefined ? url : await server.share(url)
  }
  const open = async (url: string) => {
    const made = await openDatabase(url, silentLog)
    await server.disableSync?.(made)
    const db = slowMs > 0 ? slowed(made, slowMs) : made
    opened.add(db)
    const close = async () => {
      if (opened.delete(db)) await db.close()
    }
    return { ...db, close, [Symbol.asyncDispose]: close }
  }
  after(async () => {
    await Promise.all([...opened].map((db) => db.close()))
    await server.clear()
  })
  return async ({ migrated } = { migrated: true }) => {
    if (migrated) server.template ??= makeTemplate()
    const url = await server.make(migrated ? ((await server.template) ?? null) : null)
    return { ...(await open(url)), url, openAgain: () => open(url) }
  }
}

/** One folder per test process, so that it migrates only one file. */
const sqlite = (() => {
  let server: TestServer | undefined
  return () => {
    server ??= sqliteServer()
    return server
  }
})()

function sqliteServer(): TestServer {
  const folder = mkdtempSync(join(tmpdir(), 'roost-test-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  let made = 0
  const shared = join(sharedFolder ?? folder, 'migrated.db')
  return {
    shared: async () => (existsSync(shared) ? `sqlite:${shared}` : null),
    async share(url) {
      const draft = `${shared}.${process.pid}`
      await copyFile(url.slice('sqlite:'.length), draft)
      await rename(draft, shared)
      return `sqlite:${shared}`
    },
    async make(template) {
      const path = join(folder, `${++made}.db`)
      if (template) await copyFile(template.slice('sqlite:'.length), path)
      return `sqlite:${path}`
    },
    async disableSync(db) {
      await sql.raw('pragma synchronous = off').execute(db.withTables())
    },
    async clear() {},
  }
}

function postgresServer(serverUrl: string): TestServer {
  const names: string[] = []
  const runStatements = async (statements: string[]) => {
    const server = await openDatabase(serverUrl, silentLog)
    try {
      for (const statement of statements) await sql.raw(statement).execute(server.withTables())
    } finally {
      await server.close()
    }
  }
  const urlOf = (name: string) => {
    const url = new URL(serverUrl)
    url.pathname = `/${name}`
    return url.href
  }
  // A server that a test run started serves only that run.
  const shared = 'roost_test_migrated'
  return {
    async shared() {
      const server = await openDatabase(serverUrl, silentLog)
      try {
        const found = sql`select from pg_database where datname = ${shared}`.execute(server.withTables())
        return (await found).rows.length > 0 ? urlOf(shared) : null
      } finally {
        await server.close()
      }
    },
    async share(url) {
      try {
        await runStatements([`alter database ${new URL(url).pathname.slice(1)} rename to ${shared}`])
      } catch (error) {
        // Another process was faster.
        if ((await this.shared()) === null) throw error
      }
      return urlOf(shared)
    },
    async make(template) {
      const name = `roost_test_${randomBytes(8).toString('hex')}`
      // Copying files is cheaper than the default, which writes every page to the write-ahead log.
      const from = template ? ` template ${new URL(template).pathname.slice(1)} strategy file_copy` : ''
      await runStatements([`create database ${name}${from}`])
      names.push(name)
      return urlOf(name)
    },
    clear: () => runStatements(names.map((name) => `drop database if exists ${name} with (force)`)),
  }
}
