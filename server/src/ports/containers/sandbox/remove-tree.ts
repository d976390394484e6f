import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Deletes a folder with its contents, including unwritable files such as package caches. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    // `chmod -R` does not follow links. Another process may be deleting the same files, so its errors are
    // ignored; the second attempt shows whether anything remains.
    await promisify(execFile)('chmod', ['-R', 'u+rwX', path], { timeout: 60_000 }).catch(() => {})
    await rm(path, { recursive: true, force: true })
  }
}
