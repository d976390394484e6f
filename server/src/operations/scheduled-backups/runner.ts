import type { BackupResult } from '@roost/contracts/operations/scheduled-backups'
import type { Alerts } from '../../foundation/alerts/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { BackupProgram, BackupTask } from '../../ports/backup-program/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { readBackupStatus, readVerifyStatus, writeBackupStatus, writeVerifyStatus } from '../backup/index.ts'
import { alertKindOf, failureAlert, maxRunSeconds } from './rules.ts'
import { backupSettingsStore, type Kind } from './store.ts'

export type RunnerDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
  program: BackupProgram
  /** The folder with the records of the results. */
  dataDir: string
  /** A backup has the agents of one machine. */
  hasSeveralMachines(): Promise<boolean>
}

const records = {
  backup: { read: readBackupStatus, write: writeBackupStatus },
  verification: { read: readVerifyStatus, write: writeVerifyStatus },
}

/** Runs the backup program, one run at a time, and turns its results into alerts. */
export function createRunner(deps: RunnerDeps) {
  const { db, clock, log, alerts, program, dataDir } = deps
  let current: { stop: AbortController; ended: Promise<void> } | null = null

  const statusOf = (kind: Kind): Promise<BackupResult | null> => records[kind].read(dataDir)

  /**
   * Raises or clears the alert for the last result, once. Also for results of commands, and of a run whose platform was
   * killed.
   */
  async function report(kind: Kind): Promise<void> {
    const [row, status] = await Promise.all([backupSettingsStore(db).read(), statusOf(kind)])
    if (!row || !status || row[`${kind}_reported_at`] === status.attempted_at) return
    await db.atomically(async (tx) => {
      if (!(await backupSettingsStore(tx).noteReported(kind, status.attempted_at))) return
      if (status.result === 'failure') await alerts.raise(tx, failureAlert(kind, status))
      else await alerts.clear(tx, null, alertKindOf(kind))
    })
  }

  /** Null after a success. A backup without the agents of other machines is none. */
  async function problemOf(
    kind: Kind,
    taskOf: () => BackupTask,
    stop: AbortController,
  ): Promise<string | null> {
    try {
      const problem = (await program.problem()) ?? (await program.run(taskOf(), stop.signal))
      return problem ?? (kind === 'backup' ? await missingMachines(deps) : null)
    } catch (error) {
      log.error({ err: error }, 'a backup or verification could not start')
      return error instanceof Error ? error.message : String(error)
    }
  }

  async function perform(kind: Kind, taskOf: () => BackupTask, stop: AbortController): Promise<void> {
    const startedAt = timestamp(clock.now())
    const ended = new AbortController()
    let isLate = false
    void clock.wait(maxRunSeconds * 1000, ended.signal).then(() => {
      if (ended.signal.aborted) return
      isLate = true
      stop.abort()
    })
    log.info({ kind }, 'a backup or verification starts')
    const problem = await problemOf(kind, taskOf, stop)
    ended.abort()
    if (problem === null) log.info({ kind }, 'a backup or verification succeeded')
    else {
      log.warn({ kind, reason: problem }, 'a backup or verification failed')
      const status = await statusOf(kind)
      const reason = isLate ? `It did not end within ${maxRunSeconds / 3600} hours.` : problem
      // A program that could not start, or was killed, has recorded nothing, and an incomplete backup a success.
      if (isLate || status === null || status.attempted_at < startedAt || status.result === 'success')
        await records[kind].write(dataDir, timestamp(clock.now()), { reason })
    }
    await report(kind)
  }

  return {
    statusOf,
    report,
    /** True also while another process of this machine runs one. */
    isRunning: async () => current !== null || (await program.isRunning()),
    /** Returns before the run ends; its result is recorded. Throws `backup_in_progress`. */
    begin(kind: Kind, taskOf: () => BackupTask): void {
      if (current) throw new Fault('backup_in_progress')
      const stop = new AbortController()
      const ended = perform(kind, taskOf, stop)
        .catch((error: unknown) => log.error({ kind, err: error }, 'the result of a backup is not recorded'))
        .finally(() => {
          current = null
        })
      current = { stop, ended }
    },
    async close(): Promise<void> {
      current?.stop.abort()
      await current?.ended
    },
  }
}

/** Returns why a backup is incomplete; null if it has all agents. */
export async function missingMachines({
  hasSeveralMachines,
}: Pick<RunnerDeps, 'hasSeveralMachines'>): Promise<string | null> {
  if (!(await hasSeveralMachines())) return null
  return 'A backup has the agents of one machine only, and this installation runs on several. Use cron with `./roost backup run` on each machine, with a repository for each.'
}
