import { lstat, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileDelete, FileMkdir } from '@roost/contracts/link/files'
import { LinkFault } from '../link/link.ts'
import { asFault, isDirectory, type Paths } from './paths.ts'
import { folderMode, refuseChange, refuseRemoval } from './protected.ts'

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

function exists(path: string): Promise<boolean> {
  return lstat(join(path)).then(
    () => true,
    () => false,
  )
}
