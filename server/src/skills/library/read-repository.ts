import { parseYaml } from '../../kit/yaml.ts'
import type { Git, GitFailure, TreeEntry } from '../../ports/git/port.ts'
import { readFrontmatter } from './frontmatter.ts'
import { catalogFile, catalogRootOf, instructionFile, layoutOf, packageOf, skillsIn } from './rules.ts'
import type { EntryRow } from './store.ts'

export type ReadRepository =
  | { ok: true; skillsRoot: string; hasConflict: boolean; skills: Omit<EntryRow, 'source_id'>[] }
  | { ok: false; fault: GitFailure['fault'] | 'no_skills' | 'too_many_skills'; message: string }

const maxCatalogBytes = 64 * 1024
const maxInstructionBytes = 512 * 1024
/** Of all instruction files, which are in memory as bytes and as text. */
const maxTotalBytes = 8 * 1024 * 1024
const maxSkills = 500

/** Reads the skills of a commit. An invalid repository is a result, not an exception. */
export async function readRepository(
  git: Pick<Git, 'list' | 'read'>,
  { url, commit }: { url: string; commit: string },
  signal?: AbortSignal,
): Promise<ReadRepository> {
  const listed = await git.list(url, commit, { signal })
  if (!listed.ok) return listed
  const entries = listed.value
  const catalog = await readCatalog(git, url, entries)
  if (!catalog.ok) return catalog
  const layout = layoutOf(entries, catalog.root)
  if (!layout) return { ok: false, fault: 'no_skills', message: 'The repository has no skills.' }
  const found = skillsIn(entries, layout.root)
  if (found.length > maxSkills) {
    const message = `A repository may have at most ${maxSkills} skills.`
    return { ok: false, fault: 'too_many_skills', message }
  }
  const byPath = new Map(entries.map((entry) => [entry.path, entry]))
  const files = found.flatMap(({ path }) => byPath.get(`${path}/${instructionFile}`) ?? [])
  const small = files.filter(({ size }) => size <= maxInstructionBytes).map(({ sha }) => sha)
  const blobs = await git.read(url, small, { maxBytes: maxTotalBytes, signal })
  if (!blobs.ok) return blobs
  const skills = found.flatMap(({ name, path, version }) => {
    const bytes = blobs.value.get(byPath.get(`${path}/${instructionFile}`)?.sha ?? '')
    // Skips a folder whose instruction file is too large.
    if (!bytes) return []
    const content = bytes.toString('utf8').replaceAll('\0', '')
    const packed = packageOf(entries, path)
    return {
      name,
      path,
      version,
      commit_sha: commit,
      file_count: packed.files.length,
      size_bytes: packed.files.reduce((sum, { size }) => sum + size, 0),
      facts: JSON.stringify(readFrontmatter(content)),
      package: JSON.stringify(packed),
      content,
    }
  })
  return { ok: true, skillsRoot: layout.root, hasConflict: layout.hasConflict, skills }
}

async function readCatalog(git: Pick<Git, 'read'>, url: string, entries: readonly TreeEntry[]) {
  const noCatalog = { ok: true, root: null } as const
  const file = entries.find(({ path, kind }) => path === catalogFile && kind === 'file')
  if (!file || file.size > maxCatalogBytes) return noCatalog
  const blobs = await git.read(url, [file.sha], { maxBytes: maxCatalogBytes })
  if (!blobs.ok) return blobs
  try {
    const text = blobs.value.get(file.sha)?.toString('utf8') ?? ''
    return { ok: true, root: catalogRootOf(parseYaml(text)) } as const
  } catch {
    // The file is not a catalog, so the other layouts are tried.
    return noCatalog
  }
}
