import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { maxSkillBytes, maxSkillFiles } from '@roost/contracts/link/messages'
import type { SkillManifest, SkillsSettle } from '@roost/contracts/link/skills'
import { isObject, type Json, listAt, numberAt, objectAt, parseObject, textAt } from '../kit/json.ts'
import { LinkFault } from '../link/link.ts'

export const manifestFile = '.roost-skill.json'

/** The manifest in a skill's folder: lists the files that belong to the platform. */
export type RecordedManifest = { version: string; files: string[] }

const maxManifestBytes = 256 * 1024

/** Returns null when the folder belongs to the agent. */
export async function readManifest(folder: string): Promise<RecordedManifest | null> {
  const path = join(folder, manifestFile)
  const found = await lstat(path).catch(() => null)
  if (!found?.isFile() || found.size > maxManifestBytes) return null
  const recorded = parseObject(await readFile(path, 'utf8'))
  const version = textAt(recorded, 'version')
  if (!recorded || version === null) return null
  // The agent may have edited the list, so unsafe paths are ignored.
  const files = listAt(recorded, 'files').filter((file) => typeof file === 'string')
  return { version, files: files.filter(isSafePath) }
}

export function manifestText(manifest: SkillManifest, injectedAt: string): string {
  const { name, version, commit, source_id, source_name } = manifest
  const files = manifest.files.map(({ path }) => path)
  const recorded = { name, version, commit, source_id, source_name, files, injected_at: injectedAt }
  return `${JSON.stringify(recorded, null, 2)}\n`
}

/** Validates the manifest of an install request. Throws `invalid_message`. */
export function manifestOf(value: Json): SkillManifest {
  const text = (key: string) => textAt(value, key) ?? invalid(key)
  const files = listAt(value, 'files').map((file) => {
    const [path, size] = [textAt(file, 'path'), numberAt(file, 'size')]
    if (path === null || !isSafePath(path) || path === manifestFile) return invalid('files')
    if (size === null || !Number.isInteger(size) || size < 0) return invalid('files')
    return { path, size, executable: isObject(file) && file.executable === true }
  })
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const isTooMuch = files.length === 0 || files.length > maxSkillFiles || total > maxSkillBytes
  if (isTooMuch || new Set(files.map(({ path }) => path)).size < files.length) return invalid('files')
  return {
    name: skillName(text('name')),
    version: text('version'),
    commit: text('commit'),
    source_id: text('source_id'),
    source_name: text('source_name'),
    files,
  }
}

/** Validates one entry of a settle request. */
export function settledOf(value: unknown): SkillsSettle['skills'][number] {
  const requires = objectAt(value, 'requires')
  const names = (key: string) => listAt(requires, key).filter((name) => typeof name === 'string')
  return {
    name: skillName(textAt(value, 'name') ?? ''),
    description: textAt(value, 'description'),
    requires: { packages: names('packages'), binaries: names('binaries'), env: names('env') },
  }
}

/** Returns the name if it is one safe path segment. Throws `invalid_message`. */
export function skillName(name: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) ? name : invalid('name')
}

/** True for a relative path below the folder that every file system reads the same way. */
export function isSafePath(path: string): boolean {
  if (path.length === 0 || path.length > 1024 || /[\0\\]/.test(path)) return false
  return path
    .split('/')
    .every((segment) => segment !== '' && segment !== '.' && segment !== '..' && segment.length <= 255)
}

function invalid(key: string): never {
  throw new LinkFault('invalid_message', `The field "${key}" is missing or invalid.`)
}
