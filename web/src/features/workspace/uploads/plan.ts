import { maxUploadBytes } from '@roost/contracts/agents/workspace'
import type { OfferedFile } from '../../../lib/dropped-files.ts'
import { isProtected, joinPath, nameOf, parentOf, visibleName } from '../paths.ts'

/** Files that one selection or drop may contain. */
export const maxOffered = 2000
const maxMegabytes = maxUploadBytes / (1024 * 1024)

/** A file with its path in the workspace. */
export type PlannedFile = { path: string; file: File }

/** For files whose name is taken. */
export type OnPresent = 'replace' | 'keep' | 'skip'

/** Splits the offered files into those that can be uploaded into the folder, and refusals with a reason. */
export function checkOffered(
  offered: readonly OfferedFile[],
  folder: string,
): { files: PlannedFile[]; refusals: string[] } {
  if (offered.length > maxOffered) {
    const refusal = `Upload at most ${maxOffered.toLocaleString('en')} files together, or an archive of them.`
    return { files: [], refusals: [refusal] }
  }
  const files: PlannedFile[] = []
  const refusals: string[] = []
  const used = new Set<string>()
  for (const { path: inside, file } of offered) {
    // Browsers give every pasted image the same name.
    const path = freeName(joinPath(folder, inside), used)
    const refusal = isProtected(path)
      ? `“${visibleName(inside)}” is protected and cannot be uploaded.`
      : tooLarge(visibleName(inside), file)
    used.add(path)
    if (refusal === null) files.push({ path, file })
    else refusals.push(refusal)
  }
  return { files, refusals }
}

/** The refusal of a file above the limit of the workspace; null for others. */
export function tooLarge(shown: string, { size }: Pick<File, 'size'>): string | null {
  if (size <= maxUploadBytes) return null
  return `“${shown}” is too large: a file in the workspace can have at most ${maxMegabytes} MB.`
}

/** The folders of the files, parents first. */
export function foldersOf(files: readonly PlannedFile[]): string[] {
  return [...new Set(files.map(({ path }) => parentOf(path)))].toSorted()
}

type NamesByFolder = ReadonlyMap<string, ReadonlySet<string>>

/** The files whose name is taken. */
export function presentOf(files: readonly PlannedFile[], names: NamesByFolder): PlannedFile[] {
  return files.filter(({ path }) => names.get(parentOf(path))?.has(nameOf(path)))
}

/** The files to upload, with new names for those that are kept beside existing ones. */
export function resolvePresent(
  files: readonly PlannedFile[],
  names: NamesByFolder,
  onPresent: OnPresent,
): PlannedFile[] {
  const present = new Set(presentOf(files, names))
  if (onPresent === 'replace') return [...files]
  if (onPresent === 'skip') return files.filter((file) => !present.has(file))
  const taken = new Map([...names].map(([folder, of]) => [folder, new Set(of)]))
  for (const { path } of files) taken.get(parentOf(path))?.add(nameOf(path))
  return files.map((planned) => {
    if (!present.has(planned)) return planned
    const folder = parentOf(planned.path)
    const name = freeName(nameOf(planned.path), taken.get(folder) ?? new Set())
    taken.get(folder)?.add(name)
    return { ...planned, path: joinPath(folder, name) }
  })
}

/** The first free name, or path, of `a.txt`, `a-1.txt`, `a-2.txt`, …. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  const dot = name.lastIndexOf('.')
  const isEnding = dot > name.lastIndexOf('/') + 1
  const [stem, ending] = isEnding ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  for (let count = 1; ; count += 1) {
    const next = `${stem}-${count}${ending}`
    if (!taken.has(next)) return next
  }
}
