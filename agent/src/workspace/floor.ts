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
 * The platform looks at a path as it was given; a link in the workspace may lead from a harmless name to what is
 * protected. Here the real path is looked at, `given` is what the refusal names.
 */
export function refuseChange({ home }: Pick<Paths, 'home'>, real: string, given: string): void {
  if (isProtectedPath(relative(home, real))) throw refusal(given)
}

export function refuseRemoval({ home }: Pick<Paths, 'home'>, real: string, given: string): void {
  const inside = relative(home, real)
  if (isProtectedPath(inside) || holdsProtectedPath(inside)) throw refusal(given)
}

export function refuseReading({ home }: Pick<Paths, 'home'>, real: string, given: string): void {
  if (isOwnersAlone(relative(home, real))) throw refusal(given)
}

/** The files that only the owner reads, as the file system knows them: a second name for one is the same file. */
export async function protectedInodes({ home }: Pick<Paths, 'home'>): Promise<ReadonlySet<string>> {
  const found = await Promise.all(protectedFiles.map((name) => stat(`${home}/${name}`).catch(() => null)))
  return new Set(found.flatMap((file) => (file ? [inodeOf(file)] : [])))
}

export function inodeOf({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`
}

export function refusal(given: string): LinkFault {
  return new LinkFault('protected_path', `${given} is protected.`)
}
