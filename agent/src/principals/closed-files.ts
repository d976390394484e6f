import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { findCredentials } from '../credentials/find.ts'
import { credentialsGroup } from '../processes/identity.ts'

/** Files with credentials belong to a group that strangers are not in. Others keep their owner's rights. */
const modes = { file: 0o640, folder: 0o750 }

/**
 * Closes one file or folder to everybody but its owner and the group of credentials. Leaves links and files of other
 * users alone.
 */
export async function closeToStrangers(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => null,
  )
  if (!file) return
  let privateMode = 0o600
  try {
    const found = await file.stat()
    if (!(found.isFile() || found.isDirectory()) || found.uid !== process.geteuid?.()) return
    // The right to write stays: it shows that somebody else may have written the file.
    const mode = (found.isFile() ? modes.file : modes.folder) | (found.mode & 0o020)
    privateMode = mode & 0o700
    if (found.gid !== credentialsGroup) await file.chown(found.uid, credentialsGroup)
    if ((found.mode & 0o777) !== mode) await file.chmod(mode)
  } catch {
    // Without the right to change the group there are no other users either.
    await file.chmod(privateMode).catch(() => {})
  } finally {
    await file.close()
  }
}

/** Closes all files with credentials of the workspace, and the folder that holds nothing else. */
export async function closeCredentials(home: string): Promise<void> {
  await closeToStrangers(join(home, 'credentials'))
  const found = await findCredentials(home)
  await Promise.all(found.map(({ path }) => closeToStrangers(join(home, path))))
}
