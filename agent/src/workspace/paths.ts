import { readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, normalize } from 'node:path'
import { LinkFault } from '../link/link.ts'

/**
 * Resolves paths of file requests: absolute and inside the workspace, with links followed only inside it. The
 * platform decides which paths are protected; leaving the workspace is refused here.
 */
export type Paths = {
  /** Returns the real path of an existing file or folder. */
  existing(path: string): Promise<string>
  /** Returns the real path of a file to write. Resolves its folder and follows a link in its place. */
  target(path: string): Promise<string>
  /** Returns the real path of an entry without following a link in its place, for deletion. */
  entry(path: string): Promise<string>
  isInside(realPath: string): boolean
  home: string
}

const maxPathLength = 4096
/** Longest chain of links, as in the kernel; longer ones are loops. */
const maxLinks = 40

export async function createPaths(home: string): Promise<Paths> {
  const root = await realpath(home)

  const isInside = (path: string) => path === root || path.startsWith(`${root}/`)

  function check(path: string): string {
    if (path.includes('\0') || path.length > maxPathLength)
      throw new LinkFault('invalid_message', 'The path is not valid.')
    if (!isAbsolute(path)) throw outside(path)
    const plain = normalize(path).replace(/(.)\/$/, '$1')
    if (plain !== home && !plain.startsWith(`${home}/`)) throw outside(path)
    return join(root, plain.slice(home.length))
  }

  async function existing(path: string): Promise<string> {
    const real = await realpath(check(path)).catch((error: NodeJS.ErrnoException) => {
      throw asFault(error, path)
    })
    if (!isInside(real)) throw outside(path)
    return real
  }

  /** Resolves the existing parents; missing ones are created below them. */
  async function resolveFolder(path: string): Promise<string> {
    const missing: string[] = []
    for (let folder = path; ; folder = dirname(folder)) {
      try {
        const real = join(await realpath(folder), ...missing)
        if (!isInside(real)) throw outside(path)
        return real
      } catch (error) {
        if (error instanceof LinkFault) throw error
        if (codeOf(error) !== 'ENOENT' || folder === dirname(folder)) throw asFault(error, path)
        // A dangling link is not a missing folder.
        if (await isLink(folder)) throw outside(path)
        missing.unshift(basename(folder))
      }
    }
  }

  async function target(path: string): Promise<string> {
    let current = check(path)
    for (let hop = 0; hop < maxLinks; hop += 1) {
      if (current === root) return root
      const place = join(await resolveFolder(dirname(current)), basename(current))
      if (!isInside(place)) throw outside(path)
      const link = await readlink(place).catch(() => null)
      if (link === null) return place
      current = normalize(isAbsolute(link) ? link : join(dirname(place), link))
    }
    throw outside(path)
  }

  async function entry(path: string): Promise<string> {
    const plain = check(path)
    if (plain === root) throw new LinkFault('protected_path', 'The workspace itself cannot be removed.')
    return join(await existing(join(home, dirname(plain).slice(root.length))), basename(plain))
  }

  return { existing, target, entry, isInside, home: root }
}

export function outside(path: string): LinkFault {
  return new LinkFault('protected_path', `${path} leaves the workspace.`)
}

/** Converts a file system error to a named error. */
export function asFault(error: unknown, path: string): LinkFault {
  if (error instanceof LinkFault) return error
  switch (codeOf(error)) {
    case 'ENOENT':
      return new LinkFault('file_not_found', `${path} does not exist.`)
    case 'ENOTDIR':
      return new LinkFault('not_a_directory', `${path} is not a directory.`)
    case 'EISDIR':
      return new LinkFault('not_a_file', `${path} is a directory.`)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ELOOP':
      return new LinkFault('protected_path', `${path} is not accessible.`)
    case 'ENOSPC':
    case 'EDQUOT':
      return new LinkFault('io_error', 'The workspace is full.')
    case 'ENAMETOOLONG':
      return new LinkFault('invalid_message', 'The path is too long.')
    default:
      return new LinkFault('io_error', `${path} could not be used (${codeOf(error) ?? 'unknown fault'}).`)
  }
}

export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

async function isLink(path: string): Promise<boolean> {
  try {
    await readlink(path)
    return true
  } catch {
    return false
  }
}

/** True for a folder or a link to one. */
export async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
