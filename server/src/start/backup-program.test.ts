import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setImmediate as soon } from 'node:timers/promises'
import { secret } from '../kit/secret.ts'
import { migrations } from '../migrations/index.ts'
import { readBackupStatus, readVerifyStatus } from '../operations/backup/index.ts'
import type { BackupTask } from '../ports/backup-program/port.ts'
import { connect } from '../ports/containers/docker/connect.ts'
import { openTestFilter } from '../ports/containers/docker/engine-filter/test-filter.ts'
import { migrate } from '../ports/database/migrator.ts'
import { openDatabase } from '../ports/database/open.ts'
import { silentLog } from '../ports/log.ts'
import { openBackupProgram } from './backup-program.ts'
import { openVolumeJobs } from './volume-jobs.ts'

const never = new AbortController().signal
const open = (containersUrl: string, dataDir: string) => {
  const env = {
    ...{ PATH: process.env.PATH, HOME: process.env.HOME },
    ...{ ROOST_DATA_DIR: dataDir, ROOST_CONTAINERS_URL: containersUrl },
    // Of the platform's own environment; a backup gets only its own.
    AWS_SECRET_ACCESS_KEY: 'ambient-secret',
  }
  const jobs = openVolumeJobs(containersUrl, { install: 'test', dataDir, connect, env })
  return openBackupProgram({ containersUrl, dataDir, jobs, env })
}

describe('the backup program as a child process', () => {
  let folder: string
  let dataDir: string
  let task: BackupTask
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roost-backup-program-'))
    dataDir = await mkdtemp(join(folder, 'data-'))
    await writeFile(join(dataDir, 'install-id'), 'test')
    const db = await openDatabase(`sqlite:${join(dataDir, 'roost.db')}`, silentLog)
    await migrate(db, migrations, { now: () => new Date(), progress: () => {} })
    await db.close()
    task = {
      kind: 'backup',
      repository: join(folder, 'repository'),
      retention: { daily: 7, weekly: 0, monthly: 0 },
      passphrase: secret('a passphrase of tests'),
      s3: null,
      sftp: null,
    }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('a backup and its verification succeed and are recorded', async () => {
    const program = open('sandbox:', dataDir)
    assert.equal(await program.problem(), null)
    assert.equal(await program.run(task, never), null)
    const status = await readBackupStatus(dataDir)
    assert.deepEqual([status?.result, status?.reason], ['success', null])
    assert.ok((status?.bytes ?? 0) > 1_000)
    assert.equal(await program.run({ ...task, kind: 'verification' }, never), null)
    assert.equal((await readVerifyStatus(dataDir))?.result, 'success')
  })

  test('a failure is recorded with its reason and without secrets', async () => {
    const program = open('sandbox:', dataDir)
    const wrong = await program.run({ ...task, passphrase: secret('another passphrase') }, never)
    assert.match(wrong ?? '', /the passphrase is wrong/)
    const status = await readBackupStatus(dataDir)
    assert.deepEqual([status?.result, status?.reason], ['failure', wrong])
    assert.notEqual(status?.succeeded_at, null)

    // The reason repeats the address, which here repeats the passphrase.
    const passphrase = 'planted-passphrase'
    const repository = `sftp:nobody@127.0.0.1:1/${passphrase}`
    const sftp = { privateKey: secret('no key'), knownHosts: 'host ssh-ed25519 AAAA' }
    const reason = await program.run({ ...task, repository, passphrase: secret(passphrase), sftp }, never)
    assert.match(reason ?? '', /The repository sftp:nobody@127\.0\.0\.1:1\/\[secret\] cannot be used/)
    assert.equal((await readBackupStatus(dataDir))?.reason, reason)
    const s3 = await program.run({ ...task, repository: 's3:http://127.0.0.1:1/bucket' }, never)
    assert.match(s3 ?? '', /needs the access key/, 'the platform’s own variables do not apply')
  })

  test('it holds the lock while it runs, and a stop ends it in order', async () => {
    const program = open('sandbox:', dataDir)
    const stop = new AbortController()
    const ended = program.run(task, stop.signal)
    while (!(await program.isRunning())) await soon()
    stop.abort()
    assert.match((await ended) ?? '', /was interrupted/)
    assert.equal(await program.isRunning(), false)
    assert.match((await readBackupStatus(dataDir))?.reason ?? '', /was interrupted/)
  })
})

test('an engine behind the filter, one that does not answer and the fake one are reported', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-no-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const engine = createServer((_request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"No such container"}')
  })
  const engineSocket = join(folder, 'engine.sock')
  await new Promise<void>((listening) => engine.listen(engineSocket, listening))
  t.after(() => engine.close())
  const filter = await openTestFilter({ engineSocket, install: 'test', isAllowedImage: () => false })
  t.after(() => filter.close())
  const problemOf = (url: string) => open(url, folder).problem()
  assert.equal(await problemOf(`docker://${engineSocket}`), null)
  assert.match((await problemOf('docker:///nowhere.sock')) ?? '', /does not answer/)
  assert.match((await problemOf('fake:')) ?? '', /no volumes/)

  const behind = open(`docker://${filter.socket}`, folder)
  for (const _ of [1, 2]) assert.match((await behind.problem()) ?? '', /A filter .* does not allow/)
  assert.equal(filter.refused.length, 1, 'the filter logs one refusal, not one per view of the page')
})
