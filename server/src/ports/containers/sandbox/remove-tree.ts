import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Removes a folder and all in it, also what its owner made unwritable, as package caches are for ordinary users. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    // Links are not followed: chmod -R leaves them alone. Another process may be removing the same, so what
    // it cannot find is no failure; whether all has gone, the second try tells.
    await promisify(execFile)('chmod', ['-R', 'u+rwX', path], { timeout: 60_000 }).catch(() => {})
    await rm(path, { recursive: true, force: true })
  }
}
