import { cpSync, existsSync, lstatSync, rmSync } from 'node:fs'
import { chmod, chown, lstat, mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyInto } from '../processes/copy.ts'
import { developerId, type Identities, programId, readerId } from '../processes/identity.ts'
import { removeFrom } from '../workspace/open-folder.ts'
import { markShared } from './earlier-sessions.ts'

/**
 * The agent's second volume, for everything that turns must not reach. A turn may rename folders of the
 * workspace, but it can neither rename nor replace a mount point.
 */
export type Volume = {
  root: string
  /** Files of this program: spool, staged files, certificates, the map of uids. */
  program: string
  /** One home per principal, closed to everybody else. */
  homes: string
  /** State of the owner's runtime; the owner's read-only turns share it. */
  owner: string
  /** Login keys of the SSH server, written by this program and read by the developer. */
  ssh: string
  /** Host keys of the SSH server, created by the container's entry script. */
  hostKeys: string
  /** Root certificate of the outbound proxy, readable by everybody. */
  certificates: string
}

export function volumeOf(root: string): Volume {
  const at = (name: string) => join(root, name)
  return {
    root,
    program: at('program'),
    homes: at('homes'),
    owner: at('owner'),
    ssh: at('ssh'),
    hostKeys: at('keys'),
    certificates: at('certificates'),
  }
}

/**
 * When this program first ran on the volume, in milliseconds of the clock that stamps files here. Null if it cannot be
 * known. Turns cannot reach the file that says it.
 */
export async function firstStartOf({ program }: Volume): Promise<number | null> {
  const file = join(program, 'first-start')
  try {
    await writeFile(file, '', { flag: 'wx', mode: 0o600 }).catch(unless('EEXIST'))
    return Math.floor((await lstat(file)).mtimeMs)
  } catch {
    return null
  }
}

type Folder = { path: string; mode: number; uid: number; gid: number }

/** Creates the folders with their owners. It can be repeated after an interruption at any point. */
export async function prepareVolume(volume: Volume): Promise<void> {
  const folders: Folder[] = [
    { path: volume.program, mode: 0o770, uid: programId, gid: programId },
    { path: volume.homes, mode: 0o771, uid: programId, gid: programId },
    { path: volume.owner, mode: 0o770, uid: developerId, gid: readerId },
    { path: volume.ssh, mode: 0o700, uid: developerId, gid: developerId },
    { path: volume.certificates, mode: 0o755, uid: developerId, gid: developerId },
  ]
  await mkdir(volume.root, { recursive: true })
  for (const folder of folders) await ensure(folder)
  // Last, because only its owner may create folders in it. A sandbox's volume belongs to `developer` at first.
  await ensure({ path: volume.root, mode: 0o771, uid: programId, gid: programId })
}

async function ensure({ path, mode, uid, gid }: Folder): Promise<void> {
  await mkdir(path, { mode }).catch(unless('EEXIST'))
  const found = await lstat(path)
  // Only the owner may change a mode, and an earlier start may have given the folder away.
  if ((found.mode & 0o7777) !== mode) await chmod(path, mode).catch(unless('EPERM'))
  // A sandbox of an ordinary user has one uid only, so this is an invalid argument there.
  if (found.uid !== uid || found.gid !== gid) await chown(path, uid, gid).catch(unless('EPERM', 'EINVAL'))
}

/** Moves the lines of unfinished runs out of the workspace. Runs before anything reads them. */
export function migrateSpool(home: string, volume: Volume): void {
  const [before, after] = [join(home, '.roost', 'spool'), join(volume.program, 'spool')]
  if (existsSync(after) || !lstatSync(before, { throwIfNoEntry: false })?.isDirectory()) return
  cpSync(before, `${after}.part`, { recursive: true, force: true })
  cpSync(`${after}.part`, after, { recursive: true })
  rmSync(`${after}.part`, { recursive: true, force: true })
  rmSync(before, { recursive: true, force: true })
}

/** Moves the runtimes' sessions to the owner's place. Interrupted, it starts again from the complete original. */
export async function migrateState(home: string, volume: Volume, identities: Identities): Promise<void> {
  const [before, after] = [join(home, '.roost', 'state'), join(volume.owner, 'state')]
  const found = await lstat(before).catch(() => null)
  if (found?.isDirectory() && !existsSync(after)) {
    await rm(`${after}.part`, { recursive: true, force: true })
    await mkdir(`${after}.part`)
    const names = await readdir(before)
    await copyInto(
      `${after}.part`,
      names.map((name) => join(before, name)),
      identities,
    )
    await markShared(`${after}.part`)
    await rename(`${after}.part`, after)
  }
  await removeFrom(home, '.roost', ['state', 'parts', 'packs', 'sealed-parts', 'skills', 'certificates'])
  // The container's first process has emptied it.
  await rmdir(join(home, '.roost', 'keys')).catch(() => {})
}

function unless(...codes: string[]) {
  return (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}
