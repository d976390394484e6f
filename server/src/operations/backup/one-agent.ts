import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createLock } from '../../agents/lifecycle/index.ts'
import { type Agent, agentStore } from '../../agents/records/index.ts'
import { createLeases } from '../../foundation/leases/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { BackupError, refuseTarget } from './archive.ts'
import { agentVolume, draftNames, type FullManifest, readStage } from './content.ts'
import type { BackupSource } from './source.ts'
import { removeScratchVolumes } from './verify.ts'
import { type FullInstallation, mountOf } from './whole.ts'

/** Reads what a backup contains. Throws `BackupError`. */
export async function readManifest(
  source: BackupSource,
  parent: string,
  signal?: AbortSignal,
): Promise<FullManifest> {
  const folder = await mkdtemp(join(parent, draftNames.restore))
  try {
    await source.readPlatform(folder, { withHistory: false, signal })
    return await readStage(folder, source.name)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export type RestoreAgent = Pick<FullInstallation, 'containers' | 'jobs'> & {
  db: Db
  clock: Clock
  source: BackupSource
  dataDir: string
  /** Name of the agent in the backup. */
  agent: string
  /** The existing agent to restore into. */
  into: Pick<Agent, 'id' | 'name' | 'volume_base'>
  /** Keeps files that the backup does not have; otherwise they are deleted. */
  mustMerge: boolean
  signal?: AbortSignal
}

/**
 * Restores the workspace, the home and the shared folder of one agent. Unpacks them beside the agent first, so that a
 * damaged backup changes nothing. Throws `BackupError` for an agent that runs or may start by itself.
 */
export async function restoreAgent(options: RestoreAgent): Promise<{ volumes: number; createdAt: string }> {
  const { containers, jobs, db, clock, source, agent, into, mustMerge, signal } = options
  const manifest = await readManifest(source, options.dataDir, signal)
  const volumes = volumesOfAgent(manifest, agent)
  const targets = volumes.map((volume) => `agent-${into.volume_base}-${agentVolume.exec(volume)?.[1] ?? ''}`)
  const requireStopped = async () => {
    const isRunning = (await containers.list()).some(
      ({ status, volumes: mounted }) =>
        status === 'running' && mounted.some((each) => targets.includes(each)),
    )
    if (isRunning)
      throw new BackupError(
        `The agent ${into.name}, or an agent that mounts its folder, is running. Stop it first.`,
      )
    const current = await agentStore(db).byId(into.id)
    if (!current) throw new BackupError(`The agent ${into.name} was deleted meanwhile.`)
    // After a crash the engine waits before it starts the container again, and reports it as stopped.
    if (current.state !== 'ready' || current.desired !== 'stopped')
      throw new BackupError(
        `The agent ${into.name} is not running now, but it is not set to be stopped. Stop the agent first.`,
      )
  }
  const incomplete = (reason: string, cause?: unknown) =>
    new BackupError(`The files of ${into.name} are incomplete: ${reason} Repeat the command.`, { cause })
  await requireStopped()
  await source.check(volumes, signal)
  await removeScratchVolumes({ containers })
  const scratch = volumes.map((_, index) => `roost-restore-${index + 1}`)
  try {
    for (const volume of [...scratch, ...targets]) await containers.createVolume(volume, {})
    const staged = scratch.map((volume, index) =>
      mountOf(volume, volumes[index] ?? '', '/restore/roost/volumes', false),
    )
    await source.extract(staged, volumes, signal)
    const mounts = scratch.flatMap((volume, index) => [
      mountOf(volume, String(index), '/from', true),
      mountOf(targets[index] ?? '', String(index), '/to', false),
    ])
    const clear = mustMerge ? '' : 'find "/to/$each" -mindepth 1 -delete\n'
    const script = `set -e
for each in ${scratch.map((_, index) => index).join(' ')}; do
${clear}cp -a --remove-destination "/from/$each/." "/to/$each/"
done`
    const lock = createLock({ leases: createLeases({ db, clock }), clock })
    await lock.run(into.id, async (lost) => {
      // The check and the unpacking take long, and somebody may have started the agent meanwhile.
      await requireStopped()
      const stop = signal ? AbortSignal.any([signal, lost]) : lost
      // Nothing has changed yet.
      stop.throwIfAborted()
      const job = { script, env: {}, mounts, hasNetwork: false, signal: stop }
      const { code, errors } = await jobs.run(job).catch((cause: unknown) => {
        if (!stop.aborted) throw cause
        const why = lost.aborted ? ', because this process lost its lock on the agent' : ''
        throw incomplete(`the restore was interrupted${why}.`, cause)
      })
      if (code !== 0) throw incomplete(errors.at(-1) ?? '')
    })
    return { volumes: volumes.length, createdAt: manifest.created_at }
  } finally {
    await removeScratchVolumes({ containers }).catch(() => {})
  }
}

/** Restores one file of an agent's workspace to a new file of this machine. Throws `BackupError`. */
export async function restoreFile(
  source: BackupSource,
  { agent, path, to, dataDir }: { agent: string; path: string; to: string; dataDir: string },
  signal?: AbortSignal,
): Promise<void> {
  const clean = path.replace(/^(\.?\/)+/, '')
  if (clean === '' || clean.split('/').some((part) => part === '..' || part === ''))
    throw new BackupError('The path of the file must be a path in the workspace, without `..`.')
  await refuseTarget(to, false)
  const manifest = await readManifest(source, dataDir, signal)
  const workspace = volumesOfAgent(manifest, agent).find((volume) => volume.endsWith('-workspace'))
  if (workspace === undefined) throw new BackupError(`The backup has no workspace of the agent ${agent}.`)
  const output = createWriteStream(to, { flags: 'wx', mode: 0o600 })
  try {
    await source.read(`${workspace}/${clean}`, output, signal)
  } catch (error) {
    output.destroy()
    await rm(to, { force: true })
    throw error
  }
}

function volumesOfAgent({ agents, volumes }: FullManifest, name: string): string[] {
  const bases = agents.filter((agent) => agent.name === name).map(({ volume_base }) => volume_base)
  const found = volumes.filter((volume) =>
    bases.some((base) => volume === `agent-${base}-${agentVolume.exec(volume)?.[1]}`),
  )
  if (found.length === 0) throw new BackupError(`The backup has no files of an agent named ${name}.`)
  return found
}
