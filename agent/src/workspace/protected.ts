import { stat } from 'node:fs/promises'
import { relative } from 'node:path'
import {
  holdsProtectedPath,
  isOwnersAlone,
  isProtectedPath,
  protectedFiles,
} from '@roost/contracts/link/credentials'
import { LinkFault } from '../link/link.ts'
import type { Paths } from './paths.ts'

/**
 * Checks real paths, because a link in the workspace may hide a protected file behind a harmless name. The
 * platform checks only the requested path. `requested` appears in the error.
 */
export function refuseChange({ home }: Pick<Paths, 'home'>, real: string, requested: string): void {
  if (isProtectedPath(relative(home, real))) throw refusal(requested)
}

export function refuseRemoval({ home }: Pick<Paths, 'home'>, real: string, requested: string): void {
  const inside = relative(home, real)
  if (isProtectedPath(inside) || holdsProtectedPath(inside)) throw refusal(requested)
}

export function refuseReading({ home }: Pick<Paths, 'home'>, real: string, requested: string): void {
  if (isOwnersAlone(relative(home, real))) throw refusal(requested)
}

/** Inodes of the files that only the owner may read. A hard link to one of them has the same inode. */
export async function protectedInodes({ home }: Pick<Paths, 'home'>): Promise<ReadonlySet<string>> {
  const found = await Promise.all(protectedFiles.map((name) => stat(`${home}/${name}`).catch(() => null)))
  return new Set(found.flatMap((file) => (file ? [inodeOf(file)] : [])))
}

export function inodeOf({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`
}

export function refusal(requested: string): LinkFault {
  return new LinkFault('protected_path', `${requested} is protected.`)
}
