import { posix } from 'node:path'
import { workspaceRoot } from '@roost/contracts/agents/workspace'
import { isClosed, isOwnersAlone } from '@roost/contracts/link/credentials'
import { Fault } from '../../kit/fault.ts'
import { formatPath, rejectRead, resolvePath } from '../workspace/index.ts'

/** A path in a request: as text, or as base64url of its bytes. */
export type PathQuery = { path?: string | undefined; path_bytes?: string | undefined }
/** `path_bytes` is present only if the path is not UTF-8. */
export type ShownPath = { path: string; path_bytes?: string }

/** A path of a record, whose bytes are characters, as text. */
export function textOf(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8')
}

export function shownPath(path: string): ShownPath {
  const bytes = Buffer.from(path, 'latin1')
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes)
    ? { path: text }
    : { path: text, path_bytes: bytes.toString('base64url') }
}

/** The path in a record; empty for the workspace itself. Throws `protected_path`. */
export function recordPathOf({ path, path_bytes }: PathQuery, isOwner: boolean): string {
  const inside = path_bytes === undefined ? insideOf(path ?? '') : decoded(path_bytes)
  rejectRead(posix.join(workspaceRoot, textOf(inside)), isOwner)
  return inside
}

function insideOf(path: string): string {
  const inside = posix.relative(workspaceRoot, resolvePath(path))
  return Buffer.from(inside, 'utf8').toString('latin1')
}

function decoded(bytes: string): string {
  const path = Buffer.from(bytes, 'base64url').toString('latin1')
  const isPlain = path.split('/').every((name) => name !== '' && name !== '.' && name !== '..')
  if (!isPlain || path.includes('\0'))
    throw new Fault('protected_path', `"${formatPath(path)}" is outside the workspace.`)
  return path
}

/** Whether a caller may see a path of a record at all. */
export function isVisible(path: string, isOwner: boolean): boolean {
  const inside = textOf(path)
  return !isClosed(inside) && (isOwner || !isOwnersAlone(inside))
}
