import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { inFolder, openFolder } from './open-folder.ts'
import { codeOf } from './paths.ts'

/*
 * Small text files of the workspace that this program reads and changes by itself. Turns may replace them at any moment:
 * by a link to a file that only this program can write, or by a pipe, which would block. Neither is opened.
 */

const maxBytes = 1024 * 1024

/** Returns the text. Null unless it is a regular file of at most `limit` bytes (1 MiB), reached without links. */
export async function readPlainFile(home: string, path: string, limit = maxBytes): Promise<string | null> {
  try {
    await using folder = await openFolder(home, dirname(join(home, path)))
    const present = await read(inFolder(folder, basename(path)), limit)
    return present === 'other' ? null : (present?.text ?? null)
  } catch {
    return null
  }
}

/**
 * Replaces the file if `edit` changes its text, which is empty for a missing file. Leaves anything else in its place
 * alone and returns false.
 */
export async function editPlainFile(
  home: string,
  path: string,
  edit: (text: string) => string,
): Promise<boolean> {
  await using folder = await openFolder(home, dirname(join(home, path)), 0o777).catch(unlessNotPlain)
  if (!folder) return false
  const target = inFolder(folder, basename(path))
  const present = await read(target)
  if (present === 'other') return false
  const text = edit(present?.text ?? '')
  if (text === present?.text) return true
  const part = inFolder(folder, `.${basename(path)}.${randomUUID()}.part`)
  try {
    await using file = await open(part, 'wx')
    await file.writeFile(text)
    if (present) await file.chmod(present.mode & 0o777)
    await rename(part, target)
    return true
  } finally {
    await rm(part, { force: true })
  }
}

type Present = { text: string; mode: number }

/** Returns null for a missing file, and `other` for everything that is not a small regular file. */
async function read(path: string, limit = maxBytes): Promise<Present | 'other' | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = await file.stat()
    if (!found.isFile() || found.size > limit) return 'other'
    return { text: await file.readFile('utf8'), mode: found.mode }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    return unlessNotPlain(error) ?? 'other'
  }
}

/** A link or a file in place of a folder, a link in place of the file, or a socket. */
function unlessNotPlain(error: unknown): null {
  if (['ENOTDIR', 'ELOOP', 'ENXIO'].includes(codeOf(error) ?? '')) return null
  throw error
}
