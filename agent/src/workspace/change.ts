import { lstat, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LinkFault } from '../link/link.ts'
import { refuseChange, refuseRemoval } from './floor.ts'
import { asFault, isDirectory, type Paths } from './paths.ts'

/** Removes a file, a link (not what it points to) or a folder with everything in it. */
export async function deletePath(paths: Paths, path: string): Promise<{ path: string }> {
  const real = await paths.entry(path)
  refuseRemoval(paths, real, path)
  try {
    await lstat(real)
    await rm(real, { recursive: true })
    return { path }
  } catch (error) {
    throw asFault(error, path)
  }
}

/** A folder that is already there is no fault. */
export async function makeDirectory(paths: Paths, path: string): Promise<{ path: string }> {
  const real = await paths.target(path)
  refuseChange(paths, real, path)
  try {
    await mkdir(real, { recursive: true })
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
