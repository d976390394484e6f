import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { chmod, chown, type FileHandle, lstat, mkdir, open, readdir } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { LinkFault } from '../link/link.ts'
import { type Identities, openGroup, readerId } from '../processes/identity.ts'
import type { ReadOnlyRules } from '../runtimes/port.ts'
import { matches } from '../runtimes/read-only.ts'
import { inFolder, openChild, openEntry, openFolder } from './open-folder.ts'
import { codeOf, createPaths } from './paths.ts'

/**
 * Manages what the reader of read-only turns may write: allowed folders, the runtime's state and the
 * temporary folder. Access is granted through a group that the developer belongs to as well. All other files
 * stay unchanged and private to the developer.
 */
export type Permissions = {
  /** Called before a reader's turn. Cheap when nothing was written since the last one. */
  openForReader(rules: ReadOnlyRules): Promise<void>
  /** Called after a developer's turn, which may have created files that the reader cannot write. */
  noteDeveloperTurn(): void
  /** Called after the process of a reader's turn has ended, to make its files writable for the developer. */
  openForDeveloper(): Promise<void>
  /** Called before a developer's turn: the process of a reader may outlive its turn. Cheap without a reader. */
  beforeDeveloper(): Promise<void>
}

/** Limit for files matched by pattern; a workspace may hold a million files. */
const maxEntries = 50_000
const skippedFolders = new Set(['.git', 'node_modules', '.roost', 'shared-in'])

export function createPermissions(home: string, state: string, identities: Identities): Permissions {
  let appliedRules: string | null = null
  let closedRules: string | null = null
  let folders: string[] = []
  let hasReader = false
  let opening = Promise.resolve()

  return {
    async openForReader(rules) {
      hasReader = true
      const requested = JSON.stringify(rules)
      if (appliedRules === requested) return
      const root = await lstat(home)
      if ((root.mode & 0o005) !== 0o005) await chmod(home, (root.mode & 0o7777) | 0o005)
      const allowed = [join(home, '.tmp'), ...allowedFolders(home, rules)]
      folders = [state, ...allowed]
      await mkdir(state, { recursive: true })
      await using opened = await openChild(state)
      await share(opened, { uid: root.uid, gid: readerId })
      for (const folder of allowed) await openAllowed(home, folder, { uid: root.uid, gid: openGroup })
      if (closedRules !== requested) await closeRest(home, rules, { root, folders: allowed })
      closedRules = requested
      await shareFiles(home, rules, root.uid)
      appliedRules = requested
    },
    noteDeveloperTurn() {
      appliedRules = null
    },
    openForDeveloper() {
      hasReader = false
      opening = runAs(identities, folders)
      return opening
    },
    async beforeDeveloper() {
      await (hasReader ? runAs(identities, folders) : opening)
    },
  }
}

/** `content/**` allows a folder; patterns with an earlier glob allow only existing files. */
export function allowedFolders(home: string, rules: ReadOnlyRules): string[] {
  return rules.allowed
    .map((pattern) => /^\/?([^*?[\]]+)\/\*\*$/.exec(pattern)?.[1])
    .filter((folder) => folder !== undefined && !folder.split('/').includes('..'))
    .map((folder) => join(home, folder ?? ''))
}

/** Creates and shares a folder of the workspace. A link in its place stays as it is. */
async function openAllowed(home: string, folder: string, owner: Owner): Promise<void> {
  try {
    const paths = await createPaths(home)
    const real = join(await paths.target(dirname(folder)), basename(folder))
    await using opened = await openFolder(paths.home, real, 0o777)
    await makeTraversable(paths.home, real)
    await share(opened, owner)
  } catch (error) {
    if (!(error instanceof LinkFault) && codeOf(error) !== 'ENOTDIR') throw error
  }
}

/** Makes the parents traversable, without giving access to their contents. */
async function makeTraversable(home: string, folder: string): Promise<void> {
  for (let above = dirname(folder); above.startsWith(`${home}/`); above = dirname(above)) {
    await using opened = await openFolder(home, above)
    const { mode } = await opened.stat()
    if ((mode & 0o001) === 0) await chmod(inFolder(opened), (mode & 0o7777) | 0o001)
  }
}

/** Shares the developer's files in an opened entry with the group, including write access. */
async function share(entry: FileHandle, owner: Owner): Promise<void> {
  const found = await entry.stat()
  if (found.isSymbolicLink()) return
  if (found.uid === owner.uid) await openToGroup(entry, owner, found)
  if (!found.isDirectory()) return
  // A private folder that the reader just created needs no sharing.
  for (const name of await readdir(inFolder(entry)).catch(() => [])) {
    await using child = await openEntry(inFolder(entry, name)).catch(() => null)
    if (child) await share(child, owner)
  }
}

/** Through the opened entry: its path could lead out of the workspace at any moment. */
async function openToGroup(
  entry: FileHandle,
  { uid, gid }: Owner,
  found: { mode: number; gid: number; isDirectory(): boolean },
): Promise<void> {
  const executable = found.isDirectory() ? 0o2010 : (found.mode & 0o100) >> 3
  const mode = (found.mode & 0o7777) | 0o060 | executable
  try {
    if (found.gid !== gid) await chown(inFolder(entry), uid, gid)
    if ((found.mode & 0o7777) !== mode) await chmod(inFolder(entry), mode)
  } catch {
    // The file was deleted, or the file system has no owners; the reader is then refused.
  }
}

type Owner = { uid: number; gid: number }
type Entry = { uid: number; gid: number; dev: number }

/**
 * Takes back what earlier rules allowed: entries of the readers' groups and of the reader outside of today's
 * folders become the developer's again. Runs once after each change of the rules.
 */
async function closeRest(
  home: string,
  rules: ReadOnlyRules,
  { root, folders }: { root: Entry; folders: string[] },
): Promise<void> {
  const patterns = rules.allowed.filter((pattern) => !pattern.endsWith('/**'))
  let left = maxEntries
  const walk = async (folder: string) => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      left -= 1
      const path = join(folder, entry.name)
      if (left < 0 || folders.includes(path) || skippedFolders.has(entry.name)) continue
      if (!patterns.some((pattern) => matches(pattern, relative(home, path)))) await takeBack(path, root)
      if (entry.isDirectory()) await walk(path)
    }
  }
  await walk(home)
}

/** Through a descriptor, because the path could lead out of the workspace at any moment. */
async function takeBack(path: string, root: Entry): Promise<void> {
  const found = await lstat(path).catch(() => null)
  if (!found || found.isSymbolicLink() || !isReaders(found)) return
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch(() => null)
  try {
    const opened = await file?.stat()
    if (opened && opened.dev === root.dev && isReaders(opened)) await file?.chown(root.uid, root.gid)
  } catch {
    // Without the right to change owners there is no reader either.
  } finally {
    await file?.close()
  }
}

const isReaders = ({ uid, gid }: Pick<Entry, 'uid' | 'gid'>) =>
  uid === readerId || gid === readerId || gid === openGroup

/** Shares existing files that match a pattern, such as logs. New files need an allowed folder. */
async function shareFiles(home: string, rules: ReadOnlyRules, owner: number): Promise<void> {
  const patterns = rules.allowed.filter((pattern) => !pattern.endsWith('/**'))
  let left = maxEntries
  const walk = async (folder: string) => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      left -= 1
      if (left < 0) return
      const path = join(folder, entry.name)
      if (entry.isDirectory() && !skippedFolders.has(entry.name)) await walk(path)
      else if (entry.isFile()) await shareIfAllowed(path)
    }
  }
  const shareIfAllowed = async (path: string) => {
    const inside = relative(home, path)
    if (!patterns.some((pattern) => matches(pattern, inside))) return
    await using parent = await openFolder(home, dirname(path)).catch(() => null)
    if (!parent) return
    await using file = await openEntry(inFolder(parent, basename(path))).catch(() => null)
    const found = await file?.stat()
    if (file && found?.isFile() && found.uid === owner)
      await openToGroup(file, { uid: owner, gid: openGroup }, found)
  }
  await walk(home)
  for (const pattern of patterns.filter((pattern) => pattern.startsWith('.roost/'))) {
    if (!/[*?[]/.test(pattern)) await shareIfAllowed(join(home, pattern))
  }
}

/** Only a file's owner can change its mode, so the reader's own files are changed as the reader. */
function runAs(identities: Identities, folders: string[]): Promise<void> {
  if (folders.length === 0) return Promise.resolve()
  const script = `find "$@" -user ${readerId} \\( -type d ! -perm -2070 -exec chmod g+rwxs {} + \\) -o -user ${readerId} \\( -type f ! -perm -0060 -exec chmod g+rwX {} + \\)`
  const { command, args, options } = identities.as(identities.reader, '/bin/sh', [
    '-c',
    script,
    'sh',
    ...folders,
  ])
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...options,
      stdio: 'ignore',
      env: { PATH: '/usr/bin:/bin' },
      timeout: 30_000,
    })
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}
