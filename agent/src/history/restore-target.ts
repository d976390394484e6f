import { type HistoryEntry, isPlatformPath, parentOf } from '@roost/contracts/link/history'
import type { RestoreTarget } from '@roost/contracts/link/history-restore'
import { LinkFault } from '../link/link.ts'
import type { Scope } from './listing.ts'

/** What the record has at the selected paths, and above them. */
export type Target = {
  /** The selected paths and the folders above them; null if they are everything, or too many. */
  readonly scope: Scope | null
  add(entries: readonly RestoreTarget[], leftOut: readonly string[]): void
  /** In the order in which they came: folders before their content. */
  paths(): IterableIterator<string>
  entry(path: string): RestoreTarget | null
  isSelected(path: string): boolean
  /** True for a selected path, what is in it, and the folders above it. */
  concerns(path: string): boolean
  /** True for a path that the record left out, and for what is in it. */
  isLeftOut(path: string): boolean
}

/** About 400,000 entries. */
const maxBytes = 64 * 1024 * 1024
const entryBytes = 100
/** A listing compares each entry that it omits with all of them. */
const maxScopePaths = 100
const maxPathLength = 4096
const form = /^([fdl])(o?)(s?)(k?)([0-7]+) (.*)$/
const kinds = { f: 'file', d: 'folder', l: 'link' } as const
const letters = { file: 'f', folder: 'd', link: 'l' } as const

/** `selected`: the empty path means everything. */
export function createTarget(selected: readonly string[]): Target {
  /** Entries as short texts: a record may have hundreds of thousands. */
  const entries = new Map<string, string>()
  const leftOut = new Set<string>()
  const selection = new Set(selected)
  const above = new Set<string>()
  let size = 0

  for (const path of selected) {
    if (path !== '') check(path)
    for (let each = parentOf(path); each !== ''; each = parentOf(each)) above.add(each)
  }

  function count(path: string): void {
    size += entryBytes + path.length
    if (size > maxBytes) throw new LinkFault('io_error', 'The record has too many files to be restored.')
  }

  return {
    scope:
      selection.has('') || selection.size + above.size > maxScopePaths ? null : { whole: selection, above },
    add(added, names) {
      for (const name of names) {
        count(name)
        leftOut.add(name)
      }
      for (const entry of added) {
        check(entry.path)
        const parent = parentOf(entry.path)
        if (parent !== '' && !entries.get(parent)?.startsWith('d')) invalid('a path without its folder')
        if (entry.kind !== 'folder' && !/^[0-9a-f]{64}$/.test(entry.content)) invalid('an invalid digest')
        count(entry.path)
        entries.set(entry.path, packed(entry))
      }
    },
    paths: () => entries.keys(),
    entry(path) {
      const found = entries.get(path)
      return found === undefined ? null : unpacked(path, found)
    },
    isSelected: (path) => isIn(selection, path),
    concerns: (path) => above.has(path) || isIn(selection, path),
    isLeftOut: (path) => leftOut.size > 0 && isIn(leftOut, path),
  }
}

/** True if one of the folders is this path or contains it. The empty path contains everything. */
function isIn(folders: ReadonlySet<string>, path: string): boolean {
  for (let each = path; each !== ''; each = parentOf(each)) if (folders.has(each)) return true
  return folders.has('')
}

function check(path: string): void {
  const isName = (name: string) => name !== '' && name !== '.' && name !== '..' && name.length <= 255
  if (path.length > maxPathLength || /[\0\u0100-\uffff]/.test(path) || !path.split('/').every(isName))
    invalid('an invalid path')
  if (isPlatformPath(path)) invalid('a path of the platform')
}

function invalid(what: string): never {
  throw new LinkFault('invalid_message', `The restore has ${what}.`)
}

function packed({ kind, owner, sparse, known, mode, content }: RestoreTarget): string {
  const flags = `${owner ? 'o' : ''}${sparse ? 's' : ''}${known ? 'k' : ''}`
  return `${letters[kind]}${flags}${(mode & 0o7777).toString(8)} ${content}`
}

function unpacked(path: string, text: string): RestoreTarget | null {
  const [, letter, owner, sparse, known, mode = '', content = ''] = form.exec(text) ?? []
  const kind: HistoryEntry['kind'] | undefined = kinds[letter as keyof typeof kinds]
  if (!kind) return null
  return {
    path,
    kind,
    mode: Number.parseInt(mode, 8),
    owner: owner !== '',
    sparse: sparse !== '',
    known: known !== '',
    content,
  }
}
