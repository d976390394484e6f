import { cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openWith, unwrapKey, VaultError } from '../../foundation/vault/index.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Containers } from '../../ports/containers/port.ts'
import type { JobMount, VolumeJobs } from '../../ports/volume-jobs/port.ts'
import type { HistoryCopies } from '../../ports/workspace-history/port.ts'
import { writeAgeFile } from './age-file.ts'
import { BackupError, publish, refuseTarget, writePrivate } from './archive.ts'
import {
  agentVolume,
  draftNames,
  environmentContext,
  type FullManifest,
  parts,
  readStage,
  type Stage,
  writeStage,
} from './content.ts'
import { findOddities } from './oddities.ts'
import type { Repository, RepositoryRun } from './repository.ts'
import { markRestored, restoredFile, unfinishedVolumes } from './restored.ts'
import { type BackUp, checkPassphrase, type Installation } from './service.ts'
import type { BackupSource } from './source.ts'

/** An installation with the volumes of its agents. */
export type FullInstallation = Installation & {
  containers: Pick<Containers, 'listVolumes' | 'createVolume' | 'removeVolume' | 'list'>
  jobs: VolumeJobs
}

export type FullBackUp = FullInstallation &
  Pick<BackUp, 'clock' | 'version' | 'dotenv' | 'passphrase'> & {
    history: HistoryCopies
    agents(): Promise<FullManifest['agents']>
    signal?: AbortSignal
  }

export type Backed = { manifest: FullManifest }

/** Adds a snapshot to a repository, and creates the repository if needed. Throws `BackupError`, `CopyError`. */
export async function backUpToRepository(
  options: FullBackUp,
  repository: Repository,
): Promise<Backed & RepositoryRun> {
  checkPassphrase(options.passphrase)
  await repository.open(true, options.signal)
  return withStage(options, options.key.dataDir, async (stage, mounts, manifest) => ({
    manifest,
    ...(await repository.add(stage, mounts, options.signal)),
  }))
}

/** Writes one encrypted file. It gets its name when it is complete. Throws `BackupError`, `CopyError`. */
export async function backUpToFile(
  options: FullBackUp,
  { to, mayReplace }: { to: string; mayReplace: boolean },
): Promise<Backed & { bytes: number }> {
  const passphrase = checkPassphrase(options.passphrase)
  await refuseTarget(to, mayReplace)
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const drafts = await mkdtemp(join(dirname(to), '.roost-backup-'))
  try {
    return await withStage(options, options.key.dataDir, async (stage, mounts, manifest) => {
      const draft = join(drafts, 'draft')
      const written = await writeAgeFile(options.jobs, { stage, draft, mounts, passphrase }, options.signal)
      await publish({ to, draft, mayReplace })
      return { manifest, ...written }
    })
  } finally {
    await rm(drafts, { recursive: true, force: true })
  }
}

async function withStage<T>(
  options: FullBackUp,
  parent: string,
  work: (stage: string, mounts: JobMount[], manifest: FullManifest) => Promise<T>,
): Promise<T> {
  const stage = await mkdtemp(join(parent, draftNames.stage))
  try {
    const volumes = await agentVolumes(options.containers)
    const mounts = volumes.map((volume) => mountOf(volume, volume, '/roost/volumes', true))
    const oddities = await findOddities(options.jobs, mounts, options.signal)
    const fields: Stage = {
      ...options,
      passphrase: options.passphrase.reveal(),
      agents: await options.agents(),
      volumes,
      ...oddities,
    }
    // The database first: an agent that is deleted meanwhile has rows and no files, and never the reverse.
    const manifest = await writeStage(stage, fields)
    return await work(stage, mounts, manifest)
  } finally {
    await rm(stage, { recursive: true, force: true })
  }
}

/** Sorted, so that every backup has the same order. */
export async function agentVolumes(containers: Pick<Containers, 'listVolumes'>): Promise<string[]> {
  return (await containers.listVolumes()).filter((name) => agentVolume.test(name)).toSorted()
}

export function mountOf(volume: string, as: string, parent: string, readOnly: boolean): JobMount {
  return { type: 'volume', volume, target: `${parent}/${as}`, readOnly }
}

export type FullRestore = FullInstallation & {
  passphrase: Secret
  source: BackupSource
  /** Volume to restore into, by name in the backup. The default is the same name. */
  volumeFor?: (volume: string) => string
  /** Skips reading the backup beforehand, because the caller removes everything anyway. */
  isScratch?: boolean
  signal?: AbortSignal
}

export type Restored = { manifest: FullManifest; environment: string | null }

/**
 * Restores everything into an empty installation. Reads the whole backup before it changes anything. The database comes
 * last, and a failure removes the new volumes, so it can be repeated. After a kill, the next restore removes them. Throws
 * `BackupError`, `CopyError`.
 */
export async function restoreAll(options: FullRestore): Promise<Restored> {
  const { key, copies, containers, passphrase, source, signal } = options
  const volumeFor = options.volumeFor ?? ((volume: string) => volume)
  await copies.refuseFull()
  const wasMissing = (await stat(key.dataDir).catch(() => null)) === null
  await mkdir(key.dataDir, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(key.dataDir, draftNames.restore))
  let isDone = false
  let volumes: string[] | null = null
  const { templates, history } = foldersOf(key.dataDir)
  try {
    await source.readPlatform(folder, { withHistory: true, signal })
    const manifest = await readStage(folder, source.name)
    if (manifest.dialect !== copies.dialect)
      throw new BackupError(
        `This backup is of ${manifest.dialect}, and ROOST_DATABASE_URL names ${copies.dialect}: they cannot be changed into each other.`,
      )
    const phrase = passphrase.reveal()
    const unwrapped = openOrFail(() => unwrapKey(manifest.encryption_key, phrase))
    if (!unwrapped.fits(key))
      throw new BackupError(
        'This installation has another encryption key (encryption.key or ROOST_ENCRYPTION_KEY): restore into an empty data folder.',
      )
    const { environment: sealed } = manifest
    const environment = sealed && openOrFail(() => openWith(phrase, sealed, environmentContext))
    const unfinished = await unfinishedVolumes(key.dataDir)
    if (unfinished) await removeUnfinished(key.dataDir, containers, unfinished)
    for (const each of [templates, history])
      if ((await readdir(each).catch(() => [])).length > 0)
        throw new BackupError(`${each} is not empty. Restore into another data folder.`)
    const present = new Set(await containers.listVolumes())
    const full = manifest.volumes.find((volume) => present.has(volumeFor(volume)))
    if (full !== undefined)
      throw new BackupError(
        `The container engine already has the volume ${volumeFor(full)}. Restore into an engine without volumes of this installation.`,
      )
    if (!options.isScratch) await source.check('all', signal)
    volumes = manifest.volumes.map(volumeFor)
    await markRestored(key.dataDir, volumes)
    for (const volume of manifest.volumes)
      await containers.createVolume(volumeFor(volume), labelsOf(volume, manifest))
    const mounts = manifest.volumes.map((volume) =>
      mountOf(volumeFor(volume), volume, '/restore/roost/volumes', false),
    )
    await source.extract(mounts, 'all', signal)
    unwrapped.keep(key)
    await cp(join(folder, parts.templates), templates, { recursive: true, verbatimSymlinks: true })
    // Backups of earlier versions have none.
    if (await stat(join(folder, parts.history)).catch(() => null))
      await rename(join(folder, parts.history), history)
    await writeOnce(join(key.dataDir, 'install-id'), manifest.install_id)
    const environmentFile = join(key.dataDir, 'restored.env')
    await writeOnce(environmentFile, environment)
    await copies.restoreFrom(join(folder, parts.database))
    isDone = true
    // Volumes that stay named are harmless: a restore next to this database is refused, and the next start removes the mark.
    await markRestored(key.dataDir).catch(() => {})
    return { manifest, environment: environment === null ? null : environmentFile }
  } finally {
    // What cannot be removed now stays recorded for the next restore.
    if (!isDone && volumes) await removeUnfinished(key.dataDir, containers, volumes).catch(() => {})
    await rm(folder, { recursive: true, force: true })
    if (!isDone && wasMissing && (await readdir(key.dataDir)).length === 0)
      await rm(key.dataDir, { recursive: true })
  }
}

const foldersOf = (dataDir: string) => ({
  templates: join(dataDir, 'templates'),
  history: join(dataDir, 'history'),
})

/** Removes what a restore without a database left. Its volumes did not exist before, and its folders were empty. */
async function removeUnfinished(
  dataDir: string,
  containers: Pick<Containers, 'removeVolume'>,
  volumes: readonly string[],
): Promise<void> {
  for (const volume of volumes) await containers.removeVolume(volume)
  for (const each of Object.values(foldersOf(dataDir))) await rm(each, { recursive: true, force: true })
  await rm(join(dataDir, restoredFile), { force: true })
}

/** The labels that the platform gives a volume of an agent. */
function labelsOf(volume: string, { agents }: FullManifest): Record<string, string> {
  const kind = agentVolume.exec(volume)?.[1] ?? ''
  const agent = agents.find(({ volume_base }) => volume === `agent-${volume_base}-${kind}`)
  return { 'roost.platform': `agent-${kind}`, ...(agent && { 'roost.agent-name': agent.name }) }
}

function openOrFail<T>(open: () => T): T {
  try {
    return open()
  } catch (cause) {
    if (!(cause instanceof VaultError)) throw cause
    throw new BackupError('The passphrase is wrong, or the backup was changed.', { cause })
  }
}

async function writeOnce(path: string, content: string | null): Promise<void> {
  if (content === null) return
  await writePrivate(path, content).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
