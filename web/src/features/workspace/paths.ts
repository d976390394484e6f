import { workspaceRoot } from '@roost/contracts/agents/workspace'
import { protectedFiles, protectedFolders } from '@roost/contracts/link/credentials'

/** A path is relative to the workspace, without slashes at its ends; the empty text is the workspace itself. */
export type Place = { kind: 'folder' | 'file'; path: string }

export const rootPlace: Place = { kind: 'folder', path: '' }

/** The place that `?path=` names: a folder ends with a slash. Absolute paths are understood too. */
export function placeOf(param: string | undefined): Place {
  const inside = relativePath(param ?? '')
  const path = inside.replace(/^\/+|\/+$/g, '')
  return path === '' ? rootPlace : { kind: inside.endsWith('/') ? 'folder' : 'file', path }
}

/** The other way round; the workspace itself needs no parameter. */
export function paramOf({ kind, path }: Place): string | undefined {
  if (path === '') return undefined
  return kind === 'folder' ? `${path}/` : path
}

/** As the API takes it. */
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

/** The folders above, outermost first; the workspace itself is none of them. */
export function ancestorsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Whether it is this or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}

/** Belongs to git, to the credentials or to the platform: read by hand, never written or deleted. */
export function isProtected(path: string): boolean {
  return protectedFiles.includes(path) || protectedFolders.some((folder) => isWithin(path, folder))
}

/** Deleting it would take something protected along. */
export function holdsProtected(path: string): boolean {
  return [...protectedFiles, ...protectedFolders].some((floor) => isWithin(floor, path))
}

/** What is wrong with a name for a new entry, which may lie in folders that do not exist yet; null: nothing. */
export function nameFault(name: string): string | null {
  if (name === '') return 'Give it a name.'
  if (name.includes('\0')) return 'A name must not contain the character U+0000.'
  const parts = name.split('/')
  if (parts.includes('')) return 'A name must not begin or end with a slash, nor have two in a row.'
  if (parts.includes('.') || parts.includes('..')) return '“.” and “..” are no names.'
  const bytes = new TextEncoder()
  if (parts.some((part) => bytes.encode(part).length > 255)) return 'A name has at most 255 bytes.'
  return null
}

/**
 * A name as it may be shown: characters that are not seen, or that turn the order of the others around, are
 * spelled out, so that `exe.‮txt` cannot pass for what it is not.
 */
export function visibleName(name: string): string {
  const spelled = name.replaceAll(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
  return spelled.replaceAll(/^ +| +$/g, (spaces) => '␠'.repeat(spaces.length))
}

const unseen = /[\p{Cc}\p{Cf}\u2028\u2029\u3164\u115f\u1160]/gu
