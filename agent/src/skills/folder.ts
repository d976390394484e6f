import { chmod, lstat, mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SkillManifest } from '@roost/contracts/link/skills'
import { codeOf } from '../workspace/paths.ts'
import { manifestFile, manifestText, type RecordedManifest, readManifest } from './manifest.ts'

/** A skill's files, laid out in a folder beside the workspace's own on the same volume. */
export type Unpacked = { folder: string; manifest: SkillManifest; injectedAt: string }

/**
 * Makes `target` hold what was unpacked. A new skill appears at once; one that is there is brought in line file by
 * file, its manifest last, so that one which is cut off has the old version still and is brought in line again.
 * False: the folder is the agent's own, and was left as it is.
 */
export async function placeSkill(target: string, unpacked: Unpacked): Promise<boolean> {
  const { folder, manifest } = unpacked
  const text = manifestText(manifest, unpacked.injectedAt)
  const found = await lstat(target).catch(() => null)
  if (!found) {
    await writeFile(join(folder, manifestFile), text)
    await rename(folder, target)
    return true
  }
  const before = found.isDirectory() ? await readManifest(target) : null
  if (!before) return false
  const kept = new Set(manifest.files.map(({ path }) => path))
  await prune(
    target,
    before.files.filter((path) => !kept.has(path)),
  )
  for (const { path } of manifest.files) {
    await makeWay(target, path)
    await rename(join(folder, path), join(target, path))
  }
  await writeFile(join(folder, manifestFile), text)
  await rename(join(folder, manifestFile), join(target, manifestFile))
  return true
}

/** What the platform has put there; files of the agent's own stay, and the folder with them. */
export async function removeSkill(target: string, recorded: RecordedManifest): Promise<void> {
  await prune(target, recorded.files)
  await unlink(join(target, manifestFile))
  await removeEmpty(target)
}

/** Null: a file that the manifest names is gone, so that the skill is to be put there again. */
export async function installedVersion(target: string, recorded: RecordedManifest): Promise<string | null> {
  for (const path of recorded.files) {
    const isThere =
      (await isPlainWay(target, path)) && (await lstat(join(target, path)).catch(() => null))?.isFile()
    if (!isThere) return null
  }
  return recorded.version
}

export async function unpack(bytes: Buffer, manifest: SkillManifest, folder: string): Promise<void> {
  let at = 0
  for (const { path, size, executable } of manifest.files) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, bytes.subarray(at, at + size), { flag: 'wx' })
    await chmod(file, executable ? 0o755 : 0o644)
    at += size
  }
}

async function prune(target: string, files: readonly string[]): Promise<void> {
  for (const path of files) {
    if (!(await isPlainWay(target, path))) continue
    await unlink(join(target, path)).catch((error: unknown) => {
      // Gone already, or a folder of the agent's own by now.
      if (!['ENOENT', 'EISDIR', 'EPERM'].includes(codeOf(error) ?? '')) throw error
    })
  }
  const folders = new Set(files.flatMap(foldersAbove))
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    if (await isPlainWay(target, `${folder}/x`)) await rmdir(join(target, folder)).catch(() => {})
  }
}

/** `a/b/c` → `a`, `a/b`. */
function foldersAbove(path: string): string[] {
  const segments = path.split('/').slice(0, -1)
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'))
}

/** Every folder on the way is one, and no link. */
async function isPlainWay(target: string, path: string): Promise<boolean> {
  for (const folder of foldersAbove(path)) {
    if (!(await lstat(join(target, folder)).catch(() => null))?.isDirectory()) return false
  }
  return true
}

/** In the platform's folder a link in the way is taken away, not followed. */
async function makeWay(target: string, path: string): Promise<void> {
  for (const folder of foldersAbove(path)) {
    const place = join(target, folder)
    const found = await lstat(place).catch(() => null)
    if (found?.isDirectory()) continue
    if (found) await rm(place)
    await mkdir(place)
  }
}

async function removeEmpty(folder: string): Promise<void> {
  if ((await readdir(folder)).length === 0) await rmdir(folder)
}
