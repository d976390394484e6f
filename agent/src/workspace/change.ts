import { lstat, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FileDelete, FileMkdir, FileMove } from '@roost/contracts/link/files'
import { LinkFault } from '../link/link.ts'
import { asFault, isDirectory, type Paths } from './paths.ts'
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
    await lstat(real)
    await rm(real, { recursive: true })
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
    await mkdir(real, { recursive: true, mode: folderMode(paths, real) })
    return { path }
  } catch (error) {
    if (!(await isDirectory(real)) && (await exists(real)))
      throw new LinkFault('not_a_directory', `${path} is a file.`)
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
    const found = await lstat(source)
    if (!found.isFile() && (guarded || !found.isDirectory())) throw refusal(from)
    if (await exists(target)) throw new LinkFault('io_error', `${to} already exists.`)
    await mkdir(dirname(target), { recursive: true, mode: folderMode(paths, target) })
    if (found.isDirectory()) await rename(source, target)
    else {
      await linkOrCopy(source, target)
      await rm(source)
    }
    return { path: to }
  } catch (error) {
    throw asFault(error, from)
  }
}

function exists(path: string): Promise<boolean> {
  return lstat(join(path)).then(
    () => true,
    () => false,
  )
}
