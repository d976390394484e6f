import { workspaceRoot } from '@roost/contracts/agents/workspace'
import { isProtectedPath, protectedFiles, protectedFolders } from '@roost/contracts/link/credentials'

/** A path relative to the workspace, without leading and trailing slashes. Empty: the workspace root. */
export type Place = { kind: 'folder' | 'file'; path: string }

export const rootPlace: Place = { kind: 'folder', path: '' }

/** The place in `?path=`: a folder ends with a slash. Accepts absolute paths as well. */
export function placeOf(param: string | undefined): Place {
  const inside = relativePath(param ?? '')
  const path = inside.replace(/^\/+|\/+$/g, '')
  return path === '' ? rootPlace : { kind: inside.endsWith('/') ? 'folder' : 'file', path }
}

/** The value of `?path=` for a place; undefined for the workspace root. */
export function paramOf({ kind, path }: Place): string | undefined {
  if (path === '') return undefined
  return kind === 'folder' ? `${path}/` : path
}

/** The path in the API's form. */
export function absolutePath(path: string): string {
  return path === '' ? workspaceRoot : `${workspaceRoot}/${path}`
}

export function relativePath(absolute: string): string {
  if (absolute === workspaceRoot) return ''
  return absolute.startsWith(`${workspaceRoot}/`) ? absolute.slice(workspaceRoot.length + 1) : absolute
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** The parent folders, outermost first, without the workspace root. */
export function ancestorsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Whether `path` equals `folder` or is inside of it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}

/**
 * Whether it belongs to git, the credentials or the platform: readable, but never written or deleted
 * manually.
 */
export function isProtected(path: string): boolean {
  return isProtectedPath(path)
}

/** Whether deleting it would delete protected entries. */
export function holdsProtected(path: string): boolean {
  return [...protectedFiles, ...protectedFolders].some((floor) => isWithin(floor, path))
}

/** Why the name of a new entry is invalid, which may include missing parent folders; null when valid. */
export function nameFault(name: string): string | null {
  if (name === '') return 'Enter a name.'
  if (name.includes('\0')) return 'The name must not contain the character U+0000.'
  const parts = name.split('/')
  if (parts.includes(''))
    return 'The name must not begin or end with a slash or contain two slashes in a row.'
  if (parts.includes('.') || parts.includes('..')) return 'The name must not be “.” or “..”.'
  const bytes = new TextEncoder()
  if (parts.some((part) => bytes.encode(part).length > 255)) return 'The name must have at most 255 bytes.'
  return null
}

/**
 * A name for display: spells out invisible characters and those that change the text direction, so that
 * `exe.‮txt` cannot pass for another name.
 */
export function visibleName(name: string): string {
  const spelled = name.replaceAll(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
  return spelled.replaceAll(/^ +| +$/g, (spaces) => '␠'.repeat(spaces.length))
}

const unseen = /[\p{Cc}\p{Cf}\u2028\u2029\u3164\u115f\u1160]/gu
