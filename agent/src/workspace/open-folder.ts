import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, rmdir, unlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { atOnce } from '../kit/at-once.ts'
import { codeOf } from './paths.ts'

/** `O_PATH` of Linux, which Node does not name: opens without any right to the content. */
const pathOnly = 0o10000000
const folderFlags = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW
const removedAtOnce = 16

/**
 * Opens a folder by its real path, one name at a time. A link on the way came after the path was resolved and is
 * refused. With `missingMode`, missing folders are created. The caller closes the folder.
 */
export async function openFolder(home: string, real: string, missingMode?: number): Promise<FileHandle> {
  let folder = await open(home, folderFlags)
  for (const name of relative(home, real).split('/')) {
    if (name === '') continue
    await using parent = folder
    if (name === '..') throw new Error(`${real} is not in ${home}.`)
    const path = inFolder(parent, name)
    folder = await openChild(path).catch((error: unknown) => {
      if (missingMode === undefined || codeOf(error) !== 'ENOENT') throw error
      return openOrCreate(path, missingMode)
    })
  }
  return folder
}

async function openOrCreate(path: string, missingMode: number): Promise<FileHandle> {
  await mkdir(path, { mode: missingMode }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  return await openChild(path)
}

/** Opens a folder at a path of `inFolder`. Throws `ENOTDIR` for a link. */
export function openChild(path: string | Buffer): Promise<FileHandle> {
  return open(path, folderFlags)
}

/** Opens any entry, also a link, only to look at it and to change its attributes through `inFolder`. */
export function openEntry(path: string): Promise<FileHandle> {
  return open(path, pathOnly | constants.O_NOFOLLOW)
}

/** Removes an entry. Opens each folder before it is emptied, so that a link in its place leads nowhere. */
export async function removeEntry(parent: FileHandle, name: string): Promise<void> {
  const path = Buffer.from(inFolder(parent, name))
  await ((await lstat(path)).isDirectory() ? removeFolder(path) : unlink(path))
}

async function removeFolder(path: Buffer): Promise<void> {
  await empty(path)
  await rmdir(path)
}

async function empty(path: Buffer): Promise<void> {
  await using folder = await openChild(path)
  // Bytes, because names need not be UTF-8.
  const entries = await readdir(inFolder(folder), { withFileTypes: true, encoding: 'buffer' })
  const pathOf = (name: Buffer) => Buffer.concat([Buffer.from(inFolder(folder, '')), name])
  const failures: unknown[] = []
  // The folder stays open until the last one has ended: its number may belong to another folder then.
  await atOnce(
    entries.filter((entry) => !entry.isDirectory()),
    removedAtOnce,
    ({ name }) => unlink(pathOf(name)).catch((error: unknown) => void failures.push(error)),
  )
  if (failures.length > 0) throw failures[0]
  for (const { name } of entries.filter((entry) => entry.isDirectory())) await removeFolder(pathOf(name))
}

/** Removes entries that exist from a folder of the workspace, unless that is a link. */
export async function removeFrom(home: string, folder: string, names: readonly string[]): Promise<void> {
  await using opened = await openFolder(home, join(home, folder)).catch(() => null)
  if (!opened) return
  for (const name of names)
    await removeEntry(opened, name).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
    })
}

/** The path of an entry in the opened folder, or of the folder itself. Nothing replaced above it leads elsewhere. */
export function inFolder({ fd }: FileHandle, name?: string): string {
  return name === undefined ? `/proc/self/fd/${fd}` : `/proc/self/fd/${fd}/${name}`
}
