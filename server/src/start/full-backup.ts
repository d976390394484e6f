/**
 * Backs up an installation with the volumes of its agents, restores it, or verifies a backup, then exits. The only
 * argument is a request as JSON. Secrets are in `ROOST_BACKUP_PASSPHRASE`, `AWS_ACCESS_KEY_ID`,
 * `AWS_SECRET_ACCESS_KEY`, `ROOST_BACKUP_SSH_KEY` and `ROOST_BACKUP_KNOWN_HOSTS`. Exit codes: 0 done, 78 invalid
 * configuration, 1 any other error.
 */

import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { redactText } from '@roost/contracts/kit/redact'
import { minPassphraseLength } from '@roost/contracts/operations/scheduled-backups'
import { z } from 'zod'
import { agentStore } from '../agents/records/index.ts'
import { type Config, ConfigError, parseConfig } from '../config.ts'
import { settleRotation } from '../foundation/vault/index.ts'
import { systemClock as clock, timestamp } from '../kit/clock.ts'
import { maskText } from '../kit/mask-secrets.ts'
import { secret } from '../kit/secret.ts'
import { migrations } from '../migrations/index.ts'
import {
  ageSource,
  BackupError,
  type BackupOutcome,
  type BackupSource,
  backUpToFile,
  backUpToRepository,
  type FullManifest,
  openRepository,
  readManifest,
  removeDrafts,
  removeScratchVolumes,
  restoreAgent,
  restoreAll,
  restoreFile,
  verify,
  volumeBases,
  writeBackupStatus,
  writeVerifyStatus,
} from '../operations/backup/index.ts'
import { violationsOfCopy } from '../operations/invariants/index.ts'
import { ifAlone } from '../ports/agent-images/single-flight.ts'
import { connect } from '../ports/containers/docker/connect.ts'
import { openContainers } from '../ports/containers/open.ts'
import { migrate } from '../ports/database/migrator.ts'
import { openDatabase } from '../ports/database/open.ts'
import type { Db } from '../ports/database/port.ts'
import { openDatabaseCopies } from '../ports/database-copies/open.ts'
import { createScratchDatabase } from '../ports/database-copies/scratch.ts'
import { createLog } from '../ports/log.ts'
import { openHistoryCopies } from '../ports/workspace-history/copies.ts'
import { backupLock, secretNames } from './backup-program.ts'
import { fileLock } from './file-lock.ts'
import { kubernetesOptions } from './kubernetes-options.ts'
import { sandboxImage } from './sandbox-image.ts'
import { exitConfig, fail, sendMessage, stopRequested } from './supervision.ts'
import { openVolumeJobs } from './volume-jobs.ts'

const Retention = z.object({ daily: z.int(), weekly: z.int(), monthly: z.int() })
/** `from`: a repository with a snapshot, or a file. */
const From = z.union([
  z.object({ repository: z.string(), snapshot: z.string() }),
  z.object({ file: z.string() }),
])
const Request = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('run'),
    repository: z.string(),
    retention: Retention.nullable(),
    dotenv: z.string(),
  }),
  z.object({ do: z.literal('file'), to: z.string(), mayReplace: z.boolean(), dotenv: z.string() }),
  z.object({ do: z.literal('list'), repository: z.string() }),
  z.object({ do: z.literal('verify'), from: From }),
  z.object({ do: z.literal('restore'), from: From }),
  z.object({
    do: z.literal('agent'),
    from: From,
    agent: z.string(),
    into: z.string(),
    mustMerge: z.boolean(),
  }),
  z.object({ do: z.literal('one-file'), from: From, agent: z.string(), path: z.string(), to: z.string() }),
])
type Request = z.infer<typeof Request>
type Engine = Awaited<ReturnType<typeof openEngine>>

const skippedReasons = {
  sparse: 'a sparse file with large holes',
  hard_links: 'a further name of a large file',
  too_many: 'the whole volume: it has too many sparse files, hard links, sockets or pipes',
}
/** Label of jobs before the installation is known. */
const noInstall = 'restore'

const stop = new AbortController()
const { signal } = stop
void stopRequested().then(() => stop.abort(new BackupError('The backup was interrupted.')))

try {
  const config = parseConfig(process.env)
  const request = Request.parse(JSON.parse(process.argv[2] ?? ''))
  const { ROOST_BACKUP_PASSPHRASE: phrase = '' } = process.env
  if (phrase.length < minPassphraseLength)
    throw new BackupError(`The passphrase must have at least ${minPassphraseLength} characters.`)
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
  const isOthers = 'Another backup, restore or verification of this installation is running.'
  const done = await ifAlone(await backupLock(config.dataDir), async () => {
    // Processes in other containers see only the lock of the file.
    const lock = fileLock(join(config.dataDir, 'backup.lock'))
    if (!(await lock.attempt())) throw new BackupError(isOthers)
    try {
      await perform(config, request, phrase)
    } catch (error) {
      await record(config, request, { reason: reasonOf(error) })
      throw error
    } finally {
      await lock.end()
    }
  })
  if (!done) throw new BackupError(isOthers)
} catch (error) {
  fail(reasonOf(error), error instanceof ConfigError ? exitConfig : 1)
}
process.exit(0)

async function perform(config: Config, request: Request, phrase: string): Promise<void> {
  const key = config
  await removeDrafts(config.dataDir)
  const copies = openDatabaseCopies(config.databaseUrl.reveal(), { path: process.env.PATH ?? '' })
  const passphrase = secret(phrase)
  if (request.do === 'restore') return restoreEverything()
  // An empty data folder gets no id here, because a restore needs the one of its backup.
  const engine = await openEngine(config, await ownInstall(config))
  await engine.jobs.prepare(progress, signal)
  const history = openHistoryCopies({
    folder: join(config.dataDir, 'history'),
    path: process.env.PATH ?? '',
  })
  const common = {
    key,
    copies,
    history,
    ...engine,
    clock,
    version: await version(),
    passphrase,
    signal,
    agents,
  }
  switch (request.do) {
    case 'run': {
      await settleKey()
      const { repository: address, dotenv, retention } = request
      const repository = repositoryOf(engine, address)
      const { manifest, ...run } = await backUpToRepository({ ...common, dotenv }, repository)
      await record(config, request, { bytes: run.totalBytes })
      progress(
        `Snapshot ${run.snapshotId.slice(0, 8)}: ${manifest.volumes.length} volumes, ${inMiB(run.totalBytes)}; ${run.filesNew} new, ${run.filesChanged} changed and ${run.filesUnmodified} unchanged files; ${inMiB(run.addedBytes)} added.`,
      )
      if (run.unreadable > 0) progress('Some files disappeared while they were read.')
      reportSkipped(manifest)
      if (retention)
        await repository.prune(retention, signal).catch((error: unknown) => {
          throw new BackupError(`The backup is complete, but older ones remain. ${reasonOf(error)}`)
        })
      return
    }
    case 'file': {
      await settleKey()
      const { to, mayReplace, dotenv } = request
      const { manifest, bytes } = await backUpToFile({ ...common, dotenv }, { to, mayReplace })
      await record(config, request, { bytes })
      progress(`${to} (${inMiB(bytes)}, ${manifest.volumes.length} volumes)`)
      return reportSkipped(manifest)
    }
    case 'list': {
      const repository = repositoryOf(engine, request.repository)
      await repository.open(false, signal)
      for (const { short_id, time } of await repository.list(signal))
        progress(`${short_id}  ${time.slice(0, 19)}Z`)
      return
    }
    case 'verify': {
      const source = sourceOf(engine, request.from)
      await removeScratchVolumes(engine)
      const options = { ...engine, source, passphrase, clock, scratch, dataDir: config.dataDir, signal }
      const { manifest, rows, volumes } = await verify(options)
      await record(config, request, { bytes: 0 })
      return progress(
        `The backup of ${manifest.created_at} was restored and compared: ${rows} rows and ${volumes} volumes are the same.`,
      )
    }
    case 'agent': {
      const { agent, into: name, mustMerge } = request
      const source = sourceOf(engine, request.from)
      const { createdAt } = await withDatabase(async (db) => {
        const into = await agentStore(db).byName(name)
        if (!into)
          throw new BackupError(`There is no agent named ${name}. Create it, then repeat the command.`)
        const options = {
          ...engine,
          db,
          clock,
          source,
          dataDir: config.dataDir,
          agent,
          into,
          mustMerge,
          signal,
        }
        return restoreAgent(options)
      })
      return progress(`Restored the files of ${agent} of ${createdAt} into ${name}.`)
    }
    case 'one-file':
      await restoreFile(sourceOf(engine, request.from), { ...request, dataDir: config.dataDir }, signal)
      return progress(request.to)
  }

  async function restoreEverything(): Promise<void> {
    await copies.refuseFull()
    if (request.do !== 'restore') return
    // The id of the installation is in the backup; it names the volumes on the engine.
    const reader = await openEngine(config, noInstall)
    await reader.jobs.prepare(progress, signal)
    const { install_id } = await readManifest(sourceOf(reader, request.from), config.dataDir, signal)
    if (install_id === null) throw new BackupError('The backup is of an installation that was never started.')
    const own = await readFile(join(config.dataDir, 'install-id'), 'utf8').catch(() => install_id)
    if (own.trim() !== install_id)
      throw new BackupError('The data folder belongs to another installation. Restore into an empty one.')
    const given = await givenInstall(config)
    if (config.installId !== null && config.installId !== install_id)
      throw new BackupError(
        `ROOST_INSTALL_ID is ${config.installId}, and the backup is of the installation ${install_id}. Set it to that id.`,
      )
    const engine = await openEngine(config, install_id)
    await engine.jobs.prepare(progress, signal)
    const source = sourceOf(engine, request.from)
    const { manifest, environment } = await restoreAll({ key, copies, ...engine, passphrase, source, signal })
    progress(
      `Restored the backup of ${manifest.created_at}, made by Roost ${manifest.roost_version}: ${manifest.agents.length} agents, ${manifest.volumes.length} volumes.`,
    )
    if (config.installIdFile !== null && given !== install_id)
      progress(
        `Set ROOST_INSTALL_ID=${install_id} in .env before the start: the engine filter needs this id.`,
      )
    if (environment) progress(`The variables of its .env are in ${environment}. Copy those that still apply.`)
    reportSkipped(manifest)
  }

  function repositoryOf({ jobs }: Pick<Engine, 'jobs'>, address: string) {
    const { env } = process
    const s3 = env.AWS_ACCESS_KEY_ID && {
      accessKeyId: env.AWS_ACCESS_KEY_ID,
      secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? '',
      region: env.AWS_DEFAULT_REGION || null,
    }
    const sftp = env.ROOST_BACKUP_SSH_KEY && {
      privateKey: env.ROOST_BACKUP_SSH_KEY,
      knownHosts: env.ROOST_BACKUP_KNOWN_HOSTS ?? '',
    }
    const credentials = { s3: s3 || null, sftp: sftp || null }
    const cacheFolder = join(config.dataDir, 'backup-cache')
    return openRepository(jobs, { address, passphrase: phrase, credentials, cacheFolder })
  }

  function sourceOf(engine: Pick<Engine, 'jobs'>, from: z.infer<typeof From>): BackupSource {
    return 'file' in from
      ? ageSource(engine.jobs, { from: from.file, passphrase: phrase })
      : repositoryOf(engine, from.repository).source(from.snapshot)
  }

  async function withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const db = await openDatabase(config.databaseUrl.reveal(), createLog({ level: config.logLevel }))
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  }

  /** The key must open the database, also after a rotation that was killed. */
  async function settleKey(): Promise<void> {
    await withDatabase((db) => settleRotation(db, config))
  }

  async function agents(): Promise<FullManifest['agents']> {
    return withDatabase(volumeBases)
  }

  async function scratch(folder: string) {
    const path = process.env.PATH ?? ''
    const { url, drop } = await createScratchDatabase(config.databaseUrl.reveal(), { folder, path })
    return {
      copies: openDatabaseCopies(url, { path }),
      drop,
      async check({ created_at }: FullManifest): Promise<string[]> {
        const db = await openDatabase(url, createLog({ level: config.logLevel }))
        try {
          await migrate(db, migrations, { now: clock.now, progress: () => {} })
          return await violationsOfCopy(db, new Date(created_at))
        } finally {
          await db.close()
        }
      },
    }
  }
}

/** Records the result of a backup or verification; other requests leave no record. */
async function record({ dataDir }: Config, request: Request, outcome: BackupOutcome): Promise<void> {
  const isBackup = request.do === 'run' || request.do === 'file'
  if (!isBackup && request.do !== 'verify') return
  const write = isBackup ? writeBackupStatus : writeVerifyStatus
  await write(dataDir, timestamp(clock.now()), outcome).catch((error: unknown) =>
    progress(`The result is missing in the metrics: ${String(error)}`),
  )
}

function reasonOf(error: unknown): string {
  const secrets = secretNames.flatMap((name) => process.env[name] ?? [])
  return redactText(maskText(messageOf(error), secrets))
}

async function openEngine(config: Config, install: string) {
  const { containersUrl, dataDir } = config
  const containers = await openContainers(containersUrl, {
    install,
    network: 'roost-agents',
    sandbox: { stateDir: join(dataDir, 'sandbox'), resolveImage: sandboxImage },
    kubernetes: kubernetesOptions(config, process.env),
  })
  const jobs = openVolumeJobs(containersUrl, { install, dataDir, connect, env: process.env })
  return { containers, jobs }
}

/**
 * The id of this installation. Behind an engine filter the filter's one decides, as an intruder at the API could change
 * the one in the data folder and have the volumes of another installation read.
 */
async function ownInstall(config: Config): Promise<string> {
  const stored = await readFile(join(config.dataDir, 'install-id'), 'utf8').catch(() => noInstall)
  const id = stored.trim()
  if (config.installIdFile === null || id === noInstall) return id
  const given = await givenInstall(config)
  if (given === null) throw new BackupError('The engine filter has no id yet. Start Roost once.')
  if (given !== id)
    throw new BackupError(
      `The data folder belongs to the installation ${id}, and the engine filter to ${given}. Set ROOST_INSTALL_ID to the right one.`,
    )
  return id
}

/** The id that the operator or the engine filter gives; null without one. */
async function givenInstall({ installId, installIdFile }: Config): Promise<string | null> {
  if (installId !== null) return installId
  const text = installIdFile === null ? '' : await readFile(installIdFile, 'utf8').catch(() => '')
  return text.trim() || null
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isDenied = 'code' in error && error.code === 'EACCES'
  if (!isDenied || process.env.ROOST_INSTALL_SOURCE !== 'image') return error.message
  return `${error.message}. The programs run as user 10001: give it this folder on the host with chown.`
}

function reportSkipped({ skipped }: FullManifest): void {
  for (const { path, reason } of skipped.slice(0, 20))
    progress(`Not in the backup: ${JSON.stringify(path)} (${skippedReasons[reason]})`)
}

function inMiB(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}

async function version(): Promise<string> {
  const manifest = await readFile(resolve(import.meta.dirname, '../../../package.json'), 'utf8')
  // The package manifest of this repository.
  return (JSON.parse(manifest) as { version: string }).version
}

function progress(text: string): void {
  sendMessage({ type: 'progress', text })
}
