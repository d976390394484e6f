import { lstat, mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SkillManifest } from '@roost/contracts/link/skills'
import { codeOf } from '../workspace/paths.ts'
import { manifestFile, manifestText, type RecordedManifest, readManifest } from './manifest.ts'

/** A skill's files, unpacked into a staging folder on the workspace's volume. */
export type Unpacked = { folder: string; manifest: SkillManifest; injectedAt: string }

/**
 * Installs the unpacked files in `target`. A new skill appears atomically. An existing one is updated file by
 * file, with its manifest last, so an interrupted update is repeated. Returns false, without changes, when
 * the folder belongs to the agent.
 */
export async function placeSkill(target: string, unpacked: Unpacked): Promise<boolean> {
  const { folder, manifest } = unpacked
  const text = manifestText(manifest, unpacked.injectedAt)
  const found = await lstat(target).catch(() => null)
  if (!found) {
    await writeFile(join(folder, manifestFile), text, { mode: 0o644 })
    await rename(folder, target)
    return true
  }
  const before = found.isDirectory() ? await readManifest(target) : null
  if (!before) return false
  const current = new Set(manifest.files.map(({ path }) => path))
  await prune(
    target,
    before.files.filter((path) => !current.has(path)),
  )
  for (const { path } of manifest.files) {
    await makeParents(target, path)
    await rename(join(folder, path), join(target, path))
  }
  await writeFile(join(folder, manifestFile), text, { mode: 0o644 })
  await rename(join(folder, manifestFile), join(target, manifestFile))
  return true
}

/** Removes the platform's files. If the agent has files there, they and the folder stay. */
export async function removeSkill(target: string, recorded: RecordedManifest): Promise<void> {
  await prune(target, recorded.files)
  await unlink(join(target, manifestFile))
  await removeEmpty(target)
}

/** Returns null when a file of the manifest is missing, so that the skill is installed again. */
export async function installedVersion(target: string, recorded: RecordedManifest): Promise<string | null> {
  for (const path of recorded.files) {
    const isPresent =
      (await hasRealParents(target, path)) && (await lstat(join(target, path)).catch(() => null))?.isFile()
    if (!isPresent) return null
  }
  return recorded.version
}

/** Skills control runs, so the group in which others write the workspace must not change them. */
export const closedMode = 0o755

export async function unpack(bytes: Buffer, manifest: SkillManifest, folder: string): Promise<void> {
  let at = 0
  for (const { path, size, executable } of manifest.files) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true, mode: closedMode })
    // Closed from the start: somebody who opened it before a later chmod could still write to it.
    await writeFile(file, bytes.subarray(at, at + size), { flag: 'wx', mode: executable ? 0o755 : 0o644 })
    at += size
  }
}

async function prune(target: string, files: readonly string[]): Promise<void> {
  for (const path of files) {
    if (!(await hasRealParents(target, path))) continue
    await unlink(join(target, path)).catch((error: unknown) => {
      // Already deleted, or replaced by a folder of the agent.
      if (!['ENOENT', 'EISDIR', 'EPERM'].includes(codeOf(error) ?? '')) throw error
    })
  }
  const folders = new Set(files.flatMap(foldersAbove))
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    if (await hasRealParents(target, `${folder}/x`)) await rmdir(join(target, folder)).catch(() => {})
  }
}

/** Returns `a` and `a/b` for `a/b/c`. */
function foldersAbove(path: string): string[] {
  const segments = path.split('/').slice(0, -1)
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'))
}

/** True when every parent is a real folder, not a link. */
async function hasRealParents(target: string, path: string): Promise<boolean> {
  for (const folder of foldersAbove(path)) {
    if (!(await lstat(join(target, folder)).catch(() => null))?.isDirectory()) return false
  }
  return true
}

/** Creates the parent folders and replaces links among them, because this folder belongs to the platform. */
async function makeParents(target: string, path: string): Promise<void> {
  for (const folder of foldersAbove(path)) {
    const parent = join(target, folder)
    const found = await lstat(parent).catch(() => null)
    if (found?.isDirectory()) continue
    if (found) await rm(parent)
    await mkdir(parent, { mode: closedMode })
  }
}

async function removeEmpty(folder: string): Promise<void> {
  if ((await readdir(folder)).length === 0) await rmdir(folder)
}
