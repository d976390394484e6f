import { stat } from 'node:fs/promises'
import { relative } from 'node:path'
import {
  holdsProtectedPath,
  isClosed,
  isOwnersAlone,
  isOwnersToWrite,
  isProtectedPath,
  protectedFiles,
} from '@roost/contracts/link/credentials'
import { LinkFault } from '../link/link.ts'
import type { Paths } from './paths.ts'

/**
 * Checks real paths, because a link in the workspace may hide a protected file behind a harmless name. The
 * platform checks only the requested path, which appears in the error.
 */
export function refuseChange({ home }: Home, real: string, { path, guarded }: Requested): void {
  const inside = relative(home, real)
  if (isProtectedPath(inside) || (guarded && isOwnersToWrite(inside))) throw refusal(path)
}

export function refuseRemoval(home: Home, real: string, requested: Requested): void {
  refuseChange(home, real, requested)
  if (holdsProtectedPath(relative(home.home, real))) throw refusal(requested.path)
}

export function refuseReading({ home }: Home, real: string, { path, guarded }: Requested): void {
  const inside = relative(home, real)
  if (isClosed(inside) || (guarded && isOwnersAlone(inside))) throw refusal(path)
}

/** What only the owner may write stays closed to the group in which others write the workspace. */
export const folderMode = ({ home }: Home, real: string) =>
  isOwnersToWrite(relative(home, real)) ? 0o755 : 0o777

type Home = Pick<Paths, 'home'>

/** Inodes of the files that only the owner may read. A hard link to one of them has the same inode. */
export async function protectedInodes({ home }: Pick<Paths, 'home'>): Promise<ReadonlySet<string>> {
  const found = await Promise.all(protectedFiles.map((name) => stat(`${home}/${name}`).catch(() => null)))
  return new Set(found.flatMap((file) => (file ? [inodeOf(file)] : [])))
}

export function inodeOf({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`
}

/** `guarded`: the requester must not reach what is the owner's alone. */
export type Requested = { path: string; guarded?: boolean | undefined }

export function refusal(requested: string): LinkFault {
  return new LinkFault('protected_path', `${requested} is protected.`)
}
