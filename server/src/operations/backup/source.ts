import type { Writable } from 'node:stream'
import type { JobMount } from '../../ports/volume-jobs/port.ts'

/** Names of volumes of the backup. `all` reads a repository once instead of once per volume. */
export type Volumes = readonly string[] | 'all'

export type ReadPlatform = { withHistory: boolean; signal?: AbortSignal | undefined }

/** Differences that a report lists. There may be one for each file. */
export const listedDifferences = 3
/** `listed`: the first few of them. */
export type Differences = { count: number; listed: string[] }

/** A backup to restore from: a snapshot of a repository, or a file. All methods throw `BackupError`. */
export type BackupSource = {
  /** For messages. */
  readonly name: string
  /** Writes the platform's part into a private folder, the histories only if requested. */
  readPlatform(folder: string, options: ReadPlatform): Promise<void>
  /** Reads everything that a restore of these volumes needs, and changes nothing. */
  check(volumes: Volumes, signal?: AbortSignal): Promise<void>
  /** Restores volumes into mounts below `/restore/roost/volumes/`. */
  extract(mounts: readonly JobMount[], volumes: Volumes, signal?: AbortSignal): Promise<void>
  /** Compares content, owners, modes and times with these mounts. */
  compare(mounts: readonly JobMount[], volumes: Volumes, signal?: AbortSignal): Promise<Differences>
  /** Writes one regular file, by its path below the volumes. */
  read(path: string, output: Writable, signal?: AbortSignal): Promise<void>
}
