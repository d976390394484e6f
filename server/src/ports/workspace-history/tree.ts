import type { HistoryEntry } from '@roost/contracts/link/history'
import { createPause } from '../../kit/pause.ts'
import { FolderTooLarge, InvalidTree, maxFolderEntries, type StoredEntry } from './port.ts'

/**
 * How a folder becomes a tree of git. Names that git refuses get a `%` in front. The entry named `%` holds what git's
 * trees cannot, as lines `<mode> <flags> <name>` that end with a zero byte; the root's own line has no name.
 */
export type Child = StoredEntry & { name: string }

export const encoding = 'latin1'
export const attributesName = '%'
const hashBytes = 32
const maxNameBytes = 255
const maxPathBytes = 4096
const permissions = 0o7777

/** Also spellings that other file systems take for `.git`. */
const refused = /^(%|\.git|git~)/i

export function escapeName(name: string): string {
  return refused.test(name) ? `%${name}` : name
}

function unescapeName(stored: string): string {
  return stored.startsWith('%') ? stored.slice(1) : stored
}

/** Splits a path; throws `InvalidTree` for one that no file system has. */
export function segmentsOf(path: string): string[] {
  if (path === '') return []
  const segments = path.split('/')
  const isInvalid = (name: string) =>
    name === '' ||
    name === '.' ||
    name === '..' ||
    name.length > maxNameBytes ||
    /[\0\u0100-\uffff]/.test(name)
  if (path.length > maxPathBytes || segments.some(isInvalid)) throw new InvalidTree(path)
  return segments
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** A path in quotes, as `git fast-import` reads it. */
export function quotedPath(path: string): Buffer {
  const escaped = segmentsOf(path).map(escapeName).join('/')
  return quoted(escaped)
}

export function quoted(stored: string): Buffer {
  const text = stored.replace(/["\\\x00-\x1f\x7f]/g, (character) => {
    return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
  })
  return Buffer.from(`"${text}"`, encoding)
}

export function gitModeOf({ kind, mode }: Pick<HistoryEntry, 'kind' | 'mode'>): string {
  if (kind === 'folder') return '040000'
  if (kind === 'link') return '120000'
  return mode & 0o100 ? '100755' : '100644'
}

const defaultMode = { '40000': 0o755, '120000': 0o777, '100755': 0o755, '100644': 0o644 } as const
const kinds = { '40000': 'folder', '120000': 'link', '100755': 'file', '100644': 'file' } as const

type Attributes = Pick<HistoryEntry, 'mode' | 'owner' | 'sparse'>

/** Content of the entry `%`; null if the folder needs none. `own` are the root's attributes. */
export async function attributesOf(
  children: ReadonlyMap<string, Child>,
  own: Attributes | null,
): Promise<string | null> {
  const pause = createPause()
  const lines: string[] = []
  for (const child of children.values()) {
    const mode = gitModeOf(child).replace(/^0/, '') as keyof typeof defaultMode
    if (!child.owner || child.sparse || child.mode !== defaultMode[mode])
      lines.push(lineOf(child.name, child))
    await pause()
  }
  if (own && (!own.owner || own.mode !== 0o755)) lines.push(lineOf('', own))
  if (lines.length === 0) return children.size === 0 && !own ? '' : null
  return lines.sort().join('')
}

function lineOf(name: string, { mode, owner, sparse }: Attributes): string {
  const flags = `${owner ? '' : 'o'}${sparse ? 's' : ''}` || '-'
  return `${(mode & permissions).toString(8)} ${flags} ${name}\0`
}

export async function parseAttributes(text: string): Promise<Map<string, Attributes>> {
  const pause = createPause()
  const all = new Map<string, Attributes>()
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\0', at)
    const fields = /^([0-7]{1,4}) ([os-]+) (.*)$/s.exec(text.slice(at, end === -1 ? undefined : end))
    at = end === -1 ? text.length : end + 1
    await pause()
    if (!fields) continue
    const [, mode = '', flags = '', name = ''] = fields
    const [owner, sparse] = [!flags.includes('o'), flags.includes('s')]
    all.set(name, { mode: Number.parseInt(mode, 8), owner, sparse })
  }
  return all
}

/** Reads a tree object. `attributes` is the object of its entry `%`. Throws `FolderTooLarge`. */
export async function parseTree(
  tree: Buffer,
): Promise<{ children: Map<string, Child>; attributes: string | null }> {
  const pause = createPause()
  const children = new Map<string, Child>()
  let attributes: string | null = null
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at)
    const end = tree.indexOf(0, space)
    const mode = tree.toString(encoding, at, space) as keyof typeof kinds
    const stored = tree.toString(encoding, space + 1, end)
    const content = tree.toString('hex', end + 1, end + 1 + hashBytes)
    at = end + 1 + hashBytes
    await pause()
    if (stored === attributesName) {
      attributes = content
      continue
    }
    if (children.size === maxFolderEntries) throw new FolderTooLarge()
    const name = unescapeName(stored)
    children.set(name, {
      name,
      path: name,
      kind: kinds[mode],
      mode: defaultMode[mode],
      owner: true,
      sparse: false,
      content,
    })
  }
  return { children, attributes }
}
