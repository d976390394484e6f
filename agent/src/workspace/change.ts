import { lstat, rename, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { FileDelete, FileMkdir, FileMove } from '@roost/contracts/link/files'
import { LinkFault } from '../link/link.ts'
import { inFolder, openFolder, removeEntry } from './open-folder.ts'
import { asFault, codeOf, type Paths } from './paths.ts'
import { folderMode, refusal, refuseChange, refuseReading, refuseRemoval } from './protected.ts'
import { linkOrCopy } from './write.ts'

/** Deletes a file, a link (not its target) or a folder with its contents. */
export async function deletePath(
  paths: Paths,
  { path, guarded }: Omit<FileDelete, 't'>,
): Promise<{ path: string }> {
  const real = await paths.entry(path)
  refuseRemoval(paths, real, { path, guarded })
  try {
    await using folder = await openFolder(paths.home, dirname(real))
    await removeEntry(folder, basename(real))
    return { path }
  } catch (error) {
    throw asFault(error, path)
  }
}

/** An existing folder is not an error. */
export async function makeDirectory(
  paths: Paths,
  { path, guarded }: Omit<FileMkdir, 't'>,
): Promise<{ path: string }> {
  const real = await paths.target(path)
  refuseChange(paths, real, { path, guarded })
  try {
    await using _ = await openFolder(paths.home, real, folderMode(paths, real))
    return { path }
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') throw new LinkFault('not_a_directory', `${path} is a file.`)
    throw asFault(error, path)
  }
}

/** Moves a file or a folder to a free name. A link is not moved: its target may depend on its place. */
export async function movePath(
  paths: Paths,
  { from, to, guarded }: Omit<FileMove, 't'>,
): Promise<{ path: string }> {
  const source = await paths.entry(from)
  refuseRemoval(paths, source, { path: from, guarded })
  // Another name would open a file that only the owner may read.
  refuseReading(paths, source, { path: from, guarded })
  const target = await paths.target(to)
  refuseRemoval(paths, target, { path: to, guarded })
  try {
    await using before = await openFolder(paths.home, dirname(source))
    const old = inFolder(before, basename(source))
    const found = await lstat(old)
    if (!found.isFile() && (guarded || !found.isDirectory())) throw refusal(from)
    await using after = await openFolder(paths.home, dirname(target), folderMode(paths, target))
    const place = inFolder(after, basename(target))
    if (await exists(place)) throw new LinkFault('io_error', `${to} already exists.`)
    if (found.isDirectory()) await rename(old, place)
    else {
      await linkOrCopy(old, place)
      await unlink(old)
    }
    return { path: to }
  } catch (error) {
    throw asFault(error, from)
  }
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
