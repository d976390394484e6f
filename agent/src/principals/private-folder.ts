import { spawn } from 'node:child_process'
import { chmod, chown, lchown, lstat, mkdtemp, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Identities, type ProcessUser, programId } from '../processes/identity.ts'

/** A folder of one user that this program fills first. Until the handover nobody else can enter it. */
export type PrivateFolder = {
  path: string
  /** Gives the complete folder to its user. This program does not enter it afterwards. */
  handOver(): Promise<void>
}

export type PrivatePlace = {
  /** A folder that only this program can enter, on the file system of `parent`. */
  closed: string
  /** Only this program may create and rename entries here. */
  parent: string
  /** Default: a random name. */
  name?: string
}

/**
 * A new folder belongs to `developer`, as whom this program works on files. The owner's processes have that user too, so
 * the folder gets its place only after it belongs to this program's own user.
 */
export async function makePrivateFolder(
  { closed, parent, name }: PrivatePlace,
  user: ProcessUser,
  identities: Identities,
): Promise<PrivateFolder> {
  const { program, developer } = identities
  const made = await mkdtemp(join(closed, 'private-'))
  const canSwitch = await identities.canSwitch()
  if (canSwitch) {
    await chmod(made, 0o770)
    await chown(made, program.uid, program.gid)
  }
  const path = join(parent, name ?? basename(made))
  await rename(made, path)
  return {
    path,
    async handOver() {
      if (!canSwitch) return
      await giveContents(path, user)
      // The mode admits the group, and every writer is in the group of `developer`.
      await chown(path, user.uid, user.uid === developer.uid ? programId : user.uid)
    },
  }
}

/** Only this program can enter the folder, so no path in it leads elsewhere. */
async function giveContents(folder: string, user: ProcessUser): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await giveContents(path, user)
    await lchown(path, user.uid, user.gid)
  }
}

/**
 * Deletes a private folder. After the handover its user may replace entries by links meanwhile, so that is done with
 * the user's own rights. Throws if something is left.
 */
export async function removePrivateFolder(path: string, identities: Identities): Promise<void> {
  const { uid } = await lstat(path)
  if (uid === identities.program.uid) return await rm(path, { recursive: true, force: true })
  await runAs({ uid, gid: uid, groups: [uid] }, '/bin/rm', ['-rf', '--', path], identities)
  await rmdir(path)
}

/** Waits for the end of the command, also if it fails or cannot be started. */
export function runAs(
  user: ProcessUser,
  command: string,
  args: string[],
  identities: Identities,
): Promise<void> {
  const as = identities.as(user, command, args)
  return new Promise((resolve) => {
    const child = spawn(as.command, as.args, { ...as.options, stdio: 'ignore', env: {}, cwd: '/' })
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}
