import { constants } from 'node:fs'
import { lstat, open, opendir } from 'node:fs/promises'
import { isPortable } from '@roost/contracts/link/credentials'
import { inodeOf } from '../workspace/protected.ts'

type WalkOptions = {
  home: string
  withCredentials: boolean
  /** Inodes of withheld files: a hard link has another name, but the same content. */
  withheld: ReadonlySet<string>
}

/** Bytes of a name as characters, so that names that are not UTF-8 survive. */
const encoding = 'latin1'
const maxConfigBytes = 1024 * 1024
/** An address with a user name or token, or a header with one. */
const gitSecret = /:\/\/[^/\s]*@|extraheader/i

/**
 * Yields the paths of the workspace that belong into an export, each folder before its content. Omits sockets, pipes and
 * devices. Keeps only the names of pending folders in memory.
 */
export async function* walkWorkspace(home: string, withCredentials: boolean): AsyncGenerator<string> {
  const withheld = withCredentials ? new Set<string>() : await withheldInodes(home)
  yield* portablePaths({ home, withCredentials, withheld })
}

/** Inodes with several names of which one is withheld. */
async function withheldInodes(home: string): Promise<Set<string>> {
  const found = new Set<string>()
  const pending = [{ folder: '', isWithheld: false }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const opened = await opendir(pathOf(home, next.folder), { encoding }).catch(() => null)
    if (!opened) continue
    for await (const entry of opened) {
      const path = next.folder === '' ? entry.name : `${next.folder}/${entry.name}`
      const isWithheld = next.isWithheld || !isPortable(path, false)
      if (entry.isDirectory()) pending.push({ folder: path, isWithheld })
      if (!isWithheld || !entry.isFile()) continue
      const file = await lstat(pathOf(home, path)).catch(() => null)
      if (file && file.nlink > 1) found.add(inodeOf(file))
    }
  }
  return found
}

async function* portablePaths(options: WalkOptions): AsyncGenerator<string> {
  const { home, withCredentials } = options
  for (const path of ['.roost/pre-check', '.roost/setup.sh']) if (await isFile(options, path)) yield path
  const pending = ['']
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const opened = await opendir(pathOf(home, folder), { encoding }).catch(() => null)
    if (!opened) continue
    for await (const entry of opened) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (!isPortable(path, withCredentials)) continue
      if (entry.isDirectory()) {
        pending.push(path)
        yield path
      } else if (entry.isSymbolicLink() || (entry.isFile() && (await isFile(options, path)))) {
        yield path
      }
    }
  }
}

async function isFile(options: WalkOptions, path: string): Promise<boolean> {
  const { home, withCredentials, withheld } = options
  const found = await lstat(pathOf(home, path)).catch(() => null)
  if (!found?.isFile()) return false
  if (withCredentials) return true
  if (withheld.has(inodeOf(found))) return false
  return !/(^|\/)\.git\/config(\.worktree)?$/.test(path) || !(await hasGitSecret(home, path, found.size))
}

/** An unreadable file is left out by tar as well. A pipe, which must not block, may have replaced the file by now. */
async function hasGitSecret(home: string, path: string, size: number): Promise<boolean> {
  if (size > maxConfigBytes) return true
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  await using file = await open(pathOf(home, path), flags).catch(() => null)
  if (!file) return false
  if (!(await file.stat()).isFile()) return true
  return gitSecret.test(await file.readFile(encoding))
}

function pathOf(home: string, inside: string): Buffer {
  return Buffer.concat([Buffer.from(`${home}/`), Buffer.from(inside, encoding)])
}
