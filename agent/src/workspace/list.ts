import { lstat, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isClosed } from '@roost/contracts/link/credentials'
import type { FileList, FileListAnswer, FileNode } from '@roost/contracts/link/files'
import { LinkFault } from '../link/link.ts'
import { asFault, isDirectory, type Paths } from './paths.ts'
import { refuseReading } from './protected.ts'

const maxEntries = 5000
const maxDepth = 10

/**
 * Lists the tree below a folder, folders first, with at most `limit` entries and `depth` levels. Does not
 * follow links and omits the platform's files.
 */
export async function listFiles(paths: Paths, request: Omit<FileList, 't'>): Promise<FileListAnswer> {
  const root = await paths.existing(request.path)
  refuseReading(paths, root, request)
  if (!(await isDirectory(root)))
    throw new LinkFault('not_a_directory', `${request.path} is not a directory.`)
  const limit = Math.min(Math.max(1, request.limit), maxEntries)
  let left = limit
  let isTruncated = false
  let files = 0

  async function entriesOf(folder: string) {
    const found = await readdir(folder, { withFileTypes: true })
    return found
      .filter(({ name }) => request.show_hidden || !name.startsWith('.'))
      .filter(({ name }) => !isClosed(relative(paths.home, join(folder, name))))
      .sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1))
  }

  async function walk(folder: string, shown: string, depth: number): Promise<FileNode[]> {
    const nodes: FileNode[] = []
    for (const entry of await entriesOf(folder)) {
      if (left === 0) {
        isTruncated = true
        break
      }
      left -= 1
      const path = join(folder, entry.name)
      const node = await describe(path, `${shown}/${entry.name}`, entry.name)
      if (!node) continue
      nodes.push(node)
      if (node.type === 'file') files += 1
      else if (depth > 1) {
        node.children = await walk(path, node.path, depth - 1).catch(() => [])
        node.file_count = node.children.length
      } else
        node.file_count = await entriesOf(path).then(
          ({ length }) => length,
          () => 0,
        )
    }
    return nodes
  }

  try {
    const shown = request.path.replace(/(.)\/+$/, '$1')
    const tree = await walk(root, shown, Math.min(Math.max(1, request.depth), maxDepth))
    return { tree, total_files: files, truncated: isTruncated }
  } catch (error) {
    throw asFault(error, request.path)
  }
}

/** Returns null when the entry was deleted meanwhile. */
async function describe(path: string, shown: string, name: string): Promise<FileNode | null> {
  const found = await lstat(path).catch(() => null)
  if (!found) return null
  const modified = found.mtime.toISOString()
  if (found.isDirectory()) return { name, path: shown, type: 'directory', modified }
  return { name, path: shown, type: 'file', size: found.size, modified }
}
