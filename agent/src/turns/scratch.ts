import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ProcessUser, readerId } from '../processes/identity.ts'

/** A folder for one process, outside the workspace; call `remove` after the process has ended. */
export type Scratch = { path: string; remove(): Promise<void> }

export const scratchPrefix = 'roost-turn-'

export async function makeScratch(
  root: string,
  user: ProcessUser,
  owner: { uid: number; gid: number },
): Promise<Scratch> {
  const path = await mkdtemp(join(root, scratchPrefix))
  if (user === 'reader') {
    await chown(path, -1, readerId)
    await chmod(path, 0o2770)
  } else if (process.getuid?.() === 0 && owner.uid !== 0) await chown(path, owner.uid, owner.gid)
  return { path, remove: () => rm(path, { recursive: true, force: true }).catch(() => {}) }
}
