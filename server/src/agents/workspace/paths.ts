import { posix } from 'node:path'
import { workspaceRoot } from '@roost/contracts/agents/workspace'
import { holdsProtectedPath, isOwnersAlone, isProtectedPath } from '@roost/contracts/link/credentials'
import { Fault } from '../../kit/fault.ts'

/**
 * The absolute path inside the workspace that a caller means; relative ones start at its root. Throws
 * `protected_path` for everything outside. Links are followed by the agent, which refuses what leaves.
 */
export function resolvePath(given: string): string {
  if (given.includes('\0')) throw protectedPath('The path must not contain the character U+0000.')
  const path = posix.resolve(workspaceRoot, given)
  if (path !== workspaceRoot && !path.startsWith(`${workspaceRoot}/`)) {
    throw protectedPath(`"${shown(given)}" is outside the workspace.`)
  }
  return path
}

export function refuseWrite(path: string): void {
  const inside = posix.relative(workspaceRoot, path)
  if (inside === '' || isProtectedPath(inside)) throw protectedPath(`"${shown(inside || '.')}" is protected.`)
}

/** As for writing; also what holds something protected, since it would go with it. */
export function refuseDelete(path: string): void {
  refuseWrite(path)
  const inside = posix.relative(workspaceRoot, path)
  if (holdsProtectedPath(inside)) throw protectedPath(`"${shown(inside)}" holds what is protected.`)
}

/** Throws `protected_path` when somebody who is not the owner asks for credentials, alone or in a folder. */
export function refuseRead(path: string, isOwner: boolean): void {
  if (isOwner) return
  const inside = posix.relative(workspaceRoot, path)
  if (isOwnersAlone(inside)) throw protectedPath(`Only the owner may read "${inside}".`)
}

/** A packed folder holds everything below it. */
export function refusePack(path: string, isOwner: boolean): void {
  if (!isOwner && path === workspaceRoot) {
    throw protectedPath('Only the owner may download the whole workspace: it holds credentials.')
  }
}

function protectedPath(sentence: string): Fault {
  return new Fault('protected_path', sentence)
}

/** A path in a sentence: short, on one line. */
export function shown(path: string): string {
  return path.slice(0, 200).replaceAll(/[\x00-\x1f\x7f]/g, '?')
}
