import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { findPostgres, type Service, startPostgres } from '../../../../cli/src/testing/services.ts'
import { createTestCertificates } from '../../test/certificates.ts'
import { openDatabase } from '../database/open.ts'
import { silentLog } from '../log.ts'
import { postgresCopies } from './postgres.ts'

/** One address serves the platform and the programs of PostgreSQL, which read its options differently. */
describe('PostgreSQL with TLS and a private certificate authority', () => {
  const certificate = createTestCertificates()
  let folder: string
  let server: Service
  let authority: string
  const copies = (url: string) => postgresCopies(url, process.env.PATH ?? '')
  const address = (options: string) => `${server.url.replace('127.0.0.1', 'localhost')}?${options}`

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roost-copies-'))
    const { cert, key, certFile } = certificate('database')
    authority = certFile
    server = await startPostgres((await findPostgres()) ?? assert.fail(), tmpdir(), { tls: { cert, key } })
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test('the platform connects and a copy is made with `sslrootcert`', async () => {
    const url = address(`sslmode=verify-full&sslrootcert=${authority}`)
    const db = await openDatabase(url, silentLog)
    try {
      const query = sql<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
      const { rows } = await query.execute(db.withTables())
      assert.deepEqual(rows, [{ ssl: true }])
    } finally {
      await db.close()
    }
    const file = join(folder, 'copy')
    await copies(url).copyTo(file)
    assert.ok((await stat(file)).size > 0)
  })

  test('both refuse a certificate of an unknown authority', async () => {
    const other = certificate('other').certFile
    const url = address(`sslmode=verify-full&sslrootcert=${other}`)
    const db = await openDatabase(url, silentLog)
    await assert.rejects(sql`select 1`.execute(db.withTables()), /self.signed certificate/)
    await db.close()
    await assert.rejects(copies(url).copyTo(join(folder, 'refused')), /certificate verify failed/)
  })
})
