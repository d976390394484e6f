import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createThrowawayVault } from '../../foundation/vault/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import type { BackupProgram, BackupTask } from '../../ports/backup-program/port.ts'
import type { Db } from '../../ports/database/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { writeBackupStatus, writeVerifyStatus } from '../backup/index.ts'
import { createScheduledBackups } from './index.ts'

const configured = {
  enabled: true,
  repository: '/mnt/safe/roost',
  passphrase: 'correct horse battery',
  cron_expression: '0 3 * * *',
  timezone: 'UTC',
}
const s3 = { access_key_id: 'AKIA1', secret_access_key: 'the-secret-key', region: 'eu-1' }
const never = new AbortController().signal

type Run = { task: BackupTask; signal: AbortSignal; end(problem: string | null): void }

/** The outside of the feature: the program records its result, unless it is killed. */
async function openWorld(open: OpenTestDb) {
  const db = await open()
  const clock = createTestClock('2026-01-05T02:00:00.000Z')
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-scheduled-backups-'))
  const { alerts, raised, cleared } = createTestAlerts()
  const vault = createThrowawayVault()
  const outside = {
    problem: null as string | null,
    isRunning: false,
    runs: [] as Run[],
    hasSeveralMachines: false,
  }
  const runs: PromiseWithResolvers<Run>[] = []
  const runOf = (index: number) => {
    runs[index] ??= Promise.withResolvers<Run>()
    return runs[index]
  }
  const program: BackupProgram = {
    problem: async () => outside.problem,
    isRunning: async () => outside.isRunning,
    run(task, signal) {
      const { promise, resolve } = Promise.withResolvers<string | null>()
      const run = { task, signal, end: resolve }
      outside.runs.push(run)
      runOf(outside.runs.length - 1).resolve(run)
      signal.addEventListener('abort', () => resolve('interrupted'))
      return promise
    },
  }
  const processes: ReturnType<typeof createScheduledBackups>[] = []
  const startProcess = (on: Db = db) => {
    const backups = createScheduledBackups({
      ...{ db: on, clock, log: silentLog, alerts, vault, program, dataDir },
      hasSeveralMachines: async () => outside.hasSeveralMachines,
    })
    processes.push(backups)
    return { ...backups, check: () => backups.loops[0]?.run(never) }
  }
  return {
    ...{ db, clock, dataDir, raised, cleared, outside, startProcess },
    /** The run of this number, as soon as it has started. */
    run: (number: number) => runOf(number - 1).promise,
    at: (time: string) => clock.set(`2026-01-${time}:00.000Z`),
    async [Symbol.asyncDispose]() {
      for (const each of processes) await each.close()
      await db.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

forEachDialect((_name, open) => {
  test('of two processes and after a restart, a due time runs once; a missed one only within the hour', async () => {
    await using world = await openWorld(open)
    const [one, other] = [world.startProcess(), world.startProcess(await world.db.openAgain())]
    await one.put(configured)
    await one.check()
    assert.equal(world.outside.runs.length, 0, 'not before the due time')
    world.at('05T03:00')
    await Promise.all([one.check(), other.check()])
    await world.startProcess().check()
    const run = await world.run(1)
    assert.equal((await one.view()).running !== (await other.view()).running, true)
    assert.deepEqual(
      [run.task.kind, run.task.repository, run.task.passphrase.reveal(), run.task.retention],
      ['backup', configured.repository, configured.passphrase, { daily: 7, weekly: 4, monthly: 12 }],
    )
    await writeBackupStatus(world.dataDir, timestamp(world.clock.now()), { bytes: 7 })
    run.end(null)

    world.at('06T04:30')
    await world.startProcess().check()
    assert.equal(world.outside.runs.length, 1, 'missed by more than an hour')
    world.at('07T03:59')
    await world.startProcess().check()
    await world.run(2)
  })

  test('a backup of one of several machines is reported as incomplete, and cannot be enabled', async () => {
    await using world = await openWorld(open)
    const backups = world.startProcess()
    await backups.put(configured)
    world.outside.hasSeveralMachines = true
    world.at('05T03:00')
    await backups.check()
    const run = await world.run(1)
    await writeBackupStatus(world.dataDir, timestamp(world.clock.now()), { bytes: 7 })
    run.end(null)
    await backups.close()
    const { last_backup } = await backups.view()
    assert.equal(last_backup?.result, 'failure')
    assert.match(last_backup.reason ?? '', /^A backup has the agents of one machine only/)
    assert.equal(world.raised.length, 1)
    await backups.put({ enabled: false })
    await assert.rejects(backups.put({ enabled: true }), (error) => isFault(error, 'backups_unavailable'))
  })

  test('while one runs here or elsewhere, no other starts; the due time waits within its grace', async () => {
    await using world = await openWorld(open)
    const backups = world.startProcess()
    await backups.put({ ...configured, verify_cron_expression: '0 3 * * *' })
    world.at('05T03:00')
    world.outside.isRunning = true
    await backups.check()
    await assert.rejects(backups.start('backup'), (error) => isFault(error, 'backup_in_progress'))
    assert.equal(world.outside.runs.length, 0)
    world.outside.isRunning = false
    await backups.check()
    await backups.check()
    const first = await world.run(1)
    assert.deepEqual(
      world.outside.runs.map(({ task }) => task.kind),
      ['backup'],
      'the backup before its verification',
    )
    await assert.rejects(backups.start('verification'), (error) => isFault(error, 'backup_in_progress'))
    assert.equal((await backups.view()).running, true)
    first.end(null)
    await backups.close()
    world.at('05T03:20')
    await backups.check()
    assert.equal((await world.run(2)).task.kind, 'verification')
  })

  test('a failure raises one alert with the reason, a later success clears it; also without a record', async () => {
    await using world = await openWorld(open)
    const backups = world.startProcess()
    await backups.put(configured)
    await backups.start('backup')
    const run = await world.run(1)
    run.end('The repository cannot be reached.')
    await backups.close()
    const { last_backup } = await backups.view()
    assert.deepEqual(
      [last_backup?.result, last_backup?.succeeded_at, last_backup?.reason],
      ['failure', null, 'The repository cannot be reached.'],
    )
    await backups.check()
    assert.deepEqual(
      world.raised.map(({ kind, agentId }) => [kind, agentId]),
      [['backup_failed', null]],
    )
    assert.match(world.raised[0]?.question ?? '', /^The repository cannot be reached\./)

    // A command, or a run whose platform was killed.
    await writeBackupStatus(world.dataDir, '2026-01-05T02:10:00.000Z', { bytes: 9 })
    await writeVerifyStatus(world.dataDir, '2026-01-05T02:11:00.000Z', { reason: 'One file differs.' })
    await backups.check()
    await backups.check()
    assert.deepEqual(world.cleared, [{ agentId: null, kind: 'backup_failed' }])
    assert.deepEqual(
      world.raised.map(({ kind }) => kind),
      ['backup_failed', 'backup_verification_failed'],
    )
  })

  test('an engine without jobs: not enabled, not started; if it was enabled, the due time fails with the reason', async () => {
    await using world = await openWorld(open)
    const backups = world.startProcess()
    world.outside.problem = 'A filter is in between.'
    const unavailable = (error: unknown) => isFault(error, 'backups_unavailable')
    await assert.rejects(backups.put(configured), unavailable)
    const view = await backups.put({ ...configured, enabled: false })
    assert.deepEqual([view.available, view.unavailable_reason], [false, 'A filter is in between.'])
    assert.equal(view.passphrase_set, true)
    await assert.rejects(backups.start('backup'), unavailable)
    world.outside.problem = null
    await backups.put({ enabled: true })
    world.outside.problem = 'A filter is in between.'
    world.at('05T03:00')
    await backups.check()
    await backups.close()
    assert.equal(world.outside.runs.length, 0)
    assert.equal((await backups.view()).last_backup?.reason, 'A filter is in between.')
    assert.equal(world.raised.length, 1)
  })

  test('the stop of the platform ends a run; one that hangs ends after a day', async () => {
    await using world = await openWorld(open)
    const backups = world.startProcess()
    await backups.put(configured)
    await backups.start('backup')
    await world.clock.waitingFor(24 * 3600)
    await world.clock.advance(24 * 3600)
    assert.equal((await world.run(1)).signal.aborted, true)
    await backups.close()
    assert.match((await backups.view()).last_backup?.reason ?? '', /24 hours/)
    await backups.start('verification')
    await world.clock.waitingFor(24 * 3600)
    await backups.close()
    assert.equal((await world.run(2)).signal.aborted, true)
    assert.equal((await backups.view()).last_verification?.reason, 'interrupted')
  })

  test('422 names the field; secrets are kept, replaced and deleted, sealed, and given only to their address', async () => {
    await using world = await openWorld(open)
    const backups = world.startProcess()
    const refused = async (body: Parameters<typeof backups.put>[0], field: string) =>
      assert.rejects(backups.put(body), (error) => {
        assert.ok(isFault(error, 'validation_error'))
        assert.deepEqual((error.fields.issues as { loc: string[] }[])[0]?.loc, ['body', field])
        return true
      })
    await refused({ enabled: true }, 'repository')
    await refused({ repository: 'ftp://x' }, 'repository')
    await refused({ repository: join(world.dataDir, 'backups') }, 'repository')
    await refused({ enabled: true, repository: '/mnt/safe' }, 'passphrase')
    await refused({ ...configured, repository: 's3:https://host/bucket' }, 's3')
    assert.equal((await backups.view()).repository, null, 'nothing was stored')
    await assert.rejects(backups.start('backup'), (error) => isFault(error, 'backup_not_configured'))

    const view = await backups.put({ ...configured, repository: 's3:https://host/bucket', s3 })
    assert.deepEqual([view.passphrase_set, view.s3_set, view.sftp_set], [true, true, false])
    assert.doesNotMatch(JSON.stringify(view), /AKIA1|secret-key|horse/)
    const stored = await world.db
      .withTables<{ backup_settings: Record<string, unknown> }>()
      .selectFrom('backup_settings')
      .selectAll()
      .execute()
    assert.doesNotMatch(JSON.stringify(stored), /AKIA1|secret-key|horse/)
    await refused({ s3: null }, 's3')
    await backups.start('backup')
    const first = await world.run(1)
    assert.equal(first.task.s3?.secretAccessKey.reveal(), s3.secret_access_key)
    first.end(null)
    await backups.close()
    await backups.put({ repository: '/mnt/safe', retention: null })
    await backups.start('backup')
    const { task } = await world.run(2)
    assert.deepEqual([task.s3, task.retention, task.passphrase.reveal()], [null, null, configured.passphrase])
    assert.equal((await backups.put({ s3: null })).s3_set, false)
  })

  test('a changed time does not run the due times before the change', async () => {
    await using world = await openWorld(open)
    const backups = world.startProcess()
    await backups.put(configured)
    world.at('05T10:30')
    const view = await backups.put({ cron_expression: '0 10 * * *' })
    assert.equal(view.next_backup_at, '2026-01-06T10:00:00.000Z')
    await backups.check()
    assert.equal(world.outside.runs.length, 0)
  })
})
