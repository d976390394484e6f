import { maxSkillFiles } from '@roost/contracts/link/messages'
import { skillNamePattern } from '@roost/contracts/skills/library'

/** An entry of a commit, as the git port lists it. Its path is untrusted. */
export type TreeEntry = {
  path: string
  kind: 'file' | 'executable' | 'link' | 'submodule' | 'folder'
  sha: string
  size: number
}

export const catalogFile = 'catalog.yaml'
export const instructionFile = 'SKILL.md'
const plainRoots = ['skills', '.claude/skills']

/** The root folder of a repository's skills; null without skills. `catalogRoot` is the root in its catalog. */
export function layoutOf(
  entries: readonly TreeEntry[],
  catalogRoot: string | null,
): { root: string; hasConflict: boolean } | null {
  const files = new Set(entries.filter(isRegular).map(({ path }) => path))
  const hasSkills = (root: string) =>
    skillFolders(entries, root).some(({ path }) => files.has(`${path}/${instructionFile}`))
  const roots = [...(catalogRoot === null ? [] : [catalogRoot]), ...plainRoots.filter(hasSkills)]
  const [root] = roots
  return root === undefined ? null : { root, hasConflict: new Set(roots).size > 1 }
}

/** The root in a catalog, if it is a plain path inside the repository; otherwise null. */
export function catalogRootOf(value: unknown): string | null {
  const root =
    typeof value === 'object' && value !== null && 'skills_root' in value ? value.skills_root : null
  if (typeof root !== 'string') return null
  const path = root.trim().replace(/^\.\//, '').replace(/\/+$/, '')
  return isSafePath(path) ? path : null
}

export type FoundSkill = { name: string; path: string; version: string }

/** Folders with an instruction file, one level below the root. */
export function skillsIn(entries: readonly TreeEntry[], root: string): FoundSkill[] {
  const files = new Set(entries.filter(isRegular).map(({ path }) => path))
  const found = new Map<string, FoundSkill>()
  for (const { path, sha } of skillFolders(entries, root)) {
    const name = path.slice(root.length + 1)
    const isSkill = skillNamePattern.test(name) && files.has(`${path}/${instructionFile}`)
    if (isSkill && !found.has(name)) found.set(name, { name, path, version: sha })
  }
  return [...found.values()]
}

function skillFolders(entries: readonly TreeEntry[], root: string): TreeEntry[] {
  const isBelow = ({ path, kind }: TreeEntry) =>
    kind === 'folder' && path.startsWith(`${root}/`) && !path.slice(root.length + 1).includes('/')
  return entries.filter(isBelow)
}

/** The files of a skill to deliver, and warnings about the others. */
export type Package = {
  files: { path: string; sha: string; size: number; executable: boolean }[]
  warnings: string[]
  /** True for a skill with too many files, which is not delivered. */
  has_too_many: boolean
}

const ignoredNames = new Set(['.git', '__pycache__', 'node_modules', '.venv', '.ds_store'])
const protectedNames = new Set(
  '.env CLAUDE.md AGENTS.md .mcp.json .mcp.json.template .gitignore .credentials.enc .roost-skill.json'
    .split(' ')
    .map((name) => name.toLowerCase()),
)
const maxWarnings = 50

export function packageOf(entries: readonly TreeEntry[], folder: string): Package {
  const files = new Map<string, Package['files'][number]>()
  const warnings: string[] = []
  let count = 0
  for (const entry of entries) {
    if (entry.kind === 'folder' || !entry.path.startsWith(`${folder}/`)) continue
    const path = entry.path.slice(folder.length + 1)
    const warning = refusalOf(entry, path)
    if (warning === 'left_out') continue
    if (warning) warnings.push(warning)
    else if (!files.has(path)) {
      count += 1
      const { sha, size, kind } = entry
      if (count <= maxSkillFiles) files.set(path, { path, sha, size, executable: kind === 'executable' })
    }
  }
  return {
    files: [...files.values()],
    warnings: warnings.slice(0, maxWarnings),
    has_too_many: count > maxSkillFiles,
  }
}

function refusalOf({ kind }: TreeEntry, path: string): string | null {
  const segments = path.split('/')
  const name = segments.at(-1) ?? ''
  if (segments.some((segment) => ignoredNames.has(segment.toLowerCase())) || name.endsWith('.pyc'))
    return 'left_out'
  const shown = path.replace(/[^\x20-\x7e]/g, '?').slice(0, 150)
  if (kind === 'link') return `symlink_skipped:${shown}`
  if (kind === 'submodule' || !isSafePath(path)) return `non_regular_skipped:${shown}`
  return protectedNames.has(name.toLowerCase()) ? `protected_name_skipped:${shown}` : null
}

/** True for a relative path of plain segments without control or undecodable characters. */
function isSafePath(path: string): boolean {
  if (path.length === 0 || path.length > 1024 || /[\x00-\x1f\x7f\\\ufffd]/.test(path)) return false
  return path
    .split('/')
    .every((segment) => segment !== '' && segment !== '.' && segment !== '..' && segment.length <= 200)
}

function isRegular({ kind }: TreeEntry): boolean {
  return kind === 'file' || kind === 'executable'
}

/** Resolves names; of the sources in order, the first with a name wins. */
export function resolveNames<E extends { source_id: string; name: string }>(
  sources: readonly { id: string; name: string }[],
  entries: readonly E[],
): { entry: E; source: { id: string; name: string }; shadowed_by: string[] }[] {
  const resolved = new Map<
    string,
    { entry: E; source: { id: string; name: string }; shadowed_by: string[] }
  >()
  for (const source of sources) {
    for (const entry of entries.filter(({ source_id }) => source_id === source.id)) {
      const winner = resolved.get(entry.name)
      if (winner) winner.shadowed_by.push(source.name)
      else resolved.set(entry.name, { entry, source, shadowed_by: [] })
    }
  }
  return [...resolved.values()].sort((a, b) => (a.entry.name < b.entry.name ? -1 : 1))
}
