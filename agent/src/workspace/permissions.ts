import { spawn } from 'node:child_process'
import { chmod, chown, lstat, mkdir, readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { type Identities, readerId } from '../processes/identity.ts'
import type { ReadOnlyRules } from '../runtimes/port.ts'
import { matches } from '../runtimes/read-only.ts'

/**
 * What the reader of a read-only turn may write: the folders that the rules allow, the runtime's own state
 * and the temporary folder, through a group that the developer is in as well. Everything else belongs to
 * the developer alone and stays as it is, whatever its own group may do.
 */
export type Permissions = {
  /** Before a turn of the reader. Cheap when nothing was written since the last one. */
  openForReader(rules: ReadOnlyRules): Promise<void>
  /** A turn of the developer may have made files that the reader cannot write. */
  noteDeveloperTurn(): void
  /** After a turn of the reader: what it made is the developer's too. */
  openForDeveloper(): Promise<void>
}

/** Looked at when single files are allowed by a pattern; a workspace may hold a million others. */
const mostEntries = 50_000
const passedOver = new Set(['.git', 'node_modules', '.roost', 'shared-in'])

export function createPermissions(home: string, identities: Identities): Permissions {
  let done: string | null = null
  let folders: string[] = []

  return {
    async openForReader(rules) {
      const wanted = JSON.stringify(rules)
      if (done === wanted) return
      const root = await lstat(home)
      if ((root.mode & 0o005) !== 0o005) await chmod(home, (root.mode & 0o7777) | 0o005)
      folders = [join(home, '.roost', 'state'), join(home, '.tmp'), ...allowedFolders(home, rules)]
      for (const folder of folders) {
        await mkdir(folder, { recursive: true })
        await openWay(home, folder)
        await share(folder, root.uid)
      }
      await shareFiles(home, rules, root.uid)
      done = wanted
    },
    noteDeveloperTurn() {
      done = null
    },
    openForDeveloper: () => runAs(identities, folders),
  }
}

/** `content/**` allows a folder; a pattern with a glob before that allows only what is there. */
export function allowedFolders(home: string, rules: ReadOnlyRules): string[] {
  return rules.allowed
    .map((pattern) => /^\/?([^*?[\]]+)\/\*\*$/.exec(pattern)?.[1])
    .filter((folder) => folder !== undefined && !folder.split('/').includes('..'))
    .map((folder) => join(home, folder ?? ''))
}

/** The folders above can be walked through; what is in them is not opened by that. */
async function openWay(home: string, folder: string): Promise<void> {
  for (let above = dirname(folder); above.startsWith(`${home}/`); above = dirname(above)) {
    const { mode } = await lstat(above)
    if ((mode & 0o001) === 0) await chmod(above, (mode & 0o7777) | 0o001)
  }
}

/** Gives a folder and everything in it that the developer owns to the shared group, with writing. */
async function share(path: string, owner: number): Promise<void> {
  const found = await lstat(path).catch(() => null)
  if (!found || found.isSymbolicLink()) return
  if (found.uid === owner) await openToGroup(path, owner, found)
  if (!found.isDirectory()) return
  // A folder that the reader has just made, and still keeps to itself, needs no opening for the reader.
  for (const name of await readdir(path).catch(() => [])) await share(join(path, name), owner)
}

async function openToGroup(
  path: string,
  owner: number,
  found: { mode: number; gid: number; isDirectory(): boolean },
): Promise<void> {
  const executable = found.isDirectory() ? 0o2010 : (found.mode & 0o100) >> 3
  const mode = (found.mode & 0o7777) | 0o060 | executable
  try {
    if (found.gid !== readerId) await chown(path, owner, readerId)
    if ((found.mode & 0o7777) !== mode) await chmod(path, mode)
  } catch {
    // Gone meanwhile, or on a file system without owners: the reader is refused there.
  }
}

/** Single files that are allowed wherever they are, such as logs. New ones need an allowed folder. */
async function shareFiles(home: string, rules: ReadOnlyRules, owner: number): Promise<void> {
  const patterns = rules.allowed.filter((pattern) => !pattern.endsWith('/**'))
  let left = mostEntries
  const walk = async (folder: string) => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      left -= 1
      if (left < 0) return
      const path = join(folder, entry.name)
      if (entry.isDirectory() && !passedOver.has(entry.name)) await walk(path)
      else if (entry.isFile()) await shareIfAllowed(path)
    }
  }
  const shareIfAllowed = async (path: string) => {
    const inside = relative(home, path)
    if (!patterns.some((pattern) => matches(pattern, inside))) return
    const found = await lstat(path).catch(() => null)
    if (found?.isFile() && found.uid === owner) await openToGroup(path, owner, found)
  }
  await walk(home)
  for (const pattern of patterns.filter((pattern) => pattern.startsWith('.roost/'))) {
    if (!/[*?[]/.test(pattern)) await shareIfAllowed(join(home, pattern))
  }
}

/** Only an owner changes the mode of a file: the reader does it for its own. */
function runAs(identities: Identities, folders: string[]): Promise<void> {
  if (folders.length === 0) return Promise.resolve()
  const script = `find "$@" -user ${readerId} \\( -type d ! -perm -2070 -exec chmod g+rwxs {} + \\) -o -user ${readerId} \\( -type f ! -perm -0060 -exec chmod g+rwX {} + \\)`
  const { command, args } = identities.as('reader', '/bin/sh', ['-c', script, 'sh', ...folders])
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' }, timeout: 30_000 })
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}
