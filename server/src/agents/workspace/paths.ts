import { posix } from 'node:path'
import { workspaceRoot } from '@roost/contracts/agents/workspace'
import {
  holdsProtectedPath,
  isClosed,
  isOwnersAlone,
  isOwnersToWrite,
  isProtectedPath,
} from '@roost/contracts/link/credentials'
import type { Relation } from '../../identity/access/index.ts'
import { Fault } from '../../kit/fault.ts'

/**
 * Resolves a caller's path to an absolute path inside the workspace; relative paths start at its root. Throws
 * `protected_path` for paths outside. The agent resolves links and refuses those that leave.
 */
export function resolvePath(requestedPath: string): string {
  if (requestedPath.includes('\0')) throw protectedPath('The path must not contain the character U+0000.')
  const path = posix.resolve(workspaceRoot, requestedPath)
  if (path !== workspaceRoot && !path.startsWith(`${workspaceRoot}/`)) {
    throw protectedPath(`"${formatPath(requestedPath)}" is outside the workspace.`)
  }
  return path
}

export function rejectWrite(path: string, isOwner: boolean): void {
  const relative = posix.relative(workspaceRoot, path)
  if (relative === '' || isProtectedPath(relative))
    throw protectedPath(`"${formatPath(relative || '.')}" is protected.`)
  if (!isOwner && isOwnersToWrite(relative))
    throw protectedPath(`Only the owner may change "${relative}": it controls what runs do.`)
}

/** Like `rejectWrite`, and also rejects folders that contain something protected. */
export function rejectDelete(path: string, isOwner: boolean): void {
  rejectWrite(path, isOwner)
  const relative = posix.relative(workspaceRoot, path)
  if (holdsProtectedPath(relative)) throw protectedPath(`"${formatPath(relative)}" contains protected files.`)
}

/** Throws `protected_path` for the platform's folder, listed or read by anyone. */
export function rejectClosed(path: string): void {
  const relative = posix.relative(workspaceRoot, path)
  if (isClosed(relative)) throw protectedPath(`"${formatPath(relative)}" belongs to the platform.`)
}

/** Like `rejectClosed`, and also rejects credentials for everyone other than the owner. */
export function rejectRead(path: string, isOwner: boolean): void {
  rejectClosed(path)
  if (isOwner) return
  const relative = posix.relative(workspaceRoot, path)
  if (isOwnersAlone(relative)) throw protectedPath(`Only the owner may read "${relative}".`)
}

/** The agent itself owns its workspace; people it is shared with do not get its credentials. */
export function ownsSecrets(relation: Relation): boolean {
  return relation === 'owner' || relation === 'admin' || relation === 'self'
}

/** A packed folder contains everything below it. */
export function rejectPack(path: string, isOwner: boolean): void {
  if (!isOwner && path === workspaceRoot) {
    throw protectedPath('Only the owner may download the whole workspace: it contains credentials.')
  }
}

function protectedPath(sentence: string): Fault {
  return new Fault('protected_path', sentence)
}

/** Formats a path for a message: truncated and on one line. */
export function formatPath(path: string): string {
  return path.slice(0, 200).replaceAll(/[\x00-\x1f\x7f]/g, '?')
}
