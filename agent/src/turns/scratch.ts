import { spawn } from 'node:child_process'
import { chown, lchown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Identities, ProcessUser } from '../processes/identity.ts'

/** A folder for one process, outside the workspace; call `remove` after the process has ended. */
export type Scratch = {
  path: string
  /** Hands the complete folder to the user of the turn. This program writes nothing there afterwards. */
  handOver(): Promise<void>
  remove(): Promise<void>
}

export const scratchPrefix = 'roost-turn-'

/**
 * The folder stays this program's until it is complete. A turn of the same user could otherwise place links
 * in it that lead this program elsewhere.
 */
export async function makeScratch(root: string, user: ProcessUser, identities: Identities): Promise<Scratch> {
  const path = await mkdtemp(join(root, scratchPrefix))
  const isForeign = user.uid !== (process.geteuid?.() ?? user.uid)
  let isHandedOver = false
  return {
    path,
    async handOver() {
      if (!isForeign || isHandedOver) return
      isHandedOver = true
      await give(path, user)
    },
    async remove() {
      if (isHandedOver) await removeAs(user, path, identities)
      await rm(path, { recursive: true, force: true }).catch(() => {})
    },
  }
}

/** The folder itself comes last, because its new owner may enter it from then on. */
async function give(folder: string, { uid, gid }: ProcessUser): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await give(path, { uid, gid, groups: [] })
    else await lchown(path, uid, gid)
  }
  await chown(folder, uid, gid)
}

function removeAs(user: ProcessUser, path: string, identities: Identities): Promise<void> {
  const { command, args, options } = identities.as(user, '/bin/rm', ['-rf', '--', path])
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: 'ignore', env: {}, cwd: '/' })
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}
