import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Removes a folder and all in it, also what its owner made unwritable, as package caches are for ordinary users. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    // Links are not followed: chmod -R leaves them alone.
    await promisify(execFile)('chmod', ['-R', 'u+rwX', path], { timeout: 60_000 })
    await rm(path, { recursive: true, force: true })
  }
}
